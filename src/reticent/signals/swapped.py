"""Rows of models put elsewhere, without copying them: one model's of another population, or all dealt out anew."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.errors import ShapeError
from reticent.signals.matrix import Matrix, Signals

_Order = NDArray[np.int64]


class _Swapped:
    """A `Matrix` that reads one row elsewhere."""

    def __init__(self, base: Matrix, other: Matrix, row: int) -> None:
        self._base, self._other, self._row = base, other, row

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes: models, records, and what there is of each."""
        return self._base.shape

    def __getitem__(self, key: tuple[Any, Any]) -> NDArray[Any]:
        """Read rows and a slice of records."""
        rows, records = key
        if isinstance(rows, (int, np.integer)):
            return (self._other if int(rows) == self._row else self._base)[int(rows), records]
        numbers = np.arange(self.shape[0])[rows]
        block = np.array(self._base[rows, records])
        for place in np.flatnonzero(numbers == self._row):
            block[place] = self._other[self._row, records]
        return block


def swapped(base: Signals, other: Signals, row: int) -> Signals:
    """Put one model of another population into a population."""
    if base.margins.shape != other.margins.shape or base.classes != other.classes:
        raise ShapeError(
            f"swapped: expected two populations of one shape, got {base.margins.shape} and {other.margins.shape}"
        )
    logits = None
    if base.logits is not None and other.logits is not None:
        logits = _Swapped(base.logits, other.logits, row)
    return replace(base, margins=_Swapped(base.margins, other.margins, row), logits=logits)


class _Dealt:
    """A `Matrix` whose records each have their models in an order of their own."""

    def __init__(self, base: Matrix, order: _Order) -> None:
        self._base, self._order = base, order

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self._base.shape

    def __getitem__(self, key: tuple[Any, Any]) -> NDArray[Any]:
        """Read rows and a slice of records; reads that block of every model."""
        rows, records = key
        chosen, block = self._order[rows, records], np.asarray(self._base[:, records])
        return np.asarray(block[chosen, np.arange(block.shape[1])])


def dealt(base: Matrix, order: NDArray[np.int64]) -> Matrix:
    """Give each record's rows to the models in an order of its own.

    Args:
        base: ``(M, N, ...)``.
        order: ``(M, N)``: whose row of the record a model gets; each model once in a column.

    Returns:
        The matrix; nothing is read before it is asked for. Cost: every read is one of all models.

    Raises:
        ShapeError: the order is not one of these models and records.
    """
    if order.shape != tuple(base.shape[:2]):
        raise ShapeError(f"dealt: expected an order of shape {tuple(base.shape[:2])}, got {order.shape}")
    return _Dealt(base, order)
