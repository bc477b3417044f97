"""A model beside a population reads as the row that it would be if all were one array."""

import numpy as np
import pytest

from reticent.attacks import score
from reticent.attacks.base import Problem
from reticent.auditing.roc import auc
from reticent.errors import ShapeError
from reticent.signals.composed import appended
from reticent.signals.matrix import Signals


def both(seed=0, models=6, records=40, classes=3):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(models + 1, records, classes)).astype(np.float32)
    labels = rng.integers(0, classes, records)
    whole = Signals.from_logits(logits, labels)
    base = Signals.from_logits(logits[:-1], labels)
    return whole, appended(base, whole.margins[-1], whole.logits[-1])


@pytest.mark.parametrize("rows", [slice(None), slice(2, 7), 6, 0, -1, [6, 1], np.array([3, 6, 6]), [2]])
def test_every_read_is_that_of_one_array(rows):
    whole, joined = both()
    block = slice(5, 20)
    assert joined.models == 7
    assert np.array_equal(joined.margins[rows, block], whole.margins[rows, block])
    assert np.array_equal(joined.logits[rows, block], whole.logits[rows, block])


@pytest.mark.parametrize("attack", ["lira", "rmia", "loss", "confidence", "correctness"])
def test_attacks_score_the_model_as_they_would_in_one_array(attack):
    whole, joined = both(models=8)
    rng = np.random.default_rng(1)
    membership = rng.permuted(np.tile([True, False], (40, 4)), axis=1).T
    row = rng.random(40) < 0.7
    problems = [Problem.make(s, np.vstack([membership, row]), [8], np.arange(8)) for s in (whole, joined)]
    one, two = (score(attack, problem, 0) for problem in problems)
    assert np.array_equal(one, two)


def test_other_records_are_refused():
    whole, _ = both()
    with pytest.raises(ShapeError, match="margins: expected shape"):
        appended(whole, whole.margins[0][:5], None)
    with pytest.raises(ShapeError, match="logits: expected shape"):
        appended(whole, whole.margins[0], whole.logits[0][:, :2])


@pytest.mark.parametrize("attack", ["lira", "rmia"])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_target_outside_of_its_references_gives_nothing_away_by_its_members_share(attack, share):
    # Margins are skewed and depend on the record alone: whatever the share of members is, there is nothing to find.
    rng = np.random.default_rng(int(10 * share))
    areas = []
    for _ in range(12):
        margins = rng.exponential(size=(7, 500)) + rng.normal(size=500)
        membership = rng.permuted(np.tile([True, False], (500, 3)), axis=1).T
        row = rng.random(500) < share
        signals = Signals.from_margins(margins, np.arange(500) % 4)
        problem = Problem.make(signals, np.vstack([membership, row]), [6], np.arange(6))
        areas.append(float(auc(score(attack, problem, 0), row[None])[0]))
    error = (1 / (12 * 500 * share * (1 - share) * 12)) ** 0.5
    assert abs(np.mean(areas) - 0.5) < 3.5 * error
