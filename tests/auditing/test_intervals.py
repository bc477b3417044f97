"""Intervals: against SciPy, by exact enumeration of the binomial, against DeLong's definition, and by simulation."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

from reticent.auditing import intervals
from reticent.errors import InputError


def test_clopper_pearson_equals_scipy():
    for trials in (1, 7, 100, 5000):
        for hits in {0, 1, trials // 3, trials - 1, trials}:
            for confidence in (0.9, 0.95, 0.999):
                low, high = intervals.clopper_pearson(hits, trials, confidence)
                expected = binomtest(hits, trials).proportion_ci(confidence, method="exact")
                assert (float(low), float(high)) == pytest.approx((expected.low, expected.high), abs=1e-10)


@pytest.mark.parametrize("trials", [5, 40, 200])
def test_clopper_pearson_covers_for_every_probability(trials):
    hits = np.arange(trials + 1)
    low, high = intervals.clopper_pearson(hits, trials, 0.95)
    for p in np.linspace(0.001, 0.999, 97):
        chance = binom.pmf(hits, trials, p)
        assert chance[(low <= p) & (p <= high)].sum() >= 0.95
        # Each limit alone errs in at most half of the cases that are left.
        assert chance[low > p].sum() <= 0.025 + 1e-12
        assert chance[high < p].sum() <= 0.025 + 1e-12


def test_clopper_pearson_broadcasts_and_refuses():
    low, high = intervals.clopper_pearson([0, 5, 10], 10)
    assert low.shape == high.shape == (3,)
    assert (low[0], high[2]) == (0, 1)
    with pytest.raises(InputError, match="successes: expected counts from 0 to trials, got 11"):
        intervals.clopper_pearson(11, 10)
    with pytest.raises(InputError, match=r"confidence: expected a number between 0 and 1, such as 0\.95, got 95"):
        intervals.clopper_pearson(1, 10, 95)


def naive_delong(scores, members):
    inside, outside = scores[members], scores[~members]
    wins = (inside[:, None] > outside) + 0.5 * (inside[:, None] == outside)
    variance = wins.mean(axis=1).var(ddof=1) / len(inside) + wins.mean(axis=0).var(ddof=1) / len(outside)
    return wins.mean(), variance


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("levels", [4, 10**6])
def test_delong_equals_its_definition(seed, levels):
    rng = np.random.default_rng(seed)
    members = rng.random(90) < 0.4
    scores = np.floor(levels * rng.random(90)) / levels + 0.3 * members
    assert intervals.delong(scores, members) == pytest.approx(naive_delong(scores, members), rel=1e-12)


def test_perfect_separation_has_a_limit_that_counts_decide():
    members = np.arange(40) < 20
    low, high = intervals.auc_interval(members.astype(float), members, 0.95)
    assert high == 1
    assert low == pytest.approx(float(intervals.clopper_pearson(20, 20)[0]))
    low, high = intervals.auc_interval(-members.astype(float), members, 0.95)
    assert low == 0
    assert high == pytest.approx(float(intervals.clopper_pearson(0, 20)[1]))


def test_all_equal_scores_do_not_prove_chance():
    members = np.arange(40) < 20
    low, high = intervals.auc_interval(np.zeros(40), members)
    assert low == pytest.approx(1 - high)
    assert 0.35 < low < 0.5
    wide = intervals.auc_interval(np.zeros(8), np.arange(8) < 4)
    assert wide[0] < low < high < wide[1]


def test_one_member_gives_a_wide_interval():
    area, variance = intervals.delong(np.array([2.0, 1, 3, 0, 5]), np.arange(5) == 0)
    assert (area, variance) == (0.5, 0.25)
    low, high = intervals.auc_interval(np.array([2.0, 1, 3, 0, 5]), np.arange(5) == 0)
    assert low < 0.15
    assert high > 0.85


def coverage(distance, members, others, runs, seed):
    rng = np.random.default_rng(seed)
    truth = np.arange(members + others) < members
    area = norm.cdf(distance / np.sqrt(2))
    inside = 0
    for _ in range(runs):
        low, high = intervals.auc_interval(rng.normal(size=members + others) + distance * truth, truth)
        inside += low <= area <= high
    return inside


@pytest.mark.parametrize("distance", [0.0, 1.0])
def test_auc_interval_covers(distance):
    inside = coverage(distance, 60, 80, 400, seed=1)
    low, high = binom.ppf([0.0005, 0.9995], 400, 0.95)
    assert low <= inside <= high


@pytest.mark.parametrize(
    ("distance", "members", "others"),
    [
        pytest.param(0, 30, 30, marks=pytest.mark.calibration),
        pytest.param(0, 500, 500, marks=pytest.mark.calibration),
        pytest.param(1, 30, 300, marks=pytest.mark.slow),
        pytest.param(2, 50, 50, marks=pytest.mark.calibration),
    ],
)
def test_auc_interval_covers_at_its_nominal_rate(distance, members, others):
    inside = coverage(distance, members, others, 4000, seed=2)
    assert 0.935 <= inside / 4000 <= 0.97


def test_percentile_is_the_middle_share():
    low, high = intervals.percentile(np.arange(1001.0)[:, None] * [1, 2], 0.9)
    assert low == pytest.approx([50, 100])
    assert high == pytest.approx([950, 1900])
