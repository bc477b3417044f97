"""Draws: models of the same members are one, and models that hold more records are likelier to hold each."""

import numpy as np
import pytest

from reticent.auditing.draws import Draws, apart, log_odds
from reticent.data.membership import Membership


def test_models_alone_are_a_draw_each_and_keep_their_margins():
    membership = Membership.draw(8, 100, 0).matrix
    draws, margins = Draws.of(membership), np.random.default_rng(0).normal(size=(8, 5))
    assert draws.membership is membership
    assert draws.mean(margins) is margins
    assert not draws.repeated
    assert draws.first.tolist() == draws.drawn.tolist() == list(range(8))
    assert not draws.log_odds.any()


def test_models_of_the_same_members_are_one_draw_and_others_of_none_stay():
    one, other = np.random.default_rng(0).random((2, 50)) < 0.5
    none, every = np.zeros(50, bool), np.ones(50, bool)
    matrix = np.array([none, one, other, every, one, none, one])
    draws = Draws.of(matrix)
    assert draws.first.tolist() == [0, 1, 2, 3, 5]
    assert (draws.membership == matrix[[0, 1, 2, 3, 5]]).all()
    assert draws.drawn.tolist() == [1, 2]
    margins = np.arange(7.0)[:, None]
    assert draws.mean(margins).ravel().tolist() == [0, pytest.approx((1 + 4 + 6) / 3), 2, 3, 5]


def test_odds_are_those_of_the_shares_of_records_and_of_records_in_all_models_there_is_nothing_to_learn():
    rng = np.random.default_rng(0)
    membership = rng.random((32, 5000)) < np.repeat([0.25, 0.75], 16)[:, None]
    expected = np.repeat([-np.log(3), np.log(3)], 16)
    assert log_odds(membership) == pytest.approx(expected, abs=0.2)
    assert log_odds(np.hstack([membership, np.ones((32, 5000), bool)])) == pytest.approx(log_odds(membership))
    assert log_odds(membership).sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("kind", ["halves", "coins", "complements", "persons", "uneven persons"])
def test_fair_draws_have_equal_odds(kind):
    told = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        membership = {
            "halves": lambda seed=seed: Membership.draw(16, 500, seed).matrix,
            "coins": lambda rng=rng: rng.random((16, 500)) < 0.5,
            "complements": lambda rng=rng: (lambda half: np.vstack([half, ~half]))(rng.random((8, 500)) < 0.5),
            "persons": lambda rng=rng: (rng.random((16, 50)) < 0.5).repeat(10, axis=1),
            "uneven persons": lambda rng=rng: (rng.random((16, 100)) < 0.5).repeat(np.arange(100) % 9 + 1, axis=1),
        }[kind]()
        told += log_odds(membership).any()
    assert told <= 1


def parts_of(membership, targets, references):
    parts = apart(membership, np.array(targets), np.array(references))
    return [(at.tolist(), np.flatnonzero(among).tolist()) for at, among in parts]


def test_models_apart_are_compared_in_one_part():
    membership = Membership.draw(6, 100, 0).matrix
    assert parts_of(membership, [4, 2], [5, 2, 0, 4]) == [([0, 1], [0, 2, 4, 5])]
    assert parts_of(membership, [1], [5, 2, 0]) == [([0], [0, 2, 5])]  # A target that is no reference.


def test_a_target_is_never_compared_with_a_copy_of_its_membership():
    one, other, third = np.random.default_rng(0).random((3, 50)) < 0.5
    membership = np.array([one, other, one, third, other, one, np.zeros(50, bool), np.zeros(50, bool)])
    every = range(8)
    found = parts_of(membership, [0, 1, 2, 3, 4, 5], every)
    assert found == [([0, 1, 3], [0, 1, 3, 6, 7]), ([2, 4], [2, 3, 4, 6, 7]), ([5], [3, 4, 5, 6, 7])]
    for at, rows in found:
        assert set(at) <= set(rows)
        assert len({membership[row].tobytes() for row in rows if row < 6}) == 3
    assert apart(membership, np.array([0]), np.array([1, 2, 3])) == []
    assert parts_of(membership, [0], [1, 3, 4]) == [([0], [1, 3])]
