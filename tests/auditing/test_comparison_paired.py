"""Differences: closed forms, twins, what pairing gains, p-values that agree with intervals, coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm, rankdata, t

from reticent.auditing import roc
from reticent.auditing.bootstrap import Variance, bootstrap, crossed_variance
from reticent.auditing.comparison.paired import bootstrapped, difference, over_records
from reticent.auditing.training_sets import TrainingSets


def pair(rng, targets, records, shared, first=0.8, second=0.8, between=0.0):
    """Scores of two recipes whose noise has a common part; `between` moves whole models of both recipes."""
    members = rng.permuted(np.tile(np.arange(records) < records // 2, (targets, 1)), axis=1)
    common, move = rng.normal(size=members.shape), between * rng.normal(size=(targets, 1))
    scores = [
        np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.normal(size=members.shape) + (shift + move) * members
        for shift in (first, second)
    ]
    return *scores, members


def replicates(scores, members, seed, fprs=(), count=1000):
    drawn = bootstrap(scores, members, fprs, count, np.random.default_rng(seed), oracle=False)
    return drawn, np.asarray(roc.auc(scores, members))


def width(found):
    return found.interval[1] - found.interval[0]


def delong_difference(one, two, members):
    """Variance of a difference of two AUCs on the same records (DeLong et al. 1988)."""
    inside, outside = [], []
    for scores in (one, two):
        positive, negative = scores[members], scores[~members]
        ranks = rankdata(scores)
        inside.append((ranks[members] - rankdata(positive)) / len(negative))
        outside.append((ranks[~members] - rankdata(negative)) / len(positive))
    return np.var(inside[0] - inside[1], ddof=1) / len(inside[0]) + np.var(outside[0] - outside[1], ddof=1) / len(
        outside[0]
    )


@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_one_target_has_delongs_paired_variance(shared):
    one, two, members = pair(np.random.default_rng(1), 1, 1000, shared, 0.8, 0.6)
    found = bootstrapped(replicates(one, members, 5, count=4000), replicates(two, members, 5, count=4000), 0, 500, 0.95)
    expected = 2 * 1.959964 * np.sqrt(delong_difference(one[0], two[0], members[0]))
    assert width(found) == pytest.approx(expected, rel=0.06)
    assert found.difference == pytest.approx(float(roc.auc(one, members)[0] - roc.auc(two, members)[0]), abs=1e-12)


def test_pairing_narrows_the_interval_by_what_is_shared():
    rng = np.random.default_rng(2)
    widths = {}
    for shared in (0.0, 0.9):
        one, two, members = pair(rng, 8, 600, shared, between=0.3 * (shared > 0))
        a, b = replicates(one, members, 5), replicates(two, members, 5)
        apart = np.sqrt(sum(crossed_variance(drawn.replicated(0, auc), auc).total for drawn, auc in (a, b)))
        widths[shared] = width(bootstrapped(a, b, 0, 300, 0.95)) / (2 * t.ppf(0.975, 7) * apart)
    assert widths[0.0] == pytest.approx(1, abs=0.2)
    assert widths[0.9] < 0.35


def test_swapping_two_recipes_negates():
    one, two, members = pair(np.random.default_rng(3), 4, 200, 0.5)
    a, b = replicates(one, members, 5, (0.1,)), replicates(two, members, 5, (0.1,))
    ab, ba = bootstrapped(a, b, 0, 100, 0.95), bootstrapped(b, a, 0, 100, 0.95)
    assert (ba.difference, ba.p) == (-ab.difference, pytest.approx(ab.p, rel=1e-9))
    assert ba.interval == pytest.approx((-ab.interval[1], -ab.interval[0]), rel=1e-9)


@given(
    observed=st.lists(st.floats(-0.5, 0.5), min_size=1, max_size=6),
    by_records=st.floats(0, 0.1),
    by_models=st.floats(0, 0.1),
    pairs=st.integers(1, 1000),
    confidence=st.floats(0.5, 0.999),
)
def test_zero_is_outside_the_interval_where_p_is_small(observed, by_records, by_models, pairs, confidence):
    values = np.array(observed)
    variance = Variance(by_records, by_models if len(values) > 1 else 0.0, len(values))
    found = difference(values, variance, pairs, confidence)
    low, high = found.interval
    assert low <= found.difference <= high
    assert 0 <= found.p <= 1
    if abs(found.p - (1 - confidence)) > 1e-6:
        assert (found.p < 1 - confidence) == (not low <= 0 <= high)


@pytest.mark.parametrize("targets", [2, 4, 5, 8])
def test_models_that_differ_as_much_as_records_make_them_are_no_difference(targets):
    """Accuracies of equal recipes: Satterthwaite's degrees of freedom called 24 to 54 of 600 pairs different."""
    rng, wrong, level = np.random.default_rng(12), 0, 0.05 / 3  # the smallest of three, by Holm
    counted = np.ones((targets, 300), dtype=bool)
    for _ in range(600):
        hard = rng.normal(size=300)
        one, two = hard + 0.15 * rng.normal(size=(2, targets, 1)) + rng.normal(size=(2, targets, 300)) < 1
        wrong += over_records(one, two, counted, TrainingSets.apart(len(counted)), 0.95).p < level
    assert wrong <= binom.ppf(0.99, 600, level)


