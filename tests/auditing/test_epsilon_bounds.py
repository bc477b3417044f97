"""Bounds on epsilon at thresholds: closed forms, slow twins, invariances, ties, small groups, errors."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from scipy.stats import beta

from reticent.auditing.epsilon import (
    METHODS,
    AllThresholds,
    FDp,
    Gaussian,
    Given,
    OneRun,
    Split,
)
from reticent.auditing.epsilon.base import groups, log_ratios
from reticent.auditing.epsilon.bounds import bounds
from reticent.auditing.epsilon.gaussian import gaussian_epsilon
from reticent.auditing.epsilon.rank_thresholds import few_values, rank_thresholds, ranks
from reticent.auditing.intervals import lower, upper
from reticent.auditing.roc import auc, tpr_at_fpr
from reticent.errors import InputError, ShapeError, SpecError

HALF = 50_000
EXACT = (AllThresholds(), Split())


def quantiles(mu, half=HALF):
    """Scores at the quantiles of N(mu, 1) for members and N(0, 1) for non-members: the ROC of mu-GDP."""
    grid = ndtri((np.arange(half) + 0.5) / half)
    return np.concatenate([grid + mu, grid]), np.arange(2 * half) < half


def responses(epsilon, half=HALF):
    """Binary scores of randomized response: epsilon is exact, at delta 0."""
    right = round(half * math.exp(epsilon) / (1 + math.exp(epsilon)))
    scores = np.concatenate([np.arange(half) < right, np.arange(half) >= right]).astype(float)
    return scores, np.arange(2 * half) < half, math.log(right / (half - right))


def one(scores, members, method, delta=0.0, confidence=0.95, seed=0):
    return bounds(scores, members, method, delta=delta, confidence=confidence, rng=np.random.default_rng(seed))[0]


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
def test_scores_at_gaussian_quantiles_have_the_closed_forms(mu):
    scores, members = quantiles(mu)
    assert auc(scores, members) == pytest.approx(ndtr(mu / 2**0.5), abs=1e-5)
    for fpr in (0.1, 0.01, 0.001):
        assert tpr_at_fpr(scores, members, fpr).tpr == pytest.approx(ndtr(mu + ndtri(fpr)), rel=0.01)


@pytest.mark.parametrize("method", EXACT, ids=lambda method: method.method)
@pytest.mark.parametrize(("mu", "delta"), [(0.5, 0.02), (1.0, 0.01), (1.0, 0.05), (2.0, 0.05), (2.0, 0.1)])
def test_exact_bounds_are_below_the_true_epsilon_and_near_it(method, mu, delta):
    # The best threshold lies epsilon / mu + mu / 2 above the non-members' centre: with these deltas, tens of records
    # at least lie beyond it.
    assert HALF * ndtr(-(float(gaussian_epsilon(mu, delta)) / mu + mu / 2)) > 15
    true = float(gaussian_epsilon(mu, delta))
    found = one(*quantiles(mu), method, delta)
    assert 0.8 * true < found < true


@pytest.mark.parametrize(("mu", "delta"), [(1.0, 1e-5), (2.0, 1e-4), (3.0, 1e-3)])
def test_no_count_of_records_reaches_a_tiny_delta_but_the_gaussian_bound_does(mu, delta):
    true = float(gaussian_epsilon(mu, delta))
    assert HALF * ndtr(-(true / mu + mu / 2)) < 1  # not one record beyond the threshold that would show it
    for method in EXACT:
        assert 0.3 * true < one(*quantiles(mu), method, delta) < 0.8 * true
    assert 0.9 * true < one(*quantiles(mu), Gaussian(), delta) < true


@pytest.mark.parametrize("mu", [0.3, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("delta", [1e-6, 1e-5, 1e-3])
def test_the_gaussian_bound_is_below_the_true_epsilon_and_near_it(mu, delta):
    true = float(gaussian_epsilon(mu, delta))
    found = one(*quantiles(mu), Gaussian(), delta)
    assert 0.8 * true < found < true
    assert float(gaussian_epsilon(0.85 * mu, delta)) < found


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize(
    "method", [AllThresholds(), Split(), Given(threshold=0.5), OneRun(), OneRun(choice="corrected")]
)
def test_randomized_response_has_a_known_epsilon(epsilon, method):
    scores, members, true = responses(epsilon)
    found = one(scores, members, method)
    assert 0.93 * true < found < true


def test_a_given_threshold_is_two_clopper_pearson_limits():
    scores = np.concatenate([np.repeat([2.0, 0.0], [60, 40]), np.repeat([2.0, 0.0], [10, 190])])
    found = one(scores, np.arange(300) < 100, Given(threshold=2.0), delta=0.01, confidence=0.9)
    tpr, fpr = beta.ppf(0.05, 60, 41), beta.ppf(0.95, 11, 190)
    assert found == pytest.approx(math.log((tpr - 0.01) / fpr), rel=1e-12)


def test_both_directions_are_seen():
    """Where few members are missed, but the false alarms are many, only the second direction says much."""
    scores = np.concatenate([np.repeat([1.0, 0.0], [9_999, 1]), np.repeat([1.0, 0.0], [5_000, 5_000])])
    found = one(scores, np.arange(20_000) < 10_000, Given(threshold=0.5))
    miss, clear = beta.ppf(0.975, 2, 9_999), beta.ppf(0.025, 5_000, 5_001)
    assert found == pytest.approx(math.log(clear / miss), rel=1e-9)


def test_log_ratios_of_nothing():
    found = log_ratios(np.array([0.0, 0.01, 0.5]), np.array([1.0, 0.5, 0.25]), 0.01)
    assert found[0] == pytest.approx([-math.inf, -math.inf, math.log(0.49 / 0.25)])
    assert found[1, 0] == -math.inf
    assert found[1, 2] == pytest.approx(math.log(0.74 / 0.5))


def naive(scores, members, ratio, alpha, delta):
    """Look at every threshold with loops, as the module's text says; without ties."""
    inside = sorted(s for s, m in zip(scores, members, strict=True) if m)
    outside = sorted(s for s, m in zip(scores, members, strict=True) if not m)
    m, n = len(inside), len(outside)

    def geometric(count):
        found, step = [], 1.0
        while round(math.ceil(step - 1e-9)) <= max(1, count // 2):
            found.append(math.ceil(step - 1e-9))
            step *= ratio
        return sorted(set(found))

    high, low = geometric(n), geometric(m)
    level = alpha / (2 * (len(high) + len(low)))
    best = 0.0
    for k in high:
        hits = sum(s > outside[n - k] for s in inside)
        tpr = beta.ppf(level, hits, m - hits + 1) if hits else 0.0
        fpr = beta.ppf(1 - level, k, n - k + 1)
        best = max([best, *ratios(tpr, fpr, delta)])
    for k in low:
        clear = sum(s < inside[k - 1] for s in outside)
        tnr = beta.ppf(level, clear, n - clear + 1) if clear else 0.0
        fnr = beta.ppf(1 - level, k, m - k + 1)
        best = max([best, *ratios(1 - fnr, 1 - tnr, delta)])
    return best


def ratios(tpr, fpr, delta):
    if tpr > delta:
        yield math.log((tpr - delta) / fpr)
    if 1 - fpr > delta:
        yield math.log((1 - fpr - delta) / (1 - tpr))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ratio", [1.3, 2.0])
def test_all_thresholds_equal_the_slow_loop(seed, ratio):
    rng = np.random.default_rng(seed)
    members = rng.random(300) < 0.4
    scores = rng.normal(size=300) + 2.5 * members
    found = one(scores, members, AllThresholds(ratio=ratio), delta=0.02, confidence=0.9)
    assert found == pytest.approx(naive(scores, members, ratio, 0.1, 0.02), rel=1e-9)
    assert found > 0.5


def test_few_values_are_all_looked_at():
    rng = np.random.default_rng(1)
    members = rng.random(2_000) < 0.5
    scores = rng.binomial(4, np.where(members, 0.8, 0.3)).astype(float)
    (own,) = groups(scores[None], members[None])
    assert few_values(own, 30).tolist() == [0, 1, 2, 3, 4]
    found = rank_thresholds(own, 2.0, 0.05)
    assert found[0].tolist() == [1, 2, 3, 4]
    count = len(ranks(int(members.sum()))) + len(ranks(int((~members).sum())))
    for threshold, tpr, fpr in zip(*found, strict=True):
        hits, false = (scores[members] >= threshold).sum(), (scores[~members] >= threshold).sum()
        assert tpr == pytest.approx(lower(hits, members.sum(), 0.05 / (2 * count)))
        assert fpr == pytest.approx(upper(false, (~members).sum(), 0.05 / (2 * count)))


def test_a_tie_is_never_cut_in_two():
    """Many values, and heavy ties: every region is strictly beyond a score, and its limit is not below its count's."""
    rng = np.random.default_rng(2)
    members = rng.random(4_000) < 0.5
    scores = np.round(rng.normal(size=4_000) + members, 1)
    (own,) = groups(scores[None], members[None])
    assert few_values(own, 23) is None
    found = rank_thresholds(own, 2.0, 0.05)
    level = 0.05 / (2 * len(found[0]))
    for threshold, tpr, fpr in zip(*found, strict=True):
        hits, false = (scores[members] >= threshold).sum(), (scores[~members] >= threshold).sum()
        assert tpr <= lower(hits, members.sum(), level) + 1e-12
        assert fpr >= upper(false, (~members).sum(), level) - 1e-12


def test_ranks_are_few_and_reach_half():
    assert ranks(1).tolist() == ranks(2).tolist() == ranks(3).tolist() == [1]
    assert ranks(16).tolist() == [1, 2, 4, 8]
    assert ranks(1_000_000)[-1] == 2**18
    assert ranks(20, 1.1).tolist() == list(range(1, 11))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), half=st.integers(2, 60), step=st.sampled_from([1, 4, 50]))
