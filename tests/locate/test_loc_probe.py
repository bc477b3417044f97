"""The linear probe: what it can and cannot tell, its projection, its bounds, and that its streams alone decide."""

import numpy as np
import pytest
import torch
from locate_networks import blobs, part_of, prepared
from torch import nn

from reticent.data.records import Records
from reticent.locate import probe as probing
from reticent.locate.probe import Probe, pooled, probe
from reticent.models.stages import Stage
from reticent.training.streams import Streams


class Three(nn.Module):
    """A stage that spreads the features out, one that drops the label, one that answers it."""

    def __init__(self, width):
        super().__init__()
        self.spread, self.blind, self.head = nn.Linear(4, width), nn.Linear(4, 3), nn.Linear(4, 2)
        with torch.no_grad():
            self.blind.weight.zero_()

    def forward(self, x):
        self.spread(x), self.blind(x)
        return self.head(x)


STAGES = [Stage("stage 1", ("spread",), "spread"), Stage("stage 2", ("blind",), "blind"), Stage("head", (), "head")]


@pytest.fixture
def network():
    with torch.random.fork_rng():
        torch.manual_seed(1)
        yield Three(width=3000).eval()


def apart(n=400, gap=3.0):
    """Two classes, far apart in the first feature."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    x = rng.normal(size=(n, 4)).astype(np.float32)
    x[:, 0] += gap * (2 * y - 1)
    return Records.make(x, y)


def asked(network, records, options, streams=None, half=200):
    materials = prepared(records)
    chosen = np.arange(len(records)) < half
    training, test = (part_of(materials.members, side) for side in (chosen, ~chosen))
    return probe(network, STAGES, training, test, materials.prepare, 2, options, streams or Streams(0, 0))


@pytest.mark.parametrize("features", ["projected", "pooled"])
def test_it_reads_what_a_stage_holds_and_nothing_else(network, features):
    found = asked(network, apart(), Probe(features=features, width=64))
    assert found.correct.shape == (3, 200)
    shares = found.correct.mean(axis=1)
    assert shares[0] > 0.95
    assert shares[1] == 0.5
    assert found.settled == (True, True, True)


def test_small_maps_are_taken_as_they_are_and_large_ones_are_projected(network, monkeypatch):
    widths = []
    plain = probing._machine

    def noting(rows, *rest):
        widths.append(rows.shape)
        return plain(rows, *rest)

    monkeypatch.setattr(probing, "_machine", noting)
    asked(network, apart(), Probe(width=50, records=120))
    assert widths == [(120, 50), (120, 3), (120, 2)]


def test_the_projection_keeps_inner_products_on_average():
    one, other = torch.randn(2, 1, 500, generator=torch.Generator().manual_seed(0))
    found = []
    for seed in range(300):
        reduce = probing._Reduction(Probe(width=40), Streams(seed, 0))
        first, second = (reduce(STAGES[0], x) for x in (one, other))
        found.append([float((first * second).sum()), float((first * first).sum())])
    truth = [float((one * other).sum()), float((one * one).sum())]
    assert np.mean(found, axis=0) == pytest.approx(truth, abs=12), "standard error of the mean: about 4 and 8"


def test_the_same_projection_serves_all_records_of_a_stage():
    reduce = probing._Reduction(Probe(width=8), Streams(0, 0))
    x = torch.randn(6, 100, generator=torch.Generator().manual_seed(0))
    assert torch.equal(torch.cat([reduce(STAGES[0], x[:2]), reduce(STAGES[0], x[2:])]), reduce(STAGES[0], x))
    assert not torch.equal(reduce(STAGES[0], x), reduce(STAGES[1], x))


@pytest.mark.parametrize(("shape", "axes"), [((2, 3, 4, 5), (2, 3)), ((2, 7, 3), (1,)), ((2, 3), ())])
def test_pooling_is_the_mean_over_positions(shape, axes):
    maps = torch.arange(float(np.prod(shape))).reshape(shape)
    assert pooled(maps).numpy() == pytest.approx(maps.numpy().mean(axis=axes) if axes else maps.numpy())
    assert pooled(maps).shape == (2, 3)


def test_it_is_made_from_its_streams_alone(network):
    records = blobs(n=400)
    one, again, other = (asked(network, records, Probe(width=16, records=60), Streams(s, 0)) for s in (0, 0, 1))
    assert np.array_equal(one.correct, again.correct)
    assert not np.array_equal(one.correct, other.correct)


def test_a_solver_that_was_stopped_says_so(network, monkeypatch):
    monkeypatch.setattr(probing, "ROUNDS", 1)
    assert not all(asked(network, blobs(n=400), Probe(width=64, penalty=100.0)).settled)


def test_one_class_alone_is_answered(network):
    records = apart()
    order = np.argsort(records.y, kind="stable")
    found = asked(network, records.take(order), Probe(width=16))
    assert found.correct.mean() == 0.0, "trained on class 0 alone, tested on class 1 alone"