def test_checkpoints_of_runs_that_differ_are_no_difference():
    """Accuracies of equal recipes, 4 runs of 8 checkpoints: taken for 32 models, 77 of 600 pairs differed at 5 %."""
    rng, wrong = np.random.default_rng(13), 0
    counted = (rng.random((4, 300)) < 0.5).repeat(8, axis=0)
    for _ in range(600):
        runs = 0.3 * rng.normal(size=(2, 4, 1)).repeat(8, axis=1)
        one, two = rng.normal(size=300) + runs + rng.normal(size=(2, 32, 300)) < 1
        wrong += over_records(one, two, counted, TrainingSets.of(counted), 0.95).p < 0.05
    assert wrong <= binom.ppf(0.99, 600, 0.05)


def test_no_difference_at_all():
    one, _, members = pair(np.random.default_rng(4), 3, 80, 0.5)
    a = replicates(one, members, 5)
    found = bootstrapped(a, a, 0, 40, 0.95)
    assert (found.difference, found.p) == (0, 1)
    # Had a share d of 40 pairs differed, all 40 would have agreed with probability (1 - d)**40 = 0.025.
    share = 1 - 0.025 ** (1 / 40)
    assert found.interval == pytest.approx((-share, share), abs=1e-12)


def test_a_difference_without_spread():
    found = difference(np.array([0.5]), Variance(0.0, 0.0, 1), 10, 0.95)
    assert found.p == pytest.approx(2 * 1.5**-10)
    assert found.interval[0] > 0
    assert found.interval[1] < 1


def test_one_model_by_records_is_mcnemars_variance():
    rng = np.random.default_rng(6)
    one, two = rng.random((2, 1, 300)) < 0.8
    counted = np.ones((1, 300), dtype=bool)
    counted[0, :100] = False
    b, c = (one & ~two & counted).sum(), (two & ~one & counted).sum()
    found = over_records(one, two, counted, TrainingSets.apart(len(counted)), 0.95)
    assert found.difference == pytest.approx((b - c) / 200)
    # Variance of a difference of paired shares: ((b + c) - (b - c)**2 / n) / n**2.
    assert width(found) == pytest.approx(2 * 1.959964 * np.sqrt(((b + c) - (b - c) ** 2 / 200) / 200**2), rel=1e-6)


def test_records_closed_form_by_hand():
    rng = np.random.default_rng(8)
    one, two = rng.random((3, 60)) < np.array([[0.9], [0.6], [0.3]]), rng.random((3, 60)) < 0.5
    counted = rng.random((3, 60)) < 0.7
    values, size = one.astype(float) - two, counted.sum(axis=1)
    observed = np.array([values[t, counted[t]].mean() for t in range(3)])
    moved = np.where(counted, values - observed[:, None], 0.0) / size[:, None]
    by_records = sum(moved[:, i].mean() ** 2 for i in range(60))
    interaction = 3 / 2 * (np.mean([(moved[t] ** 2).sum() for t in range(3)]) - by_records)
    by_models = (np.var(observed, ddof=1) - interaction) / 3
    assert by_models > 0
    wanted = difference(observed, Variance(by_records, by_models, 3), int(size.min()), 0.95)
    got = over_records(one, two, counted, TrainingSets.apart(len(counted)), 0.95)
    assert list(dict(got).values()) == [pytest.approx(value, rel=1e-12) for value in dict(wanted).values()]