def test_monotone_maps_change_nothing(seed, half, step):
    rng = np.random.default_rng(seed)
    members = rng.permutation(np.arange(2 * half) < half)
    scores = (rng.integers(0, 200, size=2 * half) // step + 5 * members).astype(float)
    order = rng.permutation(2 * half)
    for method in (AllThresholds(), Split(), Gaussian(), FDp(), OneRun(), OneRun(choice="corrected")):
        plain = one(scores, members, method, 0.01, 0.8, seed)
        assert one(scores**3 - 7, members, method, 0.01, 0.8, seed) == plain
        assert one(scores[order], members[order], method, 0.01, 0.8, seed) == plain


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), half=st.integers(5, 200), step=st.sampled_from([1, 50]))
def test_exchanging_the_roles_changes_no_bound(seed, half, step):
    rng = np.random.default_rng(seed)
    members = rng.permutation(np.arange(2 * half + 5) < half)  # groups of unequal size, so that no bound comes twice
    scores = (rng.integers(0, 1_000, size=2 * half + 5) // step + 300 // step * members).astype(float)
    plain, other = (one(own, rows, AllThresholds(), 0.01) for own, rows in ((scores, members), (-scores, ~members)))
    assert other == pytest.approx(plain, rel=1e-9, abs=1e-12)
    for method in (Gaussian(), OneRun(choice="corrected")):
        same = [one(own, rows, method, 0.01) for own, rows in ((scores, members), (-scores, ~members))]
        assert same[0] == pytest.approx(same[1], rel=1e-6, abs=1e-9)


def test_perfect_separation_is_finite_and_grows_with_the_records():
    for method in (AllThresholds(), Split(), Gaussian(), FDp(), OneRun(), OneRun(choice="corrected")):
        delta = 1e-9
        found = [
            one(np.arange(2.0 * half), np.arange(2 * half) >= half, method, delta) for half in (50, 500, 5_000, 50_000)
        ]
        assert all(0 < a < b for a, b in itertools.pairwise(found)), method
        assert np.isfinite(found).all()
    exact = [one(np.arange(2.0 * n), np.arange(2 * n) >= n, Given(threshold=n)) for n in (50, 50_000)]
    assert exact == pytest.approx([math.log(0.025 ** (1 / n) / (1 - 0.025 ** (1 / n))) for n in (50, 50_000)])


@pytest.mark.parametrize("method", [AllThresholds(), Split(), Gaussian(), FDp(), OneRun(), Given(threshold=0.5)])
def test_tiny_groups_and_equal_scores_say_nothing(method):
    for half in (1, 2, 3):
        members = np.arange(2 * half) < half
        assert one(members.astype(float), members, method, 0.001) == 0
    assert one(np.zeros(400), np.arange(400) < 200, method, 0.001) == 0


def test_an_inverted_attack_shows_nothing():
    scores, members = quantiles(2.0, 500)
    for method in (AllThresholds(), Split(), Gaussian(), FDp(), OneRun()):
        assert one(-scores, members, method, 0.001) == 0


def test_a_larger_delta_or_confidence_lowers_every_bound():
    rng = np.random.default_rng(0)
    members = rng.random(5_000) < 0.5
    scores = rng.normal(size=5_000) + 1.5 * members
    for method in (AllThresholds(), Given(threshold=2.0), Gaussian(), FDp(), OneRun()):
        deltas = [one(scores, members, method, delta) for delta in (1e-8, 1e-4, 1e-2, 0.2)]
        levels = [one(scores, members, method, 1e-6, level) for level in (0.8, 0.95, 0.999)]
        assert deltas == sorted(deltas, reverse=True)
        assert levels == sorted(levels, reverse=True)
        assert levels[0] > levels[2] > 0


def test_targets_are_bound_one_by_one():
    rng = np.random.default_rng(3)
    members = rng.random((4, 600)) < 0.5
    scores = rng.normal(size=(4, 600)) + members
    together = bounds(scores, members, AllThresholds(), delta=0, rng=rng)
    alone = [one(s, m, AllThresholds()) for s, m in zip(scores, members, strict=True)]
    assert together == alone


def test_single_precision_scores_are_not_rounded_apart():
    """The next number above a float32 score is a float32 too, so no tie slips over a threshold."""
    rng = np.random.default_rng(4)
    members = rng.random(3_000) < 0.5
    scores = (rng.normal(size=3_000) + members).astype(np.float32)
    for method in (AllThresholds(), Split(), OneRun()):
        assert one(scores, members, method) == one(scores.astype(float), members, method)


def test_errors_name_what_is_wrong():
    scores, members = np.arange(6.0), np.arange(6) < 3
    with pytest.raises(InputError, match=r"delta: expected a number from 0 up to, but not including, 1, .* got 1"):
        one(scores, members, AllThresholds(), 1)
    with pytest.raises(InputError, match=r"confidence: expected a number between 0 and 1, such as 0\.95, got 95"):
        one(scores, members, AllThresholds(), 0, 95)
    with pytest.raises(InputError, match="got no non-members among 6 records"):
        one(scores, np.ones(6, bool), AllThresholds())
    with pytest.raises(InputError, match="scores: expected finite numbers, got 1 NaN"):
        one(np.array([np.nan, 1, 2, 3, 4, 5]), members, AllThresholds())
    with pytest.raises(ShapeError, match="members: expected booleans"):
        one(scores, members.astype(int), AllThresholds())
    with pytest.raises(ShapeError, match=r"members: expected 1 axis, got shape \(2, 3\)"):
        one(scores, members.reshape(2, 3), AllThresholds())
    with pytest.raises(InputError, match="the method 'gaussian' needs a delta above 0, such as 1e-5"):
        one(scores, members, Gaussian())
    with pytest.raises(
        InputError, match="one-run' needs records that are members with probability 1/2 each, got 90 me"
    ):
        one(np.arange(100.0), np.arange(100) < 90, OneRun())
    with pytest.raises(SpecError, match="split: share: expected less than 1, got 1"):
        Split(share=1.0)
    with pytest.raises(SpecError, match="all-thresholds: ratio: expected greater than 1, got 1"):
        AllThresholds(ratio=1.0)
    with pytest.raises(SpecError, match="given: threshold must be given"):
        Given()
    with pytest.raises(SpecError, match="one-run: choice: expected 'split' or 'corrected', got 'best'"):
        OneRun(choice="best")


def test_the_table_names_every_method_by_its_spec():
    assert {name: entry.spec.method for name, entry in METHODS.items()} == {name: name for name in METHODS}
    assert len(METHODS) == 6
    one_run = {"one-run", "f-dp"}
    assert all("do not depend" in METHODS[name].assumes for name in METHODS if name not in one_run)
    assert all("may depend on each other" in METHODS[name].assumes for name in one_run)
