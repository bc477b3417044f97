"""DP-SGD with entries that stay: their gradients are left out before norms are taken, as a naive twin does."""

from dataclasses import replace

import pytest
import torch
from random_records import images, noise
from torch import nn

from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.models.user import Factory
from reticent.procedures import dpsgd
from reticent.procedures.base import snapshot
from reticent.procedures.dpsgd import DPSGD
from reticent.procedures.dpsgd.gradients import Outer, Positions, Written
from reticent.training.data import Preparation
from reticent.training.materials import Materials, forward
from reticent.training.recipe import Recipe
from reticent.training.start import Start
from reticent.training.streams import Streams

STREAMS = Streams(0, 0)
NORM = 0.3


class Folded(nn.Module):
    """Asks one linear layer about three positions of a record."""

    def __init__(self):
        super().__init__()
        self.each, self.head = nn.Linear(2, 5), nn.Linear(5, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.each(x.view(-1, 3, 2))).sum(dim=1))


NETWORKS = {
    "linear": (MLP(widths=(8,)), noise),
    "positions": (Factory(factory="test_dpsgd_masks:Folded"), noise),
    "convolution": (CNN(widths=(4,)), images),
}


def one_step(name, masked):
    architecture, made = NETWORKS[name]
    records = made(12)
    prepare = Preparation(records, torch.device("cpu"))
    members = prepare.examples(records, torch.arange(12).numpy())
    none = prepare.examples(records, torch.arange(0).numpy())
    recipe = Recipe(
        architecture=architecture,
        procedure=DPSGD(noise=0.0, max_norm=NORM),
        optimizer="sgd",
        momentum=0.0,
        learning_rate=1.0,
        epochs=1,
        batch_size=12,
    )
    given = Materials(members, none, none, prepare, records.classes)
    model = dpsgd.network(recipe, given, STREAMS)
    state = snapshot(model)
    drawn = torch.Generator().manual_seed(3)
    masks = {n: torch.rand(p.shape, generator=drawn) > 0.5 for n, p in model.named_parameters()} if masked else {}
    made = dpsgd.train(recipe, replace(given, start=Start(state, masks)), STREAMS)
    return model, given, state, masks, made.model.state_dict()


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("masked", [False, True])
def test_one_step_is_that_of_clipping_each_masked_gradient(name, masked):
    model, given, state, masks, after = one_step(name, masked)
    model.load_state_dict(state)
    total = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
    norms = []
    for x, y in zip(given.members.x, given.members.y, strict=True):
        model.zero_grad()
        nn.functional.cross_entropy(forward(model, given.prepare(x[None]), given.classes), y[None]).backward()
        own = {n: p.grad * masks.get(n, torch.ones_like(p)) for n, p in model.named_parameters()}
        norm = torch.sqrt(sum(g.square().sum() for g in own.values()))
        norms.append(float(norm))
        for key, gradient in own.items():
            total[key] += gradient * min(1.0, NORM / (float(norm) + 1e-6))
    assert max(norms) > NORM
    for key, gradient in total.items():
        torch.testing.assert_close(after[key], state[key] - gradient / 12, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("size", [(4, 3, 2, 5), (4, 2, 9, 8), (3, 7, 3, 2)])
@pytest.mark.parametrize("masked", [False, True])
def test_norms_and_sums_over_positions_are_those_of_written_gradients(size, masked, monkeypatch):
    records, positions, width, out = size
    drawn = torch.Generator().manual_seed(1)
    back = torch.randn(records, positions, out, generator=drawn)
    given = torch.randn(records, positions, width, generator=drawn)
    factors = torch.rand(records, generator=drawn)
    written, part = Written(torch.einsum("bto,bti->boi", back, given)), Positions(back, given)
    if masked:
        trains = torch.rand(out, width, generator=drawn) > 0.4
        written, part = written.masked(trains), part.masked(trains)
    for room in (2**27, 1):
        monkeypatch.setattr("reticent.procedures.dpsgd.gradients.AT_ONCE", room)
        torch.testing.assert_close(part.squares(), written.squares())
    torch.testing.assert_close(part.weighted(factors), written.weighted(factors))


def test_the_masked_norm_of_an_outer_product_is_that_of_the_written_one():
    drawn = torch.Generator().manual_seed(2)
    back, given = torch.randn(5, 4, generator=drawn), torch.randn(5, 6, generator=drawn)
    trains = torch.rand(4, 6, generator=drawn) > 0.5
    part, written = Outer(back, given).masked(trains), Written(torch.einsum("bo,bi->boi", back, given)).masked(trains)
    factors = torch.rand(5, generator=drawn)
    torch.testing.assert_close(part.squares(), written.squares())
    torch.testing.assert_close(part.weighted(factors), written.weighted(factors))
    assert not part.weighted(factors)[~trains].any()
