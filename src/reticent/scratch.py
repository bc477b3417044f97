"""Arrays that may be larger than memory: a large one lies in a temporary file, and what is not at work leaves memory.

The folder is that of all temporary files (``TMPDIR``). The file has no name, so that it goes with the array, whatever
ends the process.
"""

import math
import mmap
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LARGE = 2**26
"""Bytes from which an array lies in a file."""


def zeros(shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Make an array of zeros, a large one in a temporary file."""
    if math.prod(shape) * np.dtype(dtype).itemsize < LARGE:
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype, "w+", shape=shape)


def mapped(values: NDArray[Any]) -> bool:
    """Tell whether an array lies in a file."""
    return _mapping(values) is not None


def release(*values: NDArray[Any]) -> None:
    """Let the parts of files that were read or written leave memory; what was written stays in the file."""
    for held in map(_mapping, values):
        if held is not None and hasattr(mmap, "MADV_DONTNEED"):
            held.madvise(mmap.MADV_DONTNEED)


def _mapping(value: Any) -> mmap.mmap | None:
    while isinstance(value, np.ndarray):
        if isinstance(value, np.memmap) and value.mode == "c":  # Changes are in memory alone.
            return None
        value = value.base
    return value if isinstance(value, mmap.mmap) else None


def rows(*values: NDArray[Any]) -> Iterator[tuple[NDArray[Any], ...]]:
    """Go through the rows of arrays ``(T, ...)`` side by side, of which one at a time is in memory."""
    for row in zip(*values, strict=True):
        yield row
        release(*values)


def columns(cells: int, *values: NDArray[Any]) -> Iterator[tuple[slice, tuple[NDArray[Any], ...]]]:
    """Go through blocks of columns of arrays ``(T, N)``, of so many numbers each, of which one is in memory."""
    count, length = values[0].shape
    step = max(1, cells // count)
    for start in range(0, length, step):
        block = slice(start, min(start + step, length))
        yield block, tuple(value[:, block] for value in values)
        release(*values)
