"""Roles: exact sizes, no record and no duplicate in two of them."""

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.errors import RolesError


def records_with(values):
    """Tabular records; equal values are exact duplicates."""
    return Records.make(np.array(values, dtype=np.float64)[:, None], np.arange(len(values)) % 2)


@given(st.integers(20, 80), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(0, 1000))
def test_sizes_are_exact_and_roles_disjoint(count, validation, reference, population, seed):
    records = records_with(range(count))
    sizes = {"validation": validation, "reference": reference, "population": population}
    roles = Roles.split(records, seed, **sizes)
    roles.check(records)
    assert roles.sizes() == {"audited": count - validation - reference - population, **sizes}
    everything = np.concatenate([roles.audited, roles.validation, roles.reference, roles.population])
    assert np.array_equal(np.sort(everything), np.arange(count))
    assert all((np.diff(ids) > 0).all() for ids in (roles.audited, roles.validation, roles.reference, roles.population))


@given(st.lists(st.integers(0, 12), min_size=30, max_size=60), st.integers(0, 1000))
def test_duplicates_stay_together(values, seed):
    records = records_with(values)
    try:
        roles = Roles.split(records, seed, validation=5, population=7)
    except RolesError:
        event("no group fits")
        return
    roles.check(records)
    assert (len(roles.validation), len(roles.population), len(roles.reference)) == (5, 7, 0)
    held = [set(np.array(values)[ids]) for ids in (roles.audited, roles.validation, roles.population)]
    assert [held[i] & held[j] for i, j in ((0, 1), (0, 2), (1, 2))] == [set()] * 3


def test_duplicates_that_cannot_be_split_are_told():
    with pytest.raises(
        RolesError, match="validation: cannot take exactly 3 records without splitting exact duplicates"
    ):
        Roles.split(records_with([1] * 10 + [2] * 10), 0, validation=3)


def test_the_seed_decides():
    records = records_with(range(100))
    first, again, other = (Roles.split(records, seed, audited=50) for seed in (1, 1, 2))
    assert first.to_json() == again.to_json()
    assert first.audited.tolist() != other.audited.tolist()
    assert len(first.audited) == 50


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"audited": 8, "validation": 3}, "which is all there are, got 8 to audit, 3 for validation, 11 in all: ask"),
        ({"validation": -1}, "sizes of zero or more, got {'validation': -1}"),
        ({"population": 9}, "got at least 2 to audit, 9 for population, 11 in all"),
    ],
)
def test_impossible_sizes_are_refused(sizes, words):
    with pytest.raises(RolesError) as caught:
        Roles.split(records_with(range(10)), 0, **sizes)
    assert words in str(caught.value)


def ids(*values):
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        (Roles(ids(0, 1), ids(1), ids(), ids()), "audited and validation share 1 records"),
        (Roles(ids(0, 1), ids(), ids(), ids(4)), "audited and population share 1 records or exact duplicates"),
        (Roles(ids(0, 9), ids(), ids(), ids()), "expected ids from 0 to 4, got 0 to 9"),
        (Roles(ids(0, 0), ids(), ids(), ids()), "stands in it twice"),
    ],
)
def test_check_finds_overlaps(roles, words):
    # Record 4 repeats record 1.
    with pytest.raises(RolesError) as caught:
        roles.check(records_with([0, 1, 2, 3, 1]))
    assert words in str(caught.value)
