"""Draws: models of nearly the same members, or of the opposite ones, are one, and larger ones likelier to hold each."""

import numpy as np
import pytest

from reticent.auditing.draws import Draws, log_odds
from reticent.data.membership import Membership


def draws_of(matrix):
    return Draws.make(Membership(np.asarray(matrix)))


def test_models_alone_are_a_draw_each_and_keep_their_margins():
    membership, margins = Membership.draw(8, 100, 0), np.random.default_rng(0).normal(size=(8, 5))
    draws = Draws.make(membership)
    assert draws.membership is membership.matrix
    assert draws.margins(margins, slice(0, 5)) is margins
    assert not draws.repeated
    assert draws.first.tolist() == draws.drawn.tolist() == draws.of.tolist() == list(range(8))
    assert not draws.log_odds.any()
    assert draws.count(membership.matrix).tolist() == [4] * 100


def test_models_of_the_same_members_are_one_draw_and_others_of_none_stay():
    one, other = np.random.default_rng(0).random((2, 150)) < 0.5
    none, every = np.zeros(150, bool), np.ones(150, bool)
    matrix = np.array([none, one, other, every, one, none, one])
    draws = draws_of(matrix)
    assert draws.first.tolist() == [0, 1, 2, 3, 5]
    assert draws.of.tolist() == [0, 1, 2, 3, 1, 4, 1]
    assert (draws.membership == matrix[[0, 1, 2, 3, 5]]).all()
    assert draws.drawn.tolist() == [1, 2]
    margins = np.arange(7.0)[:, None]
    assert draws.margins(margins, slice(0, 1)).ravel().tolist() == [0, pytest.approx((1 + 4 + 6) / 3), 2, 3, 5]
    assert draws.count(matrix).tolist() == (1 + one + other.astype(int)).tolist()


def test_models_of_few_records_are_one_draw_only_where_their_members_are_the_same_or_the_opposite():
    matrix = np.array([[1, 0, 1, 1, 0, 0], [1, 0, 1, 1, 0, 0], [1, 0, 1, 1, 0, 1], [0, 1, 0, 0, 1, 1]], bool)
    assert draws_of(matrix).of.tolist() == [0, 0, 1, 0]


def test_of_nearly_the_same_members_those_that_differ_on_a_record_have_no_part_in_it():
    rng = np.random.default_rng(1)
    one, other = rng.random((2, 400)) < 0.5
    near = one.copy()
    near[3] ^= True
    draws, margins = draws_of([one, other, near]), rng.normal(size=(3, 400))
    assert draws.of.tolist() == [0, 1, 0]
    found = draws.margins(margins, slice(0, 400))
    assert found[1].tolist() == margins[1].tolist()
    expected = (margins[0] + margins[2]) / 2
    expected[3] = margins[0, 3]
    assert found[0] == pytest.approx(expected)
    assert draws.margins(margins[:, [3, 7]], np.array([3, 7]))[0] == pytest.approx(expected[[3, 7]])


def test_of_complementary_pairs_the_difference_is_looked_at():
    rng = np.random.default_rng(2)
    half = rng.random((3, 400)) < 0.5
    alone = rng.random(400) < 0.5
    matrix, margins = np.vstack([half, ~half, alone[None]]), rng.normal(size=(7, 400))
    matrix[4, 5] ^= True
    draws = draws_of(matrix)
    assert draws.of.tolist() == [0, 1, 2, 0, 1, 2, 3]
    assert draws.opposite.tolist() == [False] * 3 + [True] * 3 + [False]
    found, mean = draws.margins(margins, slice(0, 400)), margins.mean(axis=0)
    whole = np.arange(400) != 5
    assert found[:3, whole] == pytest.approx((margins[:3] - margins[3:6])[:, whole])
    assert found[1, 5] == pytest.approx(margins[1, 5] - mean[5])
    assert found[3] == pytest.approx(margins[6] - mean)


def test_units_say_which_models_are_one_draw():
    """Of 20 persons, two models often hold nearly the same by chance: by records, it would be a design."""
    persons = np.random.default_rng(0).random((40, 20)) < 0.5
    matrix = persons.repeat(50, axis=1)
    assert not Draws.make(Membership(matrix), Membership(persons)).repeated
    assert draws_of(matrix).repeated


@pytest.mark.parametrize("popularity", [0.0, 2.0])
def test_odds_are_those_that_the_models_were_drawn_with(popularity):
    rng = np.random.default_rng(0)
    expected = np.repeat([-1.0, 1.0], 16)
    odds = expected[:, None] + popularity * rng.choice([-1, 1], 5000)
    membership = rng.random((32, 5000)) < 1 / (1 + np.exp(-odds))
    found = log_odds(membership)
    assert found == pytest.approx(expected, abs=0.2)
    assert found[16:].mean() - found[:16].mean() == pytest.approx(2, abs=0.06)
    assert log_odds(np.hstack([membership, np.ones((32, 5000), bool)])) == pytest.approx(found)
    assert found.sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("models", "off"), [(4, 0.3), (8, 0.15), (16, 0.1)])
def test_odds_are_right_of_records_that_are_all_in_half_of_the_models(models, off):
    rng, odds = np.random.default_rng(0), np.repeat([-1.0, 1.0], models // 2)
    drawn = rng.random((models, 20_000)) < 1 / (1 + np.exp(-odds[:, None]))
    found = log_odds(drawn[:, drawn.sum(axis=0) == models // 2])
    assert found[models // 2 :].mean() - found[: models // 2].mean() == pytest.approx(2, abs=off)


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
    parts = draws_of(membership).apart(np.array(targets), np.array(references))
    return [(at.tolist(), np.flatnonzero(among).tolist()) for at, among in parts]


def test_models_apart_are_compared_in_one_part():
    membership = Membership.draw(6, 100, 0).matrix
    assert parts_of(membership, [4, 2], [5, 2, 0, 4]) == [([0, 1], [0, 2, 4, 5])]
    assert parts_of(membership, [1], [5, 2, 0]) == [([0], [0, 2, 5])]  # A target that is no reference.
    opposite = np.vstack([membership[:3], ~membership[:3]])
    assert parts_of(opposite, [0, 1, 2], range(6)) == [([0, 1, 2], list(range(6)))]


def test_a_target_is_never_compared_with_a_copy_of_its_membership():
    one, other, third = np.random.default_rng(0).random((3, 50)) < 0.5
    membership = np.array([one, other, one, third, other, one, np.zeros(50, bool), np.zeros(50, bool)])
    every = range(8)
    found = parts_of(membership, [0, 1, 2, 3, 4, 5], every)
    assert found == [([0, 1, 3], [0, 1, 3, 6, 7]), ([2, 4], [2, 3, 4, 6, 7]), ([5], [3, 4, 5, 6, 7])]
    for at, rows in found:
        assert set(at) <= set(rows)
        assert len({membership[row].tobytes() for row in rows if row < 6}) == 3
    assert parts_of(membership, [0], [1, 2, 3]) == []
    assert parts_of(membership, [0], [1, 3, 4]) == [([0], [1, 3])]
