"""Training sets: which models have nearly the same members, and what they count for."""

import numpy as np
import pytest

from reticent.auditing.training_sets import TrainingSets, near, training_sets
from reticent.data.membership import Membership


def changed(rows, share, seed=0):
    return rows ^ (np.random.default_rng(seed).random(rows.shape) < share)


def counted(rows):
    return TrainingSets.of(rows).count


def test_models_are_counted_by_their_training_sets():
    six = np.random.default_rng(0).random((6, 500)) < 0.5
    assert training_sets(six.repeat(4, axis=0)).tolist() == np.repeat(np.arange(6), 4).tolist()
    assert counted(six) == counted(six.repeat(4, axis=0)) == counted(np.tile(six, (100, 1))) == 6
    assert counted(np.vstack([six, ~six])) == 12
    assert counted(six[:1].repeat(3, axis=0)) == counted(six[:1]) == 1
    assert counted(np.ones((3, 50), bool)) == 3
    assert TrainingSets.of(six.repeat(4, axis=0)) == TrainingSets(24, 6, 6.0)


def test_so_are_models_of_nearly_the_same_members_whatever_their_share():
    six = np.random.default_rng(0).random((6, 500)) < 0.5
    rows = changed(six.repeat(4, axis=0), 0.02)
    assert counted(rows) == 6
    assert TrainingSets.of(rows[:9]) == TrainingSets(9, 3, pytest.approx(81 / (16 + 16 + 1)))
    for copies in (2, 3, 4, 8):
        assert counted(changed(six[:1].repeat(copies, axis=0), 0.01)) == 1
    for share in (0.02, 0.05):
        assert counted(np.vstack([changed(six[:1].repeat(24, axis=0), share), six[1:]])) == 6


def test_equal_rows_of_few_members_are_one_training_set_though_no_member_is_in_the_sample():
    rows = np.zeros((2, 100_000), bool)
    rows[0, 1::2500] = rows[1, 2::2500] = True
    assert counted(rows.repeat(3, axis=0)) == 2


@pytest.mark.parametrize("popularity", [2.0, 3.0])
def test_records_in_many_models_or_in_few_make_no_training_sets(popularity):
    rng = np.random.default_rng(0)
    odds = popularity * rng.choice([-1, 1], 2000)
    rows = rng.random((24, 2000)) < 1 / (1 + np.exp(-odds))
    assert (Membership(rows).likeness != 0).mean() > 0.5 or popularity < 3
    assert counted(rows) == 24
    assert counted(changed(rows.repeat(2, axis=0), 0.01)) == 24


def test_opposite_rows_of_few_records_are_opposite():
    rows = np.random.default_rng(0).random((4, 12)) < 0.5
    assert near(Membership(np.vstack([rows, ~rows]))).tolist() == np.kron([[1, -1], [-1, 1]], np.eye(4)).tolist()


def test_what_other_models_add_is_that_of_training_sets():
    each, rng = TrainingSets(24, 6, 6.0), np.random.default_rng(0)
    means = rng.normal(size=(4000, 6))
    found = each.by_models(means.repeat(4, axis=1).var(axis=1, ddof=1))
    assert found.mean() == pytest.approx(1 / 6, rel=0.03)
    assert TrainingSets.apart(6).by_models(np.array([6.0, -1.0])).tolist() == [1, 0]
    assert TrainingSets(4, 1, 1.0).by_models(np.array(3.0)) == 0
