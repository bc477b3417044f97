"""Holm by a hand table, Rüger's level, the Pareto front by brute force, McNemar against SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from reticent.auditing import roc
from reticent.auditing.comparison.compare import front
from reticent.auditing.comparison.mcnemar import found, mcnemar
from reticent.auditing.comparison.multiple import holm, ruger
from reticent.errors import InputError, ShapeError

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_holm_by_hand():
    # Sorted: 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1, which is then no smaller than the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02], abs=1e-15)
    assert holm([0.5, 0.5, 0.9]).tolist() == [1, 1, 1]
    assert holm([0.02]).tolist() == [0.02]
    assert holm(np.empty(0)).tolist() == []


@given(p=SHARES, level=st.floats(0.001, 0.5))
def test_holm_rejects_what_its_steps_reject(p, level):
    corrected = holm(p)
    assert (corrected >= p).all()
    rejected, left = set(), list(range(len(p)))
    while left:
        smallest = min(left, key=lambda i: p[i])
        if p[smallest] * len(left) > level:
            break
        rejected.add(smallest)
        left.remove(smallest)
    if not any(np.isclose(value, level) for value in corrected):
        assert {i for i in range(len(p)) if corrected[i] <= level} == rejected


@given(p=SHARES)
def test_ruger_is_between_the_lower_median_and_twice_the_median(p):
    combined = ruger(p)
    assert combined <= min(1, 2 * np.median(p)) + 1e-12
    assert combined >= np.quantile(p, 0.5, method="inverted_cdf") - 1e-12
    assert ruger(p[::-1]) == combined
    assert ruger(p[:1]) == p[0]


@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
def test_ruger_holds_its_level_whatever_the_dependence(shared):
    rng = np.random.default_rng(0)
    common, own = rng.normal(size=(4000, 1)), rng.normal(size=(4000, 7))
    p = 2 * norm.sf(np.abs(np.sqrt(shared) * common + np.sqrt(1 - shared) * own))
    below = np.mean([ruger(row) < 0.1 for row in p])
    assert below < 0.1 + 3 * np.sqrt(0.09 / 4000)


POINTS = st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.6, 0.9]), st.sampled_from([0.0, 0.2, 0.3])), max_size=9)


@given(points=POINTS)
def test_front_is_what_nothing_beats(points):
    marks = front(np.array([a for a, _ in points]), np.array([leak for _, leak in points]))
    for i, (accuracy, leak) in enumerate(points):
        beaten = any(a >= accuracy and b <= leak and (a, b) != (accuracy, leak) for a, b in points)
        assert marks[i] == (not beaten)
    assert marks.any() == bool(points)


def test_front_keeps_equal_rows_and_refuses_other_lengths():
    assert front([0.9, 0.9, 0.8], [0.1, 0.1, 0.1]).tolist() == [True, True, False]
    with pytest.raises(ShapeError, match=r"leak: expected shape \(2\) as `accuracy` has, got \(1,\)"):
        front([0.9, 0.8], [0.1])


@pytest.mark.parametrize("targets", [1, 2, 5])
def test_mcnemar_is_the_exact_binomial_test(targets):
    rng = np.random.default_rng(targets)
    first, second = rng.random((2, targets, 200)) < np.array([0.3, 0.2])[:, None, None]
    tested = mcnemar(first, second)
    one, two = (first & ~second).sum(axis=1), (second & ~first).sum(axis=1)
    each = [binomtest(int(b), int(b + c), 0.5).pvalue for b, c in zip(one, two, strict=True)]
    assert (tested.targets, tested.only_first, tested.only_second) == (targets, one.sum(), two.sum())
    assert tested.p == pytest.approx(ruger(each), abs=1e-12)
    assert mcnemar(second, first) == tested.turned()


def test_mcnemar_without_disagreement():
    same = np.random.default_rng(0).random((3, 50)) < 0.5
    assert mcnemar(same, same).to_json() == {"targets": 3, "only_first": 0, "only_second": 0, "p": 1.0}


def test_mcnemar_by_hand():
    first, second = np.zeros((1, 8), dtype=bool), np.zeros((1, 8), dtype=bool)
    first[0, :6] = True
    # Six only by the first: both tails of six heads in six throws.
    assert mcnemar(first, second).p == pytest.approx(2 / 64)
    with pytest.raises(ShapeError, match="second: expected shape"):
        mcnemar(first, second[:, :7])


def test_found_are_the_true_positives():
    rng = np.random.default_rng(0)
    members = rng.random((3, 300)) < 0.5
    scores = np.round(rng.normal(size=(3, 300)) + members, 1)
    caught = found(scores, members, 0.05)
    for row, own, hit in zip(scores, members, caught, strict=True):
        point = roc.tpr_at_fpr(row, own, 0.05)
        assert hit.sum() == point.true_positives
        assert not hit[~own].any()
        assert row[hit].min() >= point.threshold
    with pytest.raises(InputError, match="fpr"):
        found(scores, members, 1.5)
