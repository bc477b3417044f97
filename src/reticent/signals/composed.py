"""Signals composed of other signals, without copying: nothing is read before it is asked for."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.errors import ShapeError
from reticent.signals.matrix import Matrix, Signals


class _Substituted:
    """A `Matrix` of which one row, perhaps behind the last one, is read elsewhere."""

    def __init__(self, base: Matrix, model: int, read: Callable[[Any], NDArray[Any]]) -> None:
        self._base, self._model, self._read = base, model, read
        self.shape = (max(base.shape[0], model + 1), *base.shape[1:])

    def __getitem__(self, key: tuple[Any, Any]) -> NDArray[Any]:
        rows, records = key
        numbers = np.arange(self.shape[0])[rows]
        if np.ndim(numbers) == 0:
            return np.asarray(self._read(records) if numbers == self._model else self._base[int(numbers), records])
        last, others = self._read(records), numbers != self._model
        block = np.empty((len(numbers), *last.shape), dtype=last.dtype)
        if others.any():
            block[others] = self._base[numbers[others], records]
        block[~others] = last
        return block


class _Permuted:
    """A `Matrix` whose records each have their models in an order of their own."""

    def __init__(self, base: Matrix, order: NDArray[np.int64]) -> None:
        self._base, self._order, self.shape = base, order, base.shape

    def __getitem__(self, key: tuple[Any, Any]) -> NDArray[Any]:
        rows, records = key
        chosen, block = self._order[rows, records], np.asarray(self._base[:, records])
        return np.asarray(block[chosen, np.arange(block.shape[1])])


def appended(base: Signals, margins: NDArray[Any], logits: NDArray[Any] | None) -> Signals:
    """Put one more model, of margins ``(N, Q)`` and logits ``(N, C)``, behind those of a population."""
    for name, told, known in (("margins", margins, base.margins), ("logits", logits, base.logits)):
        if told is not None and known is not None and told.shape != tuple(known.shape[1:]):
            raise ShapeError(f"{name}: expected shape {tuple(known.shape[1:])}, got {told.shape}")
    joined = None
    if base.logits is not None and logits is not None:
        joined = _Substituted(base.logits, base.models, logits.__getitem__)
    return replace(base, margins=_Substituted(base.margins, base.models, margins.__getitem__), logits=joined)


def substituted(base: Signals, other: Signals, model: int) -> Signals:
    """Put one model of another population in the place of its own number."""
    if base.margins.shape != other.margins.shape or base.classes != other.classes:
        raise ShapeError(
            f"substituted: expected two populations of one shape, got {base.margins.shape} and {other.margins.shape}"
        )

    def joined(one: Matrix, two: Matrix) -> Matrix:
        return _Substituted(one, model, lambda records: two[model, records])

    logits = None if base.logits is None or other.logits is None else joined(base.logits, other.logits)
    return replace(base, margins=joined(base.margins, other.margins), logits=logits)


def permuted(base: Matrix, order: NDArray[np.int64]) -> Matrix:
    """Give a record's row of model ``order[m, n]`` to model m, each once in a column; a read is one of all models."""
    if order.shape != tuple(base.shape[:2]):
        raise ShapeError(f"permuted: expected an order of shape {tuple(base.shape[:2])}, got {order.shape}")
    return _Permuted(base, order)
