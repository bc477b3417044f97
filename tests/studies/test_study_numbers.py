"""Estimates, measures and what becomes of them over seeds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reticent.auditing.bootstrap import bootstrap
from reticent.auditing.comparison.paired import bootstrapped
from reticent.auditing.roc import auc
from reticent.errors import InputError
from reticent.findings.study import CloudPanel, DensityPanel, Heights
from reticent.studies.base import Found
from reticent.studies.judging import reaches
from reticent.studies.numbers import Estimate, Pooled, Replicated, combined

numbers = st.floats(-5, 5)


def test_an_estimate_over_values_has_students_interval():
    values = [0.3, 0.5, 0.9, 0.7]
    found = Estimate.over(values)
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert found.value == pytest.approx(0.6)
    assert found.limits() == pytest.approx((low, high))
    assert Estimate.over([0.4]).limits() == (0.4, 0.4)


def test_an_estimate_of_many_degrees_of_freedom_has_the_normal_interval():
    assert Estimate(1.0, 2.0).limits(0.9) == pytest.approx(stats.norm.interval(0.9, 1.0, 2.0))


def test_an_estimate_from_an_interval_has_that_interval():
    assert Estimate.between(0.6, 0.55, 0.65).limits() == pytest.approx((0.55, 0.65))


def test_what_one_seed_gave_survives_json():
    numbers = {("a", "auc"): Estimate(0.1, 0.02, 7.5), ("a", "loss"): Estimate(0.1, 0.02, partial=True)}
    cloud = CloudPanel(title="All", points=((-1.5, -2.0, 7), (0.0, -1e-3, 1)))
    density = DensityPanel(title="stage 1", edges=(0.0, 0.1), series=(Heights(label="one", heights=(1.0,)),))
    found = Found({"a": "word"}, numbers, (cloud, density), ["seed 0: a note"])
    assert Found.from_json(found.to_json()) == found


def measures(seed, targets=6, records=80):
    """Two attacks' AUCs on the same targets, with replicates that take the same records."""
    rng = np.random.default_rng(seed)
    members = rng.permuted(np.tile([True, False], (records, targets // 2)), axis=1).T
    made, strapped = [], []
    for shift in (1.0, 0.6):
        scores = rng.normal(size=members.shape) + shift * members
        drawn = bootstrap(scores, members, (), 200, np.random.default_rng(9), oracle=False)
        observed = auc(scores, members)
        made.append(Replicated(observed, drawn.replicated(0, observed), records // 2))
        strapped.append((drawn, observed))
    return made, strapped


@pytest.mark.parametrize("seed", range(5))
def test_a_difference_of_measures_is_that_of_the_comparison(seed):
    (one, two), strapped = measures(seed)
    found = combined([(1.0, one), (-1.0, two)])
    wanted = bootstrapped(*strapped, 0, one.counted, 0.95)
    assert found.value == pytest.approx(wanted.difference)
    assert found.limits() == pytest.approx(wanted.interval)


def test_a_difference_of_differences_of_the_same_rows_is_the_difference():
    (one, two), _ = measures(3)
    plain = combined([(1.0, one), (-1.0, two)])
    again = combined([(1.0, one), (-1.0, two), (-1.0, one), (1.0, one)])
    assert again.value == pytest.approx(plain.value)
    assert again.error == pytest.approx(plain.error)


def test_a_measure_less_itself_is_zero_with_little_error():
    (one, _), _ = measures(1)
    found = combined([(1.0, one), (-1.0, one)])
    assert found.value == 0
    assert 0 < found.error < 0.05


def test_a_measure_that_does_not_vary_is_bounded_by_its_records():
    still = Replicated(np.zeros(4), np.zeros((100, 4)), 50)
    low, high = still.estimate().limits()
    assert low < 0 < high
    assert high - low == pytest.approx(1 - 0.025 ** (1 / 50))
    loss = Replicated(np.full(4, 3.0), np.full((100, 4), 3.0), 50)
    assert loss.estimate() == Estimate(3.0)


def test_few_seeds_have_the_mean_of_their_limits():
    pooled = Pooled((Estimate(0.1, 0.02), Estimate(0.3, 0.04)))
    assert pooled.value == pytest.approx(0.2)
    assert pooled.over_seeds() is None
    assert pooled.limits() == pytest.approx(np.mean([one.limits() for one in pooled.each], axis=0))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_error_that_leaves_something_out_is_no_interval_before_three_seeds(count):
    each = [Estimate.between(0.56, 0.555, 0.565, partial=True), Estimate.over([0.56, 0.561, 0.559], partial=True)]
    for one in each:
        pooled = Pooled((one,) * count)
        assert one.partial
        assert pooled.bounded == (count == 3) == (pooled.finding().interval is not None)
        assert reaches("effect", pooled, 0.55, lower=True).answer() == ("no" if count == 3 else "open")


def test_from_three_seeds_on_the_wider_end_counts():
    near = Pooled(tuple(Estimate(value, 0.2) for value in (0.1, 0.1001, 0.0999)))
    assert near.limits() == pytest.approx(near.within())
    far = Pooled(tuple(Estimate(value, 0.001) for value in (0.1, 0.5, 0.9)))
    assert far.limits() == pytest.approx(stats.t.interval(0.95, 2, 0.5, 0.4 / 3**0.5))


@given(st.lists(st.tuples(numbers, st.floats(0, 3)), min_size=1, max_size=6), st.floats(0.5, 0.99))
def test_limits_hold_the_mean_and_grow_with_confidence(pairs, confidence):
    pooled = Pooled(tuple(Estimate(value, error) for value, error in pairs))
    low, high = pooled.limits(confidence)
    wider = pooled.limits(confidence + 0.005)
    slack = 1e-9
    assert low - slack <= pooled.value <= high + slack
    assert wider[0] <= low + slack
    assert wider[1] >= high - slack


def test_no_seed_is_an_error():
    with pytest.raises(InputError, match="at least one seed"):
        Pooled(())


def test_the_plain_form_holds_both_intervals():
    plain = Pooled(tuple(Estimate(value, 0.01, 9.0) for value in (0.1, 0.2, 0.6))).finding()
    assert plain.seeds == (0.1, 0.2, 0.6)
    within, over = plain.within, plain.over_seeds
    assert plain.interval == (min(within[0], over[0]), max(within[1], over[1]))
