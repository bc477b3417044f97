"""Networks and records whose stages behave in known ways."""

import numpy as np
import torch
from torch import nn

from reticent.data.records import Records
from reticent.objectives.base import Examples
from reticent.training.data import Preparation
from reticent.training.materials import Materials


class Ladder(nn.Module):
    """Four stages that pass the features on, each with one weight, and a head that answers the first two features.

    Records with a last feature above 0 are shifted by ``shift`` in stage ``begins`` and, since it is passed on, in all
    later ones.
    """

    def __init__(self, begins=0, shift=0.0):
        super().__init__()
        self.rungs = nn.Sequential(*(Rung(shift if number == begins else 0.0) for number in range(1, 5)))
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.rungs(x))


class Rung(nn.Module):
    def __init__(self, shift):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(())), shift

    def forward(self, x):
        return self.scale * x + self.shift * (x[:, -1:] > 0)


LADDER = ("rungs.0", "rungs.1", "rungs.2", "rungs.3", "head")


def blobs(n=200, classes=2, features=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    x = rng.normal(size=(n, features)).astype(np.float32)
    x[:, :classes] += np.eye(classes, dtype=np.float32)[y]
    return Records.make(x, y)


def prepared(records, members=None):
    prepare = Preparation(records, torch.device("cpu"))
    take = lambda ids: prepare.examples(records, np.asarray(ids, dtype=np.int64))  # noqa: E731
    chosen = range(len(records)) if members is None else members
    return Materials(take(chosen), take(()), take(()), prepare, records.classes)


def part_of(examples, chosen):
    kept = torch.as_tensor(chosen)
    return Examples(examples.x[kept], examples.y[kept])
