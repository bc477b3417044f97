"""The crossed variance in closed form: small cases computed by hand, so that a lost factor shows."""

import numpy as np
import pytest
from scipy.stats import beta

from reticent.auditing.bootstrap import crossed_variance
from reticent.auditing.intervals import area_interval
from reticent.auditing.moments import Moments, share_interval
from reticent.auditing.training_sets import TrainingSets


def moments(observed, each, mean, records=10):
    values = np.array(observed)[:, None], np.array(each)[:, None], np.array([mean]), np.array([records])
    return Moments(*values, TrainingSets.apart(len(observed)))


def test_other_models_add_what_the_interaction_does_not_explain():
    # s^2 = 0.02; T / (T - 1) (0.005 - 0.002) = 0.006; (0.02 - 0.006) / 2.
    assert moments([0.5, 0.7], [0.004, 0.006], 0.002).by_models()[0] == pytest.approx(0.007, abs=1e-12)
    # s^2 = 0.01; 3 / 2 (0.004 - 0.002) = 0.003; (0.01 - 0.003) / 3.
    assert moments([0.5, 0.6, 0.7], [0.004] * 3, 0.002).by_models()[0] == pytest.approx(0.007 / 3, abs=1e-12)


def test_other_models_never_take_anything_away():
    assert moments([0.5, 0.5], [0.004, 0.006], 0.002).by_models()[0] == 0
    assert moments([0.5], [0.004], 0.004).by_models()[0] == 0


@pytest.mark.parametrize(
    ("targets", "records", "degrees"),
    [(1, 10, 8), (2, 10, 1), (5, 10, 4), (20, 10, 8), (1, 2, 1), (5, 2, 1)],
)
def test_degrees_of_freedom_are_those_of_the_fewer_models_or_records(targets, records, degrees):
    assert moments([0.5] * targets, [0.004] * targets, 0.002, records).variance()[1][0] == degrees


def test_the_variance_is_the_sum_of_its_parts():
    assert moments([0.5, 0.7], [0.004, 0.006], 0.002).variance()[0][0] == pytest.approx(0.009, abs=1e-12)


def test_the_bootstraps_variance_by_hand():
    values, observed = np.array([[0.4, 0.6], [0.6, 0.6], [0.5, 0.9]]), np.array([0.5, 0.7])
    found = crossed_variance(values, observed)
    assert found.by_records == pytest.approx(np.var([0.5, 0.6, 0.7], ddof=1))
    # 2 s^2 = 0.04; the mean of s*^2 over replicates is (0.02 + 0 + 0.08) / 3.
    assert found.by_models == pytest.approx((0.04 - 0.1 / 3) / 2)


def test_a_mean_area_has_students_arms_on_the_logit_scale():
    # Student's quantile at 0.975 with 5 degrees of freedom is 2.570582; the slope of the logit at 0.8 is 1 / 0.16.
    arm = 2.570582 * 0.02 / 0.16
    low, high = np.log(4) - arm, np.log(4) + arm
    found = area_interval(0.8, 0.02**2, 5.0, 100, 0.95)
    assert found == pytest.approx((1 / (1 + np.exp(-low)), 1 / (1 + np.exp(-high))), abs=1e-7)


@pytest.mark.parametrize(
    ("value", "variance", "sizes", "effective"),
    [
        (0.3, 0.3 * 0.7 / 50, (10, 1000), 50),
        (0.3, 0.3 * 0.7 / 5000, (10, 1000), 1000),  # at most as many as there are
        (0.3, 0.0, (10, 1000), 10),
        (0.3, 10.0, (10, 1000), 1),
    ],
)
def test_a_mean_share_has_exact_limits_at_the_effective_number_of_trials(value, variance, sizes, effective):
    # Korn and Graubard: the normal quantile over Student's with 5 degrees of freedom, squared.
    trials = effective * (1.959964 / 2.570582) ** 2
    hits = value * trials
    low = beta.ppf(0.025, hits, trials - hits + 1)
    high = beta.ppf(0.975, hits + 1, trials - hits)
    assert share_interval(value, variance, 5.0, sizes, 0.95) == pytest.approx((low, high), abs=1e-6)
