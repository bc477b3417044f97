"""Gaussian differential privacy: delta and epsilon of each other, where doubles give out, and the words of errors."""

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from reticent.auditing.epsilon.gaussian import gaussian_delta, gaussian_epsilon
from reticent.errors import InputError


def plain(mu, epsilon):
    return ndtr(-epsilon / mu + mu / 2) - math.exp(epsilon) * ndtr(-epsilon / mu - mu / 2)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 2.0])
def test_delta_is_the_formula_where_doubles_can_do_it(mu, epsilon):
    assert gaussian_delta(mu, epsilon) == pytest.approx(plain(mu, epsilon), rel=1e-7, abs=1e-15)


def test_a_table_of_known_values():
    # Dong, Roth and Su (2022): delta(0) is the total variation 2 Phi(mu/2) - 1.
    assert gaussian_delta([0.5, 1, 6], 0) == pytest.approx(2 * ndtr([0.25, 0.5, 3]) - 1, rel=1e-12)
    assert gaussian_delta(1.0, 1.0) == pytest.approx(0.12693674, abs=1e-8)
    assert gaussian_epsilon(1.0, 1e-5) == pytest.approx(4.37717, abs=1e-4)


def tail(x, terms=400):
    """Phi(-x) in 60 digits, for x of at least 2, by Laplace's continued fraction."""
    getcontext().prec = 60
    x = Decimal(x)
    fraction = x
    for k in range(terms, 0, -1):
        fraction = x + Decimal(k) / fraction
    pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
    return (-x * x / 2).exp() / (2 * pi).sqrt() / fraction


@pytest.mark.parametrize(("mu", "epsilon"), [(1.0, 30.0), (0.5, 10.0), (3.0, 100.0), (10.0, 400.0), (0.01, 0.2)])
def test_delta_is_exact_in_the_far_tail(mu, epsilon):
    getcontext().prec = 60
    m, e = Decimal(mu), Decimal(epsilon)
    exact = tail(e / m - m / 2) - e.exp() * tail(e / m + m / 2)
    assert float(gaussian_delta(mu, epsilon)) == pytest.approx(float(exact), rel=1e-9)


@given(mu=st.floats(0.01, 30), power=st.floats(-14, -1))
def test_epsilon_and_delta_are_inverse(mu, power):
    delta = 10**power
    epsilon = float(gaussian_epsilon(mu, delta))
    if epsilon == 0:
        assert gaussian_delta(mu, 0) <= delta * (1 + 1e-9)
    else:
        assert gaussian_delta(mu, epsilon) == pytest.approx(delta, rel=1e-6)


def test_it_is_monotone_and_takes_arrays():
    mus = np.geomspace(0.05, 60, 40)
    epsilons = gaussian_epsilon(mus, 1e-5)
    assert epsilons.shape == (40,)
    assert (np.diff(epsilons) > 0).all()
    deltas = gaussian_delta(mus[:, None], np.linspace(0, 50, 30))
    assert (np.diff(deltas, axis=1) <= 0).all()
    assert ((deltas >= 0) & (deltas <= 1)).all()
    assert np.isfinite(gaussian_epsilon(500.0, 1e-12))
    assert gaussian_delta(60.0, 0.0) == 1.0


def test_no_leak_and_a_delta_that_pays_for_it_all():
    assert gaussian_epsilon(0.0, 1e-5) == 0
    assert gaussian_epsilon(0.1, 0.5) == 0
    assert gaussian_epsilon(np.array([0.0, 1.0]), 0.9).tolist() == [0, 0]


def test_errors_name_what_is_wrong():
    with pytest.raises(InputError, match="mu: expected a number above 0, got 0"):
        gaussian_delta(0.0, 1.0)
    with pytest.raises(InputError, match=r"epsilon: expected a number of at least 0, got -1\.0"):
        gaussian_delta(1.0, -1.0)
    with pytest.raises(InputError, match=r"mu: expected a number above 0, got -2\.0"):
        gaussian_epsilon(-2.0, 0.1)
    with pytest.raises(InputError, match="delta: expected a number above 0, got 0: there a Gaussian mechanism has no"):
        gaussian_epsilon(1.0, 0.0)
    with pytest.raises(InputError, match=r"delta: expected a number from 0 up to, .* got 1\.5"):
        gaussian_epsilon(1.0, 1.5)
    with pytest.raises(InputError, match="mu: expected finite numbers"):
        gaussian_epsilon(np.inf, 0.1)
