"""Statistics over references with each target left out, for all targets at once.

Nothing is subtracted from a total: what a target gets is made of the other references' values alone, in an order that
its own membership does not change, so that flipping its row changes no bit. Sums run over models strictly one after the
other, so the size of a block of records changes no bit either.

The one exception is a reference that is dropped to make counts equal (`balance`): it is subtracted, of a member's OUT
references or of a non-member's IN ones. Where models answer alike, rounding would then tell the two apart, since it
decides what ties; so sums have twice the digits until then (`Sums`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.base import Rows
from reticent.signals.matrix import Floats

Mask = NDArray[np.bool_]


def rows(targets: Rows, references: Rows) -> Rows:
    """Return each target's position among the references ``(T,)``, which is its row of `sums`; R where it is none."""
    place = {int(model): position for position, model in enumerate(references)}
    return np.array([place.get(int(model), len(references)) for model in targets], dtype=np.int64)


class Sums:
    """Sums of values ``(R, n)`` over all rows but one, each as a number and what it lacks to the exact sum."""

    def __init__(self, values: NDArray[Any]) -> None:
        """Add up by a forward and a backward pass; row R, after the last one, is of all."""
        count, width = values.shape
        self._high, self._low = np.empty((2, count + 1, width))
        self._high[0] = self._low[0] = 0.0
        for r in range(count):
            self._high[r + 1], error = _added(self._high[r], values[r])
            np.add(self._low[r], error, out=self._low[r + 1])
        after, lacks = np.zeros((2, width))
        for r in range(count - 1, -1, -1):
            self._high[r], error = _added(self._high[r], after)
            self._low[r] += error + lacks
            after, error = _added(after, values[r])
            lacks += error

    def of(self, rows: Rows, lost: Floats | None = None) -> Floats:
        """Give the sums that leave rows out ``(T, n)``, less what else is left out of each."""
        high, low = self._high[rows], self._low[rows]
        if lost is not None:
            high, error = _added(high, -lost)
            low += error
        return np.asarray(np.add(high, low, out=high))


def _added(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Add two numbers exactly: their sum, and what that lacks (Knuth's two-sum)."""
    whole = a + b
    of_b = whole - a
    error = whole - of_b
    np.subtract(a, error, out=error)
    np.subtract(b, of_b, out=of_b)
    error += of_b
    return whole, error


def total(values: NDArray[Any]) -> Floats:
    """Sum ``(R, n)`` over references, one after the other: ``(n,)``."""
    result = np.zeros(values.shape[1])
    for row in values:
        result += row
    return result


def added(total: Floats, values: Floats) -> Floats:
    """Add ``values (..., n)`` to ``total (...)``, one record after the other: the size of blocks changes no bit."""
    running = np.concatenate([total[..., None], values], axis=-1)
    return np.asarray(np.add.accumulate(running, axis=-1)[..., -1])


def counts(mask: Mask, left_out: Rows) -> Floats:
    """Count the masked references ``(R, n)`` but one: ``(T, n)`` whole numbers."""
    every = np.add.reduce(mask.view(np.int8), axis=0, dtype=np.int32)
    return np.asarray(np.subtract(every, row_or(mask, left_out, fill=0), dtype=np.float64))


def medians(
    values: Floats, mask: Mask, left_out: Rows, dropped: Mask | None = None, which: Rows | None = None
) -> Floats:
    """Take the median ``(T, n)`` of the masked references but one or two, from one sort a record.

    The first that is left out is `left_out`; a second one, where `dropped`, is `which`: it is masked, and another one.
    """
    order = np.argsort(np.where(mask, values, np.inf), axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(values))[:, None], axis=0)
    present = row_or(mask, left_out, fill=False)
    gap = np.where(present, row_or(rank, left_out, fill=0), len(values))
    count = mask.sum(axis=0) - present
    other = np.full_like(gap, len(values))
    if dropped is not None and which is not None:
        other = np.where(dropped, np.take_along_axis(rank, which, axis=0), other)
        count = count - dropped
    first, second = np.minimum(gap, other), np.maximum(gap, other)
    halves = []
    # The j-th value that is left is the j-th or, from a gap on, the next one of the sorted column.
    for place in ((count - 1) // 2, count // 2):
        place = place + (place >= first)  # noqa: PLW2901
        halves.append(np.take_along_axis(ordered, place + (place >= second), axis=0))
    return 0.5 * (halves[0] + halves[1])


def trimmed_means(
    values: Floats, mask: Mask, left_out: Rows, cut: float, dropped: Mask | None = None, which: Rows | None = None
) -> Floats:
    """Average the masked references but one or two (as in `medians`), without ``floor(cut k)`` at each end of k values.

    ``(T, n)``; zero where no value is left. Cost: a sort of all values a target.
    """
    result = np.empty((len(left_out), values.shape[1]))
    rank = np.arange(len(values))[:, None]
    for row, out in enumerate(left_out):
        kept = mask & (rank != out)
        if dropped is not None and which is not None:
            kept &= (rank != which[row]) | ~dropped[row]
        ordered = np.sort(np.where(kept, values, np.inf), axis=0)
        count = kept.sum(axis=0)
        trim = np.floor(cut * count).astype(np.int64)
        inner = (rank >= trim) & (rank < count - trim)
        result[row] = total(np.where(inner, ordered, 0.0)) / np.maximum(count - 2 * trim, 1)
    return result


def row_or(matrix: NDArray[Any], positions: Rows, *, fill: int) -> NDArray[Any]:
    """Take rows of a matrix ``(R, n)``; row R, after the last one, is filled."""
    padded = np.concatenate([matrix, np.full((1, matrix.shape[1]), fill, dtype=matrix.dtype)])
    return padded[positions]
