"""The ROC curve: the specification's exact checks, closed forms, naive twins, invariances, the words of errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from reticent.auditing import roc
from reticent.errors import InputError, ShapeError

SCORES = np.array([4, 3, 2, 1, 2.5, 1.5, 0.5, 0])
MEMBERS = np.arange(8) < 4


def naive_auc(scores, members):
    inside, outside = scores[members], scores[~members]
    total = 0.0
    for one in inside:
        for other in outside:
            total += 1.0 if one > other else 0.5 if one == other else 0.0
    return total / (len(inside) * len(outside))


def naive_tpr(scores, members, most):
    """The best TPR over every threshold that calls at most `most` non-members."""
    best = 0.0
    for threshold in [*scores.tolist(), np.inf]:
        called = scores >= threshold
        if (called & ~members).sum() <= most:
            best = max(best, (called & members).sum() / members.sum())
    return best


def gaussian(count, distance):
    """Two groups at the quantiles of N(0, 1) and N(distance, 1): the curve is known."""
    at = norm.ppf((np.arange(count) + 0.5) / count)
    return np.concatenate([at + distance, at]), np.arange(2 * count) < count


tied = (
    st
    .integers(4, 30)
    .flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(-3, 3), min_size=n, max_size=n),
            st.lists(st.booleans(), min_size=n - 2, max_size=n - 2),
        )
    )
    .map(lambda pair: (np.array(pair[0], dtype=float), np.array([True, False, *pair[1]])))
)


def test_exact_checks_of_the_specification():
    assert roc.auc(SCORES, MEMBERS) == 0.8125
    assert roc.tpr_at_fpr(SCORES, MEMBERS, 0).tpr == 0.5
    assert roc.roc(SCORES, MEMBERS).balanced_accuracy() == (0.75, 3.0)
    assert roc.roc(SCORES, MEMBERS).balanced_accuracy()[0] == 0.75


def test_all_scores_equal():
    equal = np.full(8, 7.0)
    assert roc.auc(equal, MEMBERS) == 0.5
    for fpr in (0, 0.01, 0.5, 0.999):
        assert roc.tpr_at_fpr(equal, MEMBERS, fpr).tpr == 0
    assert roc.tpr_at_fpr(equal, MEMBERS, 1).tpr == 1
    assert roc.roc(equal, MEMBERS).balanced_accuracy() == (0.5, np.inf)


def test_vertices_group_ties_and_end_at_the_corners():
    curve = roc.roc([2, 1, 1, 1, 0], np.array([True, True, False, True, False]))
    assert curve.thresholds.tolist() == [np.inf, 2, 1, 0]
    assert curve.true_positives.tolist() == [0, 1, 3, 3]
    assert curve.false_positives.tolist() == [0, 0, 1, 2]
    assert (curve.tpr[0], curve.fpr[0], curve.tpr[-1], curve.fpr[-1]) == (0, 0, 1, 1)


@pytest.mark.parametrize("distance", [0.0, 0.3, 1.0, 2.5])
def test_gaussian_quantiles_give_the_closed_forms(distance):
    count = 20_000
    scores, members = gaussian(count, distance)
    assert roc.auc(scores, members) == pytest.approx(norm.cdf(distance / np.sqrt(2)), abs=1e-4)
    for fpr in (0.1, 0.01, 0.001):
        point = roc.tpr_at_fpr(scores, members, fpr)
        assert point.false_positives_allowed == fpr * count
        assert point.realised_fpr <= fpr
        # The threshold lies between the last non-member allowed and the next one, half a step away in rank.
        exact = norm.cdf(norm.ppf(fpr + 0.5 / count) + distance)
        assert point.tpr == pytest.approx(exact, abs=1 / count)
    best = 2 * norm.cdf(distance / 2) - 1
    assert roc.roc(scores, members).balanced_accuracy()[0] == pytest.approx((1 + best) / 2, abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("levels", [3, 1000])
def test_equals_the_naive_twins(seed, levels):
    rng = np.random.default_rng(seed)
    members = rng.random(60) < 0.4
    scores = rng.integers(0, levels, 60) / levels + 0.2 * members
    assert roc.auc(scores, members) == pytest.approx(naive_auc(scores, members), abs=1e-14)
    outside = int((~members).sum())
    for most in range(outside + 1):
        point = roc.tpr_at_fpr(scores, members, most / outside)
        assert point.tpr == naive_tpr(scores, members, most)
        called = scores >= point.threshold
        assert point.true_positives == (called & members).sum()
        assert point.false_positives == (called & ~members).sum()
        assert point.false_positives <= most
        assert point.false_positives_allowed == most


def test_trapezoid_area_is_the_auc():
    rng = np.random.default_rng(3)
    members = rng.random(200) < 0.5
    scores = rng.integers(0, 9, 200) + 2.0 * members
    curve = roc.roc(scores, members)
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(float(roc.auc(scores, members)), abs=1e-14)


@settings(max_examples=60, deadline=None)
@given(tied, st.randoms(use_true_random=False))
def test_order_of_the_records_changes_nothing(case, random):
    scores, members = case
    order = list(range(len(scores)))
    random.shuffle(order)
    assert roc.auc(scores[order], members[order]) == roc.auc(scores, members)
    for fpr in (0, 0.1, 0.5):
        assert roc.tpr_at_fpr(scores[order], members[order], fpr) == roc.tpr_at_fpr(scores, members, fpr)


@settings(max_examples=60, deadline=None)
@given(tied)
def test_exchanging_the_groups_or_the_sign_turns_the_curve_over(case):
    scores, members = case
    area = float(roc.auc(scores, members))
    assert float(roc.auc(scores, ~members)) == pytest.approx(1 - area, abs=1e-14)
    assert float(roc.auc(-scores, members)) == pytest.approx(1 - area, abs=1e-14)


@settings(max_examples=60, deadline=None)
@given(tied)
def test_an_increasing_map_changes_nothing(case):
    scores, members = case
    mapped = np.exp(scores / 2) - 5
    assert roc.auc(mapped, members) == roc.auc(scores, members)
    assert roc.tpr_at_fpr(mapped, members, 0.2).tpr == roc.tpr_at_fpr(scores, members, 0.2).tpr
    assert roc.roc(mapped, members).balanced_accuracy()[0] == roc.roc(scores, members).balanced_accuracy()[0]


def test_auc_of_many_targets_at_once():
    rng = np.random.default_rng(0)
    scores, members = rng.integers(0, 20, (4, 50)).astype(float), rng.random((4, 50)) < 0.5
    each = [float(roc.auc(row, own)) for row, own in zip(scores, members, strict=True)]
    assert roc.auc(scores, members).tolist() == each


def test_tnr_at_fnr_is_tpr_at_fpr_with_the_roles_exchanged():
    point = roc.tnr_at_fnr(SCORES, MEMBERS, 0)
    # No member may be lost: non-members below the lowest member (1) are 0.5 and 0.
    assert (point.tpr, point.threshold, point.true_positives) == (0.5, 0.5, 2)
    assert ((point.threshold >= SCORES) & MEMBERS).sum() == 0


def test_false_positives_allowed_are_free_of_rounding():
    assert (0.29 * 100, 0.1 * 3 * 10) != (29.0, 3.0)
    assert roc.allowed(0.29, 100) == 29
    for tenths in range(1, 10):
        assert roc.allowed(tenths / 10, 10) == tenths
    for count in range(1, 400):
        assert roc.allowed(0.1, count) == count // 10
        assert roc.allowed(0.001, count) == 0
        assert roc.allowed(1 / 3, 3 * count) == count
        assert roc.allowed(1 / count, count) == 1


def test_records_needed():
    assert [roc.records_needed(fpr) for fpr in (0.1, 0.01, 0.001, 0.0001, 0.3, 1.0)] == [10, 100, 1000, 10_000, 4, 1]
    with pytest.raises(InputError, match=r"fpr: expected a rate of at least 1e-9, got 0"):
        roc.records_needed(0.0)


def test_errors_name_the_argument_and_what_to_do():
    with pytest.raises(InputError, match="got no members among 8 records; audit records of both kinds"):
        roc.auc(SCORES, np.zeros(8, dtype=bool))
    with pytest.raises(InputError, match="got no non-members among 8 records in row 1"):
        roc.auc(np.stack([SCORES, SCORES]), np.stack([MEMBERS, np.ones(8, dtype=bool)]))
    with pytest.raises(InputError, match=r"scores: expected finite numbers, got 1 NaN or infinite of 8.*\(2,\)"):
        roc.roc(np.where(np.arange(8) == 2, np.nan, SCORES), MEMBERS)
    with pytest.raises(ShapeError, match=r"members: expected shape \(8\).*got \(7,\)"):
        roc.roc(SCORES, MEMBERS[:7])
    with pytest.raises(ShapeError, match=r"members: expected booleans, got int64.*astype\(bool\)"):
        roc.roc(SCORES, MEMBERS.astype(np.int64))
    with pytest.raises(InputError, match=r"fpr: expected a number from 0.0 to 1.0, got 1.5"):
        roc.tpr_at_fpr(SCORES, MEMBERS, 1.5)
