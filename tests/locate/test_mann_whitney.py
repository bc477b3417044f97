"""The effect against counting pairs, its interval, and Kolmogorov's distance."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp, mannwhitneyu, norm

from reticent.locate.mann_whitney import Ordered, effects


def pairs(values, larger, weights):
    """Count all pairs, a tie as a half."""
    won = total = 0.0
    for i in np.flatnonzero(larger):
        for j in np.flatnonzero(~larger):
            pair = weights[i] * weights[j]
            total += pair
            won += pair * (1.0 if values[i] > values[j] else 0.5 if values[i] == values[j] else 0.0)
    return won / total


def several(runs, seed=0, **options):
    settings = {"replicates": 200, "confidence": 0.95} | options
    each, limits, ks = effects(runs, **settings, rng=np.random.default_rng(seed))
    return [
        SimpleNamespace(mean=one.mean(), low=low, high=high, ks=gaps.mean(), runs=tuple(one))
        for one, low, high, gaps in zip(each.T, *limits, ks.T, strict=True)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_the_effect_is_the_share_of_pairs_with_ties_and_weights(seed):
    rng = np.random.default_rng(seed)
    values, larger = rng.integers(0, 6, 30).astype(float), rng.random(30) < 0.4
    weights = rng.integers(0, 4, (3, 30)).astype(float)
    found = Ordered(values, larger).effect(weights)
    assert found == pytest.approx([pairs(values, larger, row) for row in weights], abs=1e-12)


def test_the_effect_and_ks_are_those_of_scipy():
    rng = np.random.default_rng(1)
    values, larger = np.round(rng.normal(size=400), 1), rng.random(400) < 0.5
    one, other = values[larger], values[~larger]
    ordered = Ordered(values, larger)
    u = mannwhitneyu(one, other).statistic / (len(one) * len(other))
    assert ordered.effect(np.ones((1, 400)))[0] == pytest.approx(u, abs=1e-12)
    assert ordered.ks() == pytest.approx(ks_2samp(one, other).statistic, abs=1e-12)


def test_equal_values_are_exactly_one_half_in_every_replicate():
    (found,) = several([(np.zeros((1, 31)), np.arange(31) < 10)])
    assert (found.mean, found.low, found.high, found.ks, found.runs) == (0.5, 0.5, 0.5, 0.0, (0.5,))


@given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=2, max_size=30))
def test_exchanged_groups_and_monotone_maps(drawn):
    values, larger = np.array([v for v, _ in drawn], float), np.array([b for _, b in drawn])
    single = np.ones((1, len(values)))
    found = Ordered(values, larger).effect(single)[0]
    assert Ordered(values, ~larger).effect(single)[0] == pytest.approx(1 - found, abs=1e-12)
    assert Ordered(np.exp(values), larger).effect(single)[0] == found


def test_the_interval_is_that_of_the_mann_whitney_statistic():
    n, gap = 400, 0.5
    larger = np.arange(2 * n) < n
    values = norm.ppf((np.arange(n) + 0.5) / n)
    (found,) = several([(np.r_[values + gap, values][None], larger)], replicates=2000)
    truth = norm.cdf(gap / np.sqrt(2))
    assert found.mean == pytest.approx(truth, abs=1e-3)
    # Its standard error by Hanley and McNeil's components, by counting.
    wins = (values[:, None] + gap > values[None, :]).astype(float)
    error = np.sqrt(wins.mean(axis=0).var() / n + wins.mean(axis=1).var() / n)
    assert (found.high - found.low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.08)


def test_a_record_in_several_runs_is_one_record():
    rng = np.random.default_rng(0)
    values, larger = rng.normal(size=(1, 300)), np.arange(300) < 150
    once, twice = several([(values, larger)]), several([(values, larger)] * 2)
    assert (once[0].low, once[0].high) == (twice[0].low, twice[0].high)
    other = several([(values, larger), (rng.normal(size=(1, 300)), larger)])
    assert other[0].high - other[0].low < 0.85 * (once[0].high - once[0].low)
    assert other[0].mean == pytest.approx(np.mean(other[0].runs))


def test_a_group_without_weight_is_no_trace():
    assert Ordered(np.array([1.0, 2.0]), np.array([True, False])).effect(np.array([[1.0, 0.0]])).tolist() == [0.5]
