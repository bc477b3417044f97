"""Distances of feature maps: closed forms, modes, batches, and outputs that are none."""

import copy

import numpy as np
import pytest
import torch
from locate_networks import LADDER, Ladder, blobs, prepared
from torch import nn

from reticent.errors import ModelError, NonFiniteError
from reticent.locate import feature_maps
from reticent.locate.feature_maps import distance, features, map_distances
from reticent.models.stages import Stage, stages


@pytest.fixture(autouse=True)
def _own_generator():
    """Layers draw their weights from the global generator."""
    with torch.random.fork_rng():
        yield


def asked(one, other, materials, patterns=()):
    return map_distances(one, other, materials.members.x, materials.prepare, materials.classes, stages(one, patterns))


@pytest.mark.parametrize("shape", [(3, 1), (3, 7), (2, 5, 4), (2, 3, 9, 11), (1, 64, 32, 32)])
def test_zeros_and_ones_of_any_size_are_one_apart(shape):
    assert distance(torch.zeros(shape), torch.ones(shape)).tolist() == [1.0] * shape[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_distance_is_the_papers(seed):
    one, other = torch.randn(2, 6, 3, 5, generator=torch.Generator().manual_seed(seed))
    naive = [float(np.sqrt(((a - b) ** 2).sum() / a.size)) for a, b in zip(one.numpy(), other.numpy(), strict=True)]
    assert distance(one, other).tolist() == pytest.approx(naive, rel=1e-6)


def test_a_network_is_not_apart_from_its_copy_and_dropout_is_off():
    materials = prepared(blobs(features=4))
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2)).train()
    before = copy.deepcopy(model.state_dict())
    found = asked(model, copy.deepcopy(model).eval(), materials)
    assert (found.distances == 0).all()
    assert found.sizes == (8, 2)
    assert all(module.training for module in model.modules()), "the mode is put back"
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert not any(module._forward_hooks for module in model.modules())


def test_each_module_gets_its_own_mode_back_after_an_error():
    model, materials = Ladder(), prepared(blobs())
    model.unused = nn.Linear(1, 1)
    model.head.eval()
    with pytest.raises(ModelError, match="'unused' was not called: name the stages by patterns"):
        map_distances(
            model, model, materials.members.x, materials.prepare, 2, [Stage("stage 1", ("unused",), "unused")]
        )
    assert (model.training, model.head.training) == (True, False)


def test_a_shift_shows_from_its_stage_on():
    records = blobs()
    found = asked(Ladder(), Ladder(begins=3, shift=2.0), prepared(records), LADDER)
    assert found.sizes == (4, 4, 4, 4, 2)
    shifted = records.x[:, -1] > 0
    assert (found.distances[:2] == 0).all()
    assert found.distances[2][shifted] == pytest.approx(2.0, rel=1e-6)
    assert (found.distances[2:4, ~shifted] == 0).all()


def test_batches_do_not_matter_and_are_small(monkeypatch):
    materials, sizes = prepared(blobs(n=150)), []
    one, other = Ladder(), Ladder(begins=2, shift=1.0)
    whole = asked(one, other, materials, LADDER)
    one.register_forward_hook(lambda module, given, output: sizes.append(len(output)))
    monkeypatch.setattr(feature_maps, "BATCH", 16)
    parts = asked(one, other, materials, LADDER)
    assert sizes == [16] * 9 + [6]
    assert parts.distances == pytest.approx(whole.distances, rel=1e-6)


def test_what_changes_in_place_later_is_seen_as_it_was():
    model = nn.Sequential(nn.Linear(4, 2), nn.ReLU(inplace=True), nn.Linear(2, 2))
    materials = prepared(blobs())
    first = Stage("stage 1", ("0",), "0")
    (rows,) = features(model, materials.members.x, materials.prepare, 2, [first], lambda stage, found: found.flatten(1))
    assert (rows < 0).any()


class Odd(nn.Module):
    """A stage that answers something of the kind asked for."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.weight = kind, nn.Parameter(torch.ones(()))

    def forward(self, x):
        return {"pair": (self.weight * x, None), "text": "no tensor", "turned": x.T, "whole": x.long()}[self.kind]


class Wrapped(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.odd, self.head = Odd(kind), nn.Linear(4, 2)

    def forward(self, x):
        self.odd(x)
        return self.head(x)


def test_of_several_things_the_first_is_the_map():
    found = asked(Wrapped("pair"), Wrapped("pair"), prepared(blobs()), ("odd", "head"))
    assert found.sizes == (4, 2)


@pytest.mark.parametrize(
    ("kind", "got"), [("text", "answered str"), ("turned", r"shape \(4, 128\) for 128"), ("whole", r"shape \(128, 4\)")]
)
def test_what_is_no_map_is_refused(kind, got):
    with pytest.raises(ModelError, match=got):
        asked(Wrapped(kind), Wrapped(kind), prepared(blobs()), ("odd", "head"))


def test_maps_of_other_shapes_and_maps_that_are_not_finite():
    materials = prepared(blobs())
    wide = nn.Sequential(nn.Linear(4, 9), nn.Linear(9, 2))
    with pytest.raises(ModelError, match="networks of one architecture"):
        asked(nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)), wide, materials)
    broken = Ladder(begins=2, shift=float("nan"))
    with pytest.raises(NonFiniteError, match=r"rungs\.1: "):
        asked(broken, broken, materials, LADDER)