@pytest.mark.parametrize("between", [0.0, 0.3])
def test_records_closed_form_is_the_bootstraps_limit(between):
    rng = np.random.default_rng(7)
    hard = rng.normal(size=400)
    level = between * rng.normal(size=(2, 5, 1))
    one, two = hard + level + rng.normal(size=(2, 5, 400)) < 1
    counted = rng.random((5, 400)) < 0.5
    weights = rng.poisson(1, (4000, 400)).astype(float)
    values = (weights @ (counted * (one.astype(float) - two)).T) / (weights @ counted.T)
    observed = (counted * (one.astype(float) - two)).sum(axis=1) / counted.sum(axis=1)
    expected = crossed_variance(values, observed)
    got = over_records(one, two, counted, TrainingSets.apart(len(counted)), 0.95)
    assert width(got) == pytest.approx(width(difference(observed, expected, 400, 0.95)), rel=0.07)


def covers(rng, targets, records, shared, shifts, between, runs, statistic):
    fpr = 0.1
    if statistic == 0:
        truth = np.subtract(*(norm.cdf(shift / np.sqrt(2 + between**2)) for shift in shifts))
    else:
        truth = np.subtract(*(norm.cdf(norm.ppf(fpr) + shift) for shift in shifts))
    inside = 0
    for seed in range(runs):
        one, two, members = pair(rng, targets, records, shared, *shifts, between)
        both = []
        for scores in (one, two):
            drawn, auc = replicates(scores, members, seed, (fpr,), 200)
            tpr = [roc.tpr_at_fpr(s, m, fpr).tpr for s, m in zip(scores, members, strict=True)]
            both.append((drawn, auc if statistic == 0 else np.array(tpr)))
        low, high = bootstrapped(*both, statistic, records // 2, 0.95).interval
        inside += low <= truth <= high
    return inside


def test_paired_interval_covers():
    inside = covers(np.random.default_rng(8), 4, 120, 0.5, (0.8, 0.5), 0.0, 100, 0)
    assert binom.ppf(0.0005, 100, 0.95) <= inside


@pytest.mark.calibration
@pytest.mark.parametrize("targets", [1, 4, 16])
@pytest.mark.parametrize("shared", [0.0, 0.8])
@pytest.mark.parametrize(("shifts", "between"), [((0.0, 0.0), 0.0), ((0.8, 0.4), 0.0), ((0.6, 0.6), 0.3)])
def test_paired_interval_of_the_auc_covers(targets, shared, shifts, between):
    if targets == 1 and between:
        pytest.skip("one model says nothing about the next")
    inside = covers(np.random.default_rng(9), targets, 200, shared, shifts, between, 300, 0)
    assert 0.91 <= inside / 300 <= (1 if targets == 4 else 0.995)


@pytest.mark.calibration
@pytest.mark.parametrize("targets", [1, 16])
@pytest.mark.parametrize("shifts", [(0.0, 0.0), (0.8, 0.4)])
def test_paired_interval_of_the_tpr_covers(targets, shifts):
    inside = covers(np.random.default_rng(10), targets, 600, 0.5, shifts, 0.0, 300, 3)
    assert 0.91 <= inside / 300 <= 0.999


@pytest.mark.parametrize(
    ("targets", "records", "fpr", "shift"),
    [
        pytest.param(1, 1800, 0.01, 0.0, marks=pytest.mark.calibration),
        pytest.param(1, 1800, 0.01, 1.0, marks=pytest.mark.slow),
        pytest.param(8, 200, 0.01, 1.0, marks=pytest.mark.calibration),
    ],
)
def test_few_false_positives_make_no_difference(targets, records, fpr, shift):
    rng, wrong = np.random.default_rng(11), 0
    for seed in range(200):
        one, two, members = pair(rng, targets, records, 0.5, shift, shift)
        both = []
        for scores in (one, two):
            tpr = [roc.tpr_at_fpr(s, m, fpr).tpr for s, m in zip(scores, members, strict=True)]
            both.append((replicates(scores, members, seed, (fpr,), 200)[0], np.array(tpr)))
        wrong += bootstrapped(*both, 3, records // 2, 0.95).p < 0.05
    assert wrong <= binom.ppf(0.999, 200, 0.05)
