"""Recipes, records and populations on which every procedure is tried; run as a script, a training that is to be killed.

The script makes one model of a population in a store, says "here" before one of its steps, and waits to be killed.
"""

import sys
import time
from pathlib import Path

import torch
from tiny_records import SMALL, blobs
from torch import nn

from reticent.data.membership import Membership
from reticent.data.roles import Roles
from reticent.population.population import Population
from reticent.population.worker import Maker
from reticent.procedures import PROCEDURES
from reticent.store import Store

OPTIONS = {
    "cwrf": {"rate": 0.1, "scoring_steps": 3, "tuning_epochs": 6},
    "dpsgd": {"noise": 0.5},
    "function": {"function": "procedure_cases:fitted"},
    "imp": {"rounds": 1},
    "mist": {"parts": 2, "local_epochs": 2, "cross_epochs": 1},
    "pptp": {"stage": 2, "tuning_epochs": 6},
    "prune": {"rounds": 2, "tuning_epochs": 3},
    "selena": {"models": 4, "outside": 2},
}
"""Options that make a procedure small."""


def using(name, recipe=SMALL, **options):
    return recipe.replace(procedure=PROCEDURES[name].spec(**(OPTIONS.get(name, {}) | options)))


def fitted(x, y, seed):
    """Train a network as a user would: whatever the records are."""
    assert 0 <= seed < 2**31
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    classes = int(y.max()) + 1
    if x.dtype == torch.int64:
        model = nn.Sequential(
            nn.Embedding(int(x.max()) + 1, 4), nn.Flatten(), nn.Linear(4 * x.shape[1], max(2, classes))
        )
    elif x.dim() == 4:
        model = nn.Sequential(nn.Conv2d(x.shape[1], 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.LazyLinear(classes))
    else:
        model = nn.Sequential(nn.Linear(x.shape[1], 16), nn.ReLU(), nn.Linear(16, 3 if classes == 1 else classes))
    for _ in range(60):
        gradients = torch.autograd.grad(nn.functional.cross_entropy(model(x), y), list(model.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                parameter -= 0.3 * gradient
    return model


def maker(name, store):
    """Gather what makes models of a small population by one procedure."""
    records = blobs()
    roles = Roles.split(records, 0, validation=20, reference=20)
    recipe = using(name)
    resolve = getattr(recipe.procedure, "resolve", None)
    recipe = recipe.replace(procedure=resolve()) if resolve else recipe
    return Maker(Population(recipe, records, roles, Membership.draw(4, len(roles.audited), 0), 0), store, "cpu")


class Steps:
    """Counts gradients, of every kind, from now until the block ends, and calls something before one of them."""

    def __init__(self, before=None, call=None):
        self.count, self._before, self._call = 0, before, call

    def __enter__(self):
        self._whole = (torch.Tensor.backward, torch.autograd.grad)
        torch.Tensor.backward, torch.autograd.grad = map(self._counted, self._whole)
        return self

    def __exit__(self, *_):
        torch.Tensor.backward, torch.autograd.grad = self._whole

    def _counted(self, function):
        def counted(*args, **options):
            if self.count == self._before:
                self._call()
            self.count += 1
            return function(*args, **options)

        return counted


def _wait():
    print("here", flush=True)
    time.sleep(120)


if __name__ == "__main__":
    name, folder, step = sys.argv[1:]
    with Steps(int(step), _wait):
        maker(name, Store(Path(folder)).open()).make(0)
