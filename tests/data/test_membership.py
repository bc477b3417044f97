"""Membership: the exact halves of Carlini et al. (2022), and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.data.membership import Membership, as_membership, divided
from reticent.errors import InputError, ShapeError


@given(st.integers(2, 17), st.integers(17, 60), st.integers(0, 2**32))
def test_each_record_is_in_exactly_half_of_the_models(models, records, seed):
    matrix = Membership.draw(models, records, seed).matrix
    assert matrix.shape == (models, records)
    assert matrix.dtype == np.bool_
    assert (matrix.sum(axis=0) == (models + 1) // 2).all()
    if models % 2 == 0:
        assert matrix.sum(axis=1).mean() == records / 2


def test_the_seed_decides():
    first, again, other = (Membership.draw(8, 500, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.matrix, again.matrix)
    assert first.digest == again.digest != other.digest
    # Two independent draws agree in half of the cells; 4,000 cells, so 5 deviations are below 0.04.
    assert abs((first.matrix == other.matrix).mean() - 0.5) < 0.04


def test_rows_are_fair_and_unrelated():
    matrix = Membership.draw(16, 20_000, 3).matrix
    assert np.abs(matrix.mean(axis=1) - 0.5).max() < 5 * 0.5 / np.sqrt(20_000)
    # Given that 8 of 16 are in, two models agree with probability 7/15.
    agree = (matrix[0] == matrix[1]).mean()
    assert abs(agree - 7 / 15) < 5 * 0.5 / np.sqrt(20_000)


def test_members_are_the_true_columns():
    membership = Membership(np.array([[True, False, True], [False, True, False]]))
    assert membership.members(0).tolist() == [0, 2]
    assert (membership.models, membership.records) == (2, 3)


def test_non_members_that_models_or_units_share_are_counted_once():
    split = np.arange(100) < 60
    assert Membership(np.tile(split, (8, 1))).independent_non_members() == pytest.approx(40)
    assert Membership(np.array([split, ~split])).independent_non_members() == pytest.approx(2**2 / (1 / 40 + 1 / 60))
    assert Membership(np.array([split, ~split])).independent_non_members(np.array([0])) == pytest.approx(40)
    assert Membership(split[None]).independent_non_members(units=np.arange(100) // 10) == pytest.approx(4)
    # Units of 90 records and ten of 1; 30 and 10 are outside.
    uneven = np.where(np.arange(100) < 90, 0, np.arange(100) - 89)
    assert Membership(split[None]).independent_non_members(units=uneven) == pytest.approx(40**2 / (30**2 + 10))
    assert Membership(np.ones((2, 9), np.bool_)).independent_non_members() is None
    drawn = Membership.draw(5, 50, 0)
    shares = (~drawn.matrix / (~drawn.matrix).sum(axis=1, keepdims=True)).mean(axis=0)
    assert drawn.independent_non_members() == pytest.approx(1 / (shares**2).sum())


def test_digest_knows_the_shape():
    wide = Membership(np.array([[True, False, True, False], [False, True, False, True]]))
    tall = Membership(np.array([[True, False], [True, False], [False, True], [False, True]]))
    assert np.packbits(wide.matrix).tobytes() == np.packbits(tall.matrix).tobytes()
    assert wide.digest != tall.digest


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float32, np.float64, object])
def test_zeros_and_ones_are_booleans(kind):
    matrix = np.array([[True, False], [False, True]])
    found = Membership(matrix.astype(kind)).matrix
    assert found.dtype == np.bool_
    assert np.array_equal(found, matrix)


@pytest.mark.parametrize(
    ("matrix", "error", "words"),
    [
        (np.ones((0, 2), bool), InputError, "at least one model (row), got none"),
        (np.array([[True], [False]]), InputError, "at least 2 records (columns), got 1"),
        (np.array([True, False]), ShapeError, "expected 2 axes"),
        ([[1, -1], [-1, 1]], ShapeError, "membership: expected booleans, or 0 and 1, got -1 of model 0, record 1"),
        ([[1, 2], [2, 1]], ShapeError, "Give membership == 2 where that means trained on the record, else == 1"),
        ([[1.0, np.nan], [0, 1]], ShapeError, "expected booleans, or 0 and 1, got nan of model 0, record 1"),
        ([[1.0, 0], [0.9, 0]], ShapeError, "expected booleans, or 0 and 1, got 0.9 of model 1, record 0"),
        ([[0, 2, 5], [1, 3]], ShapeError, "got entries of different shapes: (3,) at position 0 and (2,) at position 1"),
        ([[0, 2, 5], [1, 3]], ShapeError, "from the row numbers of each model's records"),
        (np.array([[0, 2], [1, 3]]), ShapeError, "got 2 of model 0, record 1 (from 0). Membership is a row a model"),
        ([["in", "out"], ["out", "in"]], ShapeError, "expected numbers or booleans, got texts, the first 'in'"),
        ([{0, 2}, {1}], ShapeError, "got Python objects, the first of type ndarray. Membership is a row a model"),
    ],
)
def test_bad_matrices_are_refused(matrix, error, words):
    with pytest.raises(error) as caught:
        Membership(matrix)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.ones((4, 3), dtype=bool), "membership: 4 models (0, 1, 2, 3) have all 3 records true"),
        (np.ones((9, 3), dtype=bool), "membership: 9 models (0, 1, 2, 3, 4, ...) have all 3 records true"),
        (np.eye(3, dtype=bool) & (np.arange(3) < 2)[:, None], "membership: model 2 has all 3 records false"),
    ],
)
def test_models_of_all_records_or_none_are_refused_where_they_are_audited(matrix, words):
    with pytest.raises(InputError) as caught:
        Membership(matrix).check_divided()
    assert words in str(caught.value)


def test_models_that_are_not_audited_may_hold_all_records_or_none():
    known = Membership(np.array([[True, False], [False, False], [True, True]]))
    known.check_divided(np.array([0]))
    assert divided(known.matrix).tolist() == [True, False, False]


@pytest.mark.parametrize(("models", "records", "words"), [(1, 10, "at least 2, got 1"), (8, 4, "4"), (0, 5, "got 0")])
def test_bad_sizes_are_refused(models, records, words):
    with pytest.raises(InputError, match=words):
        Membership.draw(models, records, 0)


def test_as_membership_takes_both():
    membership = Membership.draw(4, 9, 0)
    assert as_membership(membership) is membership
    assert np.array_equal(as_membership(membership.matrix.tolist()).matrix, membership.matrix)


def test_too_few_records_are_told_with_how_many_are_needed():
    with pytest.raises(InputError, match=r"64 models of 5 records: give at least 64 records, or fewer models"):
        Membership.draw(64, 5, 0)
    with pytest.raises(InputError, match=r"records: 3 are too few, .* all or none of them: give at least 20 records"):
        [Membership.draw(3, 3, seed) for seed in range(20)]


def test_how_much_is_contradicted_by_copies():
    members = Membership(np.array([[True, False, True, False, True], [True, True, False, False, True]]))
    assert members.contradicted(np.arange(5)) == 0
    assert members.contradicted(np.array([7, 7, 2, 2, 9])) == 4 / 10  # Both pairs differ in the first model alone.
    assert members.contradicted(np.array([0, 1, 0, 0, 4])) == 6 / 10
    assert members.contradicted(np.array([7, 7, 2, 2, 9]), models=np.array([1])) == 0
    some = {"models": np.array([0]), "records": np.array([0, 2, 4])}
    assert members.contradicted(np.array([7, 7, 2, 2, 9]), **some) == pytest.approx(2 / 3)
