"""PMIA: the worked example, plain loops by class and over all, and the label as all that ties records together."""

import numpy as np
import pytest
from attack_cases import auc, problem, used

from reticent.attacks import Problem, score
from reticent.attacks.pmia import FEW
from reticent.data.membership import Membership
from reticent.signals.matrix import Signals


@pytest.mark.parametrize("references", [8, 40])
def test_worked_example(references):
    """OUT N(0, 1) and IN N(2, 0.5 squared): by class, and with 8 references over all records since these are few."""
    first, low = np.arange(references) < references // 2, np.arange(references) % 2 == 0
    inside = np.stack([first, ~first], axis=1)
    margins = np.where(inside, np.where(low, 1.5, 2.5)[:, None], np.where(low, -1.0, 1.0)[:, None])
    margins = np.vstack([[1.5, 0.0], margins])
    signals = Signals(np.array([0, 0]), margins[:, :, None], 2)
    known = np.vstack([[True, False], inside])
    found = score("pmia", Problem.make(signals, known, targets=[0], references=range(1, references + 1)))[0, 0]
    assert found == pytest.approx(1.318147, abs=1e-6)


def plain(case):
    """Score record by record."""
    known, labels, scores = case.membership.matrix, case.signals.labels, np.zeros(case.shape)
    for row, target in enumerate(case.targets):
        kept = used(case, target, online=False)
        others = case.references[case.references != target]
        for query in range(case.signals.queries):
            margins = case.signals.margins[:, :, query]
            for i, phi in enumerate(margins[target]):
                alike = labels == labels[i]
                for some in (alike, np.ones_like(alike)):
                    pool = margins[others][:, some][known[others][:, some]]
                    if len(pool) >= FEW:
                        break
                out = margins[kept[:, i] & ~known[:, i], i]
                logs = [-0.5 * ((phi - np.median(v)) / v.std()) ** 2 - np.log(v.std()) for v in (pool, out)]
                scores[row, i] += (logs[0] - logs[1]) / case.signals.queries
    return scores


def test_equals_the_plain_loops():
    case = problem(3, models=8, records=40, queries=2, targets=[1, 5], population=0)
    case.signals.labels[:3] = 2, 0, 1
    np.testing.assert_allclose(score("pmia", case), plain(case), rtol=1e-6)
    assert min(np.bincount(case.signals.labels)) > 5


@pytest.mark.parametrize("few", [3, 5])
def test_classes_with_few_margins_borrow_from_all(few):
    case = problem(4, models=6, records=30, targets=[1, 5], population=0)
    labels = np.where(np.arange(30) < few, 0, 1)  # two or three IN references each: fewer than FEW, or from 8 to 12
    signals = Signals(labels, case.signals.margins, 3)
    case = Problem.make(signals, case.membership, targets=[1, 5])
    np.testing.assert_allclose(score("pmia", case), plain(case), rtol=1e-6)


def test_small_classes_give_no_row_away():
    rng = np.random.default_rng(0)
    known = Membership.draw(6, 8000, 0)
    margins = rng.exponential(size=known.matrix.shape) ** 1.5 + 2 * rng.normal(size=8000)
    case = Problem.make(Signals(np.arange(8000) // 40, margins[:, :, None], 200), known)
    areas = [auc(one, members) for one, members in zip(score("pmia", case), known.matrix, strict=True)]
    assert abs(np.mean(areas) - 0.5) < 0.012
