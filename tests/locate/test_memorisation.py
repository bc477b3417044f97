"""The memorisation score: Feldman's estimator on tables, its standard errors, members that must be known by heart."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from reticent.data.records import Records
from reticent.errors import SpecError, TrainingDivergedError
from reticent.locate.memorisation import drawn, estimate, memorisation
from reticent.models.mlp import MLP
from reticent.training.data import Preparation
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

RECIPE = Recipe(architecture=MLP(widths=(128,)), epochs=60, batch_size=16, learning_rate=0.01)


def column(inside, outside):
    """One record: what models say that it trained, and that it did not."""
    right = torch.tensor([*inside, *outside], dtype=torch.float64)[:, None]
    return estimate(right, torch.tensor([True] * len(inside) + [False] * len(outside))[:, None])


def test_the_tables_of_the_paper():
    """algorithms.md 6.4.1: IN (1, 1, 1, 0), OUT (0, 1, 0, 0) is .75 - .25; always right is 0; never OUT is NaN."""
    assert column([1, 1, 1, 0], [0, 1, 0, 0]).scores.tolist() == [0.5]
    assert column([1, 1], [1, 1, 1]).scores.tolist() == [0.0]
    for one in (column([1, 0, 1], []), column([], [1, 0])):
        assert one.scores.isnan().all()
        assert one.errors.isnan().all()


def test_the_standard_error_is_that_of_a_difference_of_means():
    inside, outside = [0.9, 0.4, 0.7, 0.8], [0.1, 0.5, 0.2]
    wanted = np.sqrt(np.var(inside, ddof=1) / 4 + np.var(outside, ddof=1) / 3)
    assert column(inside, outside).errors.item() == pytest.approx(wanted, rel=1e-12)
    assert column([0.9, 0.4], [0.1]).errors.isnan().all()


def test_records_do_not_touch_each_other():
    generator = torch.Generator().manual_seed(1)
    right, inside = torch.rand((6, 40), generator=generator), torch.rand((6, 40), generator=generator) < 0.6
    found = estimate(right, inside)
    assert found.scores.isnan().any()
    for record in range(40):
        alone = estimate(right[:, [record]], inside[:, [record]])
        assert torch.equal(alone.scores, found.scores[[record]]) or alone.scores.isnan().all()
        if not alone.scores.isnan().any():
            ins, outs = (right[chosen, record].double() for chosen in (inside[:, record], ~inside[:, record]))
            assert alone.scores.item() == pytest.approx((ins.mean() - outs.mean()).item(), abs=1e-12)


def test_every_member_is_left_out_equally_often_by_models_drawn_at_random():
    inside = drawn(2000, 10, 3, torch.Generator().manual_seed(0))
    assert (inside.sum(dim=0) == 7).all()
    assert abs(inside.sum(dim=1) - 1400).max() < 4.5 * (2000 * 0.3 * 0.7) ** 0.5
    together = (inside[0] & inside[1]).double().mean()
    assert together == pytest.approx(7 * 6 / 90, abs=0.05)
    with pytest.raises(SpecError, match=r"would train on [01] of 3 members.*make outside smaller"):
        drawn(3, 10, 9, torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def clusters():
    """Two clusters far apart; members 0 to 3 have the other one's label, so that only memory gives them theirs."""
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    x = rng.normal(size=(100, 30)).astype(np.float32) + 1.5 * (2 * y[:, None] - 1).astype(np.float32)
    y[:4] = 1 - y[:4]
    records = Records.make(x, y)
    prepare = Preparation(records, torch.device("cpu"))
    take = lambda a, b: prepare.examples(records, np.arange(a, b))  # noqa: E731
    return Materials(take(0, 60), take(60, 80), take(80, 100), prepare, 2)


def test_wrong_labels_are_what_is_memorised_and_the_members_alone_are_looked_at(clusters):
    found = memorisation(RECIPE, clusters, Streams(0, 0), 6, 2)
    assert sorted(found.scores.argsort(descending=True)[:4].tolist()) == [0, 1, 2, 3]
    assert (found.scores[:4] > 0.5).all()
    assert found.scores[4:].mean() < 0.1
    assert found.errors.isfinite().all()
    alone = replace(clusters, validation=clusters.members.take(torch.arange(0)), reference=clusters.members)
    assert torch.equal(memorisation(RECIPE, alone, Streams(0, 0), 6, 2).scores, found.scores)


def test_a_sub_model_that_answers_nan_is_refused(clusters, monkeypatch):
    monkeypatch.setattr("reticent.locate.memorisation.member_losses", lambda *_: torch.full((60,), torch.nan))
    with pytest.raises(TrainingDivergedError, match="memorisation: a sub-model answers with NaN"):
        memorisation(RECIPE.replace(epochs=1), clusters, Streams(0, 0), 4, 1)
