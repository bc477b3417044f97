"""Arrays that lie in temporary files."""

import numpy as np
import pytest

from reticent import scratch


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(scratch, "LARGE", 64)


def test_only_a_large_array_lies_in_a_file(small):
    assert not scratch.mapped(scratch.zeros((7,)))
    large = scratch.zeros((2, 4))
    assert scratch.mapped(large)
    assert large.dtype == np.float64
    assert not large.any()


def test_what_is_written_stays_when_it_leaves_memory(small):
    large = scratch.zeros((3, 5), np.int32)
    for at, (row,) in enumerate(scratch.rows(large)):
        row[:] = at
    scratch.release(large, large[1:], np.zeros(3))
    assert large.sum(axis=1).tolist() == [0, 5, 10]


def test_columns_are_walked_in_blocks(small):
    large, other = scratch.zeros((2, 7)), np.arange(14).reshape(2, 7)
    for _, (part, told) in scratch.columns(6, large, other):
        part[:] = told
    assert np.array_equal(large, other)
    assert [block for block, _ in scratch.columns(6, other)] == [slice(0, 3), slice(3, 6), slice(6, 7)]


def test_changes_that_are_in_memory_alone_are_not_let_go(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(4))
    mine = np.load(tmp_path / "a.npy", mmap_mode="c")
    mine[:] = 1
    scratch.release(mine)
    assert not scratch.mapped(mine)
    assert mine.tolist() == [1, 1, 1, 1]
