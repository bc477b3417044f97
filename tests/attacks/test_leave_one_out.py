"""Leave-one-out statistics against the statistics of the rows that are left."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import trim_mean

from reticent.attacks import leave_one_out


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    references, width = draw(st.integers(3, 9)), draw(st.integers(1, 4))
    values = (
        rng.integers(-4, 5, (references, width)) / 2 if draw(st.booleans()) else rng.normal(size=(references, width))
    )
    mask = rng.random((references, width)) < 0.6
    return values, mask


def left(values, mask, position, column):
    return np.array([v for r, v in enumerate(values[:, column]) if r != position and mask[r, column]])


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([0.0, 0.1, 0.2, 0.34, 0.49]))
def test_statistics_equal_those_of_the_rows_that_are_left(case, cut):
    values, mask = case
    positions = np.arange(len(values) + 1)
    sums = leave_one_out.Sums(leave_one_out.Split(values), mask).of(positions)
    counts = leave_one_out.counts(mask, positions)
    trimmed = leave_one_out.trimmed_means(values, mask, positions, cut)
    for r in positions:
        for i in range(values.shape[1]):
            rest = left(values, mask, r, i)
            assert counts[r, i] == len(rest)
            assert sums[r, i] == pytest.approx(rest.sum(), abs=1e-12)
            assert trimmed[r, i] == pytest.approx(trim_mean(rest, cut) if len(rest) else 0.0, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_what_is_dropped_leaves_no_trace(seed):
    """A sum less the one that is dropped is that of the others, bit for bit: else it tells that one was dropped."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(6, 20)) * 10.0 ** rng.integers(-6, 7, (6, 20))
    sums, out, gone = leave_one_out.Sums(leave_one_out.Split(values)), np.array([0, 3, 5]), rng.random((3, 20)) < 0.5
    for row in (1, 2, 4):
        expected = [
            [math.fsum(np.delete(values[:, i], [own, row] if gone[t, i] else own)) for i in range(20)]
            for t, own in enumerate(out)
        ]
        places = leave_one_out.places(np.full((3, 20), row), gone, 6)
        np.testing.assert_array_equal(sums.of(out, places), expected)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_medians_equal_those_of_the_rows_that_are_left(case):
    values, mask = case
    mask = mask.copy()
    mask[:2] = True
    positions = np.arange(len(values) + 1)
    medians = leave_one_out.medians(values, mask, positions)
    for r in positions:
        for i in range(values.shape[1]):
            assert medians[r, i] == np.median(left(values, mask, r, i))


def test_rows_points_targets_outside_the_references_past_the_end():
    np.testing.assert_array_equal(leave_one_out.rows(np.array([4, 0, 2]), np.array([2, 4, 7])), [1, 3, 0])


def test_total_is_the_sum():
    values = np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(leave_one_out.total(values), [18, 22, 26])
