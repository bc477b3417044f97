"""One more model beside those of a population, without copying them: a model that no recipe of the population made."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.errors import ShapeError
from reticent.signals.matrix import Matrix, Signals


class _Beside:
    """A `Matrix` whose last row comes from elsewhere."""

    def __init__(self, base: Matrix, last: NDArray[Any]) -> None:
        self._base, self._last = base, last

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes: models, records, and what there is of each."""
        return (self._base.shape[0] + 1, *self._base.shape[1:])

    def __getitem__(self, key: tuple[Any, Any]) -> NDArray[Any]:
        """Read rows and a slice of records."""
        rows, records = key
        models = self._base.shape[0]
        numbers = np.arange(models + 1)[rows]
        if np.ndim(numbers) == 0:
            return np.asarray(self._last[records] if numbers == models else self._base[int(numbers), records])
        block = np.empty((len(numbers), *self._last[records].shape), dtype=self._last.dtype)
        others = numbers != models
        if others.any():
            block[others] = self._base[numbers[others], records]
        block[~others] = self._last[records]
        return block


def beside(base: Signals, margins: NDArray[Any], logits: NDArray[Any] | None) -> Signals:
    """Put one more model behind a population's.

    Args:
        base: M models on N records.
        margins: of the other model ``(N, Q)``.
        logits: of the other model ``(N, C)``, or None.

    Returns:
        Signals of M + 1 models, the other one last; nothing is read before it is asked for.

    Raises:
        ShapeError: the model was asked about other records or queries.
    """
    if margins.shape != tuple(base.margins.shape[1:]):
        raise ShapeError(f"margins: expected shape {tuple(base.margins.shape[1:])}, got {margins.shape}")
    joined = None
    if base.logits is not None and logits is not None:
        if logits.shape != tuple(base.logits.shape[1:]):
            raise ShapeError(f"logits: expected shape {tuple(base.logits.shape[1:])}, got {logits.shape}")
        joined = _Beside(base.logits, logits)
    return replace(base, margins=_Beside(base.margins, margins), logits=joined)
