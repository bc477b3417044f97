"""f-DP in one run: the recursion step by step, known values, many guesses, and a mechanism of known mu."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from reticent.auditing.epsilon import FDp, OneRun, f_dp
from reticent.auditing.epsilon.base import Groups, groups
from reticent.auditing.epsilon.bounds import bounds
from reticent.auditing.epsilon.f_dp import _mu
from reticent.auditing.epsilon.gaussian import gaussian_epsilon
from reticent.auditing.epsilon.one_run import one_run_epsilon
from reticent.errors import InputError

KNOWN = [
    (90, 100, 100, 0.8414, 1.6149),
    (900, 1000, 1000, 0.8804, 2.0132),
    (100, 100, 100, 1.7032, 3.4930),
    (95, 100, 1000, 0.7868, 2.1563),
]


def refuted(right, guesses, records, inverse, tau):
    """The paper's recursion, every step."""
    h, r = {right: tau * (guesses - right) / records}, {right: tau * right / records}
    for i in range(right - 1, -1, -1):
        h[i] = max(h[i + 1], inverse(r[i + 1]))
        r[i] = r[i + 1] + i / (guesses - i) * (h[i] - h[i + 1])
    return r[0] + h[0] > guesses / records


def largest(right, guesses, records, inverse, tau=0.05):
    low, high = 0.0, 16.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(right, guesses, records, inverse(middle), tau) else (low, middle)
    return low


def gaussian(mu):
    return lambda x: float(ndtr(ndtri(min(x, 1.0)) - mu))


def pure(epsilon):
    return lambda x: max(0.0, math.exp(-epsilon) * x, 1 - math.exp(epsilon) * max(0.0, 1 - x))


@pytest.mark.parametrize(("right", "guesses", "records", "mu", "_"), KNOWN)
def test_known_values(right, guesses, records, mu, _):
    assert _mu(right, guesses, records, 0.05) == pytest.approx(mu, abs=5e-5)


@pytest.mark.parametrize(("right", "guesses", "records", "_", "epsilon"), KNOWN)
def test_for_pure_epsilon_the_recursion_never_exceeds_the_binomial_bound(right, guesses, records, _, epsilon):
    found = largest(right, guesses, records, pure)
    assert found == pytest.approx(epsilon, abs=5e-5)
    assert found <= one_run_epsilon(right, guesses, records) + 1e-4


@settings(max_examples=25, deadline=None)
@given(guesses=st.integers(1, 80), share=st.floats(0, 1), more=st.integers(0, 200), alpha=st.sampled_from([0.2, 0.05]))
def test_it_is_the_recursion_of_every_step(guesses, share, more, alpha):
    right, records = round(share * guesses), guesses + more
    found = _mu(right, guesses, records, alpha)
    expected = largest(right, guesses, records, gaussian, alpha)
    assert found == pytest.approx(expected, abs=2e-6)
    assert found <= expected  # never above it, by any tolerance of the search


@pytest.mark.parametrize(("right", "guesses", "records"), [(24_990, 25_000, 25_000), (12_700, 25_000, 25_000)])
def test_many_guesses_take_every_step_that_counts(right, guesses, records):
    found = _mu(right, guesses, records, 0.05)
    assert refuted(right, guesses, records, gaussian(found), 0.05)
    assert not refuted(right, guesses, records, gaussian(found + 2 * f_dp.TOLERANCE), 0.05)


def test_nothing_is_refuted_by_chance():
    assert _mu(50, 100, 100, 0.05) == 0
    assert _mu(0, 100, 100, 0.05) == 0
    assert _mu(55, 100, 1_000, 0.05) == 0
    assert _mu(1, 1, 1, 0.05) == 0


def test_a_gaussian_mechanism_is_bounded_from_below_and_better_than_without_its_form():
    """mu = 1 and 1,000 records, the surest 100 of them guessed: .62 on average, and epsilon(1e-5) 2.5 against 1.7."""
    rng, found, binomial = np.random.default_rng(0), [], []
    for _ in range(40):
        members = rng.random(1_000) < 0.5
        said = rng.normal(size=1_000) + members - 0.5
        surest = np.argsort(-np.abs(said))[:100]
        right = int(((said[surest] > 0) == members[surest]).sum())
        found.append(_mu(right, 100, 1_000, 0.05))
        binomial.append(one_run_epsilon(right, 100, 1_000, 1e-5))
    assert np.mean(found) == pytest.approx(0.62, abs=0.06)
    assert np.mean(np.array(found) > 1) <= 0.15
    assert np.mean(gaussian_epsilon(found, 1e-5)) > np.mean(binomial) + 0.3


def test_a_planted_gaussian_leak_is_found_and_none_where_there_is_none():
    rng = np.random.default_rng(1)
    members = rng.random(4_000) < 0.5
    noise = rng.normal(size=4_000)
    true = float(gaussian_epsilon(2.0, 1e-5))
    found = bounds(noise + 2.0 * members, members, FDp(), delta=1e-5, rng=rng)[0]
    assert 0.5 * true < found < true
    assert found > bounds(noise + 2.0 * members, members, OneRun(), delta=1e-5, rng=rng)[0]
    none = [bounds(rng.normal(size=400), rng.random(400) < 0.5, FDp(), delta=1e-5, rng=rng)[0] for _ in range(60)]
    assert np.count_nonzero(none) <= 8  # the 99 % quantile of 60 bounds that err in 5 %


def test_what_is_chosen_on_one_part_is_judged_on_the_other(monkeypatch):
    rng = np.random.default_rng(2)
    members = np.arange(1_000) % 2 == 0
    noise = rng.normal(size=1_000)
    (clear,), (chance,) = groups((noise + 9 * members)[None], members[None]), groups(noise[None], members[None])
    found = []
    for parts in ((clear, chance), (clear, clear)):
        monkeypatch.setattr(Groups, "split", lambda *_, parts=parts: parts)
        found.append(f_dp.bound(FDp(), clear, 1e-5, 0.05, rng))
    assert found[0] == 0
    assert found[1] == pytest.approx(float(gaussian_epsilon(_mu(1_000, 1_000, 1_000, 0.05), 1e-5)), rel=0.2)


def test_errors_name_what_is_wrong():
    members = np.arange(1_000) < 900
    with pytest.raises(InputError, match="'f-dp' needs records that are members with probability 1/2 each"):
        bounds(np.arange(1_000.0), members, FDp(), delta=1e-5, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="delta: the method 'f-dp' needs a delta above 0"):
        bounds(np.arange(1_000.0), members, FDp(), delta=0, rng=np.random.default_rng(0))
