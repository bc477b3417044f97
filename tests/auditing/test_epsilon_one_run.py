"""Auditing with one run: the paper's p-value step by step, its closed form, dependent records, and the choice."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from reticent.auditing.epsilon import AllThresholds, OneRun
from reticent.auditing.epsilon.base import groups
from reticent.auditing.epsilon.bounds import bounds
from reticent.auditing.epsilon.guesses import balanced, cuts
from reticent.auditing.epsilon.one_run import one_run_epsilon, p_value
from reticent.errors import InputError


def naive(right, guesses, records, epsilon, delta):
    """Theorem 5.2 by its sums: beta + 2 m delta max_i P[v - i <= W < v] / i."""
    q = math.exp(epsilon) / (1 + math.exp(epsilon))
    steepest, between = 0.0, 0.0
    for i in range(1, right + 1):
        between += binom.pmf(right - i, guesses, q)
        steepest = max(steepest, between / i)
    return min(1.0, binom.sf(right - 1, guesses, q) + 2 * records * delta * steepest)


@settings(max_examples=60, deadline=None)
@given(guesses=st.integers(1, 400), share=st.floats(0, 1), epsilon=st.floats(0, 6), power=st.floats(-8, -2))
def test_the_p_value_equals_the_sums(guesses, share, epsilon, power):
    right = round(share * guesses)
    expected = naive(right, guesses, 1_000, epsilon, 10**power)
    assert p_value(right, guesses, 1_000, epsilon, 10**power) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_the_p_value_of_many_guesses_equals_the_sums():
    for right, guesses in ((3_000, 5_000), (2_000, 2_000), (4_900, 5_000)):
        epsilon = math.log(right / max(guesses - right, 1)) - 0.05
        expected = naive(right, guesses, 40_000, epsilon, 1e-6)
        assert p_value(right, guesses, 40_000, epsilon, 1e-6) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("right", "guesses"), [(90, 100), (100, 100), (600, 1_000), (30_000, 50_000)])
def test_without_delta_it_is_the_logit_of_clopper_and_pearsons_limit(right, guesses):
    limit = beta.ppf(0.05, right, guesses - right + 1)
    assert one_run_epsilon(right, guesses, 100_000) == pytest.approx(math.log(limit / (1 - limit)), rel=1e-9)


@pytest.mark.parametrize("delta", [1e-8, 1e-6, 1e-5])
def test_the_bound_is_where_the_p_value_reaches_the_error_rate(delta):
    found = one_run_epsilon(1_900, 2_000, 5_000, delta, 0.95)
    assert naive(1_900, 2_000, 5_000, found, delta) <= 0.05
    assert naive(1_900, 2_000, 5_000, found + 1e-6, delta) > 0.05
    assert found < one_run_epsilon(1_900, 2_000, 5_000)


def test_nothing_is_refuted_by_chance_or_under_a_large_delta():
    assert one_run_epsilon(50, 100, 100) == 0
    assert one_run_epsilon(0, 100, 100, 1e-5) == 0
    assert one_run_epsilon(1, 1, 1) == 0
    assert one_run_epsilon(95, 100, 1_000, 0.1) == 0


def test_randomized_response_under_all_guesses():
    """Each answer is true with probability q: guessing all of them is the best, and the bound is just below."""
    rng = np.random.default_rng(0)
    members = rng.random(40_000) < 0.5
    answers = members ^ (rng.random(40_000) < 1 / (1 + math.exp(1.5)))
    again = copy.deepcopy(rng)
    found = bounds(answers.astype(float), members, OneRun(), delta=0, rng=rng)[0]
    assert 1.4 < found < 1.5
    _, judged = next(groups(answers[None].astype(float), members[None])).split(0.5, again)
    assert len(judged) == pytest.approx(20_000, rel=0.03)  # guessed are those that were not used to choose
    right = int((judged.members == 1).sum() + (judged.non_members == 0).sum())
    assert found == pytest.approx(one_run_epsilon(right, len(judged), len(judged)), abs=1e-8)


def test_dependent_records_are_covered_where_exact_limits_are_not():
    """A training that gives all memberships away once in ten is (0, 0.1)-DP: records leak together or not at all."""
    rng = np.random.default_rng(1)
    positive = {"one-run": 0, "all-thresholds": 0}
    for _ in range(400):
        members = rng.random(200) < 0.5
        scores = members.astype(float) if rng.random() < 0.1 else rng.random(200)
        for method in (OneRun(), AllThresholds()):
            positive[method.method] += bounds(scores, members, method, delta=0.1, rng=rng)[0] > 0
    assert positive["one-run"] <= binom.ppf(0.99, 400, 0.05)
    assert positive["all-thresholds"] > binom.ppf(0.99, 400, 0.05)  # they assume independent records, and say so


def test_ties_are_guessed_together():
    members = np.array([True, False] * 10)
    (own,) = groups(np.repeat([[3.0, 1.0, 0.0]], [4, 6, 10], axis=1), members[None])
    _, guesses = cuts(own).count(own)
    # 1, 2 or 4 of the highest are the four that score 3; 8 are the ten from 1 on; the lowest are always ten.
    assert guesses.tolist() == [4, 4, 4, 10, 10, 10, 10, 10, 14, 14, 14, 20]


def test_equal_scores_are_one_guess():
    (own,) = groups(np.zeros((1, 40)), (np.arange(40) < 20)[None])
    right, guesses = cuts(own).count(own)
    assert set(guesses.tolist()) == {40}
    assert set(right.tolist()) == {20}


def test_what_fair_coins_can_give():
    assert balanced(50_500, 100_000)
    assert not balanced(51_000, 100_000)
    assert balanced(1, 2)
    assert balanced(0, 2)
    assert not balanced(667, 1_000)


def test_errors_name_what_is_wrong():
    with pytest.raises(
        InputError, match=r"right: expected 0 <= right <= guesses <= records with a guess, got 5, 4 and 9"
    ):
        one_run_epsilon(5, 4, 9)
    with pytest.raises(InputError, match="with a guess, got 0, 0 and 9"):
        one_run_epsilon(0, 0, 9)
    with pytest.raises(InputError, match="delta: expected a number from 0"):
        one_run_epsilon(4, 4, 9, -1e-5)
    with pytest.raises(InputError, match="confidence: expected a number between 0 and 1"):
        one_run_epsilon(4, 4, 9, 0, 1)
