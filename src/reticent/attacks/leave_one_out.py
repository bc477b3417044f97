"""Statistics over references with each target left out, for all targets at once.

What a target gets is made of the other references' values alone: flipping its own row changes no bit, and neither does
the size of a block of records. Medians and trimmed means leave a target out before they are taken. Sums are exact
(`Split`), so that what is left out can be subtracted: the target, and a reference that is dropped to make counts equal
(`balance`), which is an OUT one of a member, and an IN one of a non-member. Were they rounded, rounding would tell the
two apart where models answer alike, since there it decides what ties.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.base import Rows
from reticent.signals.matrix import Floats

Mask = NDArray[np.bool_]


def rows(targets: Rows, references: Rows) -> Rows:
    """Return each target's position among the references ``(T,)``, which is its row of `Sums`; R where it is none."""
    place = {int(model): position for position, model in enumerate(references)}
    return np.array([place.get(int(model), len(references)) for model in targets], dtype=np.int64)


class Split:
    """Values ``(R, n)`` in two parts, each a multiple of a power of two so large that sums over references are exact.

    Both powers follow from the largest size in a column. Together the parts have some 90 bits of it, fewer the more
    references there are; what is smaller counts as zero.
    """

    def __init__(self, values: Floats) -> None:
        """Split. Cost: O(R n)."""
        self.values = values
        room = len(values).bit_length()
        _, exponent = np.frexp(np.abs(values).max(axis=0, initial=0.0))
        high = _multiples(values, exponent + room)
        self.parts = high, _multiples(values - high, exponent + 2 * room - 52)

    @cached_property
    def squares(self) -> "Split":
        """The squares, split."""
        return Split(self.values**2)


def _multiples(values: Floats, exponent: NDArray[np.int32]) -> Floats:
    """Round values, none larger than ``2**exponent``, to multiples of ``2**(exponent - 51)``."""
    three = 3 * np.ldexp(1.0, exponent)  # Doubles from twice to four times the power are those multiples.
    result: Floats = values + three
    result -= three
    return result


class Sums:
    """Sums over the masked references with some left out; exact, and rounded once."""

    def __init__(self, split: Split, mask: Mask | None = None) -> None:
        """Add up what is masked ``(R, n)``; by default all."""
        count, width = split.values.shape
        self._parts = np.zeros((2, count + 1, width))
        for part, kept in zip(split.parts, self._parts, strict=True):
            np.multiply(part, 1.0 if mask is None else mask, out=kept[:-1])
        self._totals = self._parts.sum(axis=1)

    def of(self, rows: Rows, dropped: Rows | None = None) -> Floats:
        """Leave out a row for all records ``(T,)``, and one a record, by its place (`places`): ``(T, n)``."""
        sums = []
        for part, total in zip(self._parts, self._totals, strict=True):
            found = total - part[rows]
            if dropped is not None:
                found -= part.take(dropped)
            sums.append(found)
        return np.asarray(sums[0] + sums[1])


def places(which: Rows, gone: Mask, references: int) -> Rows:
    """Place the references ``which`` among the values of a block where ``gone``, else a zero behind all: ``(T, n)``."""
    width = which.shape[-1]
    return np.asarray(((which - references) * gone + references) * width + np.arange(width))


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
