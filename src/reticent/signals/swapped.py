"""One population's signals with one model's row taken from another population, without copying either."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.errors import ShapeError
from reticent.signals.matrix import Matrix, Signals


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
    """Put one model of another population into a population.

    Args:
        base: M models on N records.
        other: as many models on the same records.
        row: whose signals come from the other.

    Returns:
        The signals; nothing is read before it is asked for.

    Raises:
        ShapeError: the populations do not match.
    """
    if base.margins.shape != other.margins.shape or base.classes != other.classes:
        raise ShapeError(
            f"swapped: expected two populations of one shape, got {base.margins.shape} and {other.margins.shape}"
        )
    logits = None
    if base.logits is not None and other.logits is not None:
        logits = _Swapped(base.logits, other.logits, row)
    return replace(base, margins=_Swapped(base.margins, other.margins, row), logits=logits)
