"""Degrees of freedom by hand, where a quantile of Student's law is taken and other tests leave one more or less."""

import numpy as np
import pytest
from right_answers import right
from scipy.stats import norm, t

from reticent.auditing.bootstrap import MANY, Variance
from reticent.auditing.comparison.compare import RowScores, compare
from reticent.auditing.comparison.paired import crossed
from reticent.auditing.intervals import degenerate, widened
from reticent.auditing.training_sets import TrainingSets
from reticent.findings.numbers import Estimate


def test_the_crossed_variance_has_those_of_its_models_whatever_their_share():
    assert Variance(0.0, 2.0, 5).freedom == Variance(1.0, 1.0, 5).freedom == Variance(1.0, 0.0, 5).freedom == 4
    assert Variance(1.0, 0.0, 1).freedom == MANY
    assert Variance(1.0, 1.0, 5).student(0.9) == pytest.approx(t.ppf(0.95, 4) / norm.ppf(0.95))


@pytest.mark.parametrize("targets", [2, 5])
def test_an_accuracy_over_models_has_students_interval(targets):
    members = np.random.default_rng(0).permuted(np.tile(np.arange(200) < 100, (targets, 1)), axis=1)
    accuracies = np.array([0.5, 0.52, 0.47, 0.51, 0.5])[:targets]
    scores = {"loss": np.random.default_rng(1).normal(size=members.shape)}
    answers = right(members, accuracies, accuracies)
    rows = [RowScores(name, scores, members, correct=answers) for name in ("plain", "other")]
    found = compare(rows, fpr=0.1, rng=np.random.default_rng(0), replicates=200).rows[0].accuracy.members
    error = crossed(answers.astype(float), members, TrainingSets.apart(len(members)))[1].total ** 0.5
    expected = t.interval(0.95, targets - 1, np.mean(accuracies), error)
    assert found.interval == pytest.approx([max(0, expected[0]), min(1, expected[1])], rel=1e-9)


def test_equal_accuracies_are_bounded_by_the_fewest_records():
    members = np.arange(40) < np.array([[10], [30]])
    scores = {"loss": np.random.default_rng(1).normal(size=members.shape)}
    rows = [RowScores(name, scores, members, correct=right(members, 1.0, 1.0)) for name in ("plain", "other")]
    found = compare(rows, fpr=0.1, rng=np.random.default_rng(0), replicates=200).rows[0].accuracy
    assert found.members.interval == found.non_members.interval == degenerate(1.0, 10, 0.95)


def test_an_interval_is_widened_for_a_choice_by_its_own_degrees_of_freedom():
    known = Estimate(mean=0.5, std=0.01, interval=(0.48, 0.53), freedom=3.0)
    stretch = t.ppf(1 - 0.025 / 4, 3) / t.ppf(1 - 0.025, 3)
    assert widened(known, 0.95, 4) == pytest.approx((0.5 - 0.02 * stretch, 0.5 + 0.03 * stretch), rel=1e-9)
    many = Estimate(mean=0.5, std=0.01, interval=(0.48, 0.53))
    stretch = norm.ppf(1 - 0.025 / 4) / norm.ppf(1 - 0.025)
    assert widened(many, 0.95, 4) == pytest.approx((0.5 - 0.02 * stretch, 0.5 + 0.03 * stretch), rel=1e-9)
