"""Signals: all that an attacker may see of M models on N records, in memory or on disk.

The margin of a record is ``z_y - logsumexp_{j != y} z_j``, the log-odds of its true label. The log-probability is
``log sigmoid(margin)``, exactly, so that it is computed where it is wanted and not stored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import checks
from reticent.data import given
from reticent.data.records import renumber
from reticent.errors import InputError, NonFiniteError, ShapeError

Floats = NDArray[np.float64]
BLOCK_BYTES = 64 * 2**20
"""How much float64 memory one block of records may take."""
MOST_CLASSES = 1_000_000
"""A label from here on, and beyond the number of records, is no number of a class, unless the user says so."""
TELLING_ROWS = 10
"""So many rows that sum to one are softmax outputs."""


class Matrix(Protocol):
    """An array by models and records that need not be in memory: ``a[:, start:stop]`` reads a block of records."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes: models, records, and what there is of each."""

    def __getitem__(self, key: tuple[Any, Any]) -> NDArray[Any]:
        """Read rows and a slice of records."""


class Row(Protocol):
    """One model's numbers; an array, or something that reads a slice of records from a file."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes: records, and what there is of each."""

    def __getitem__(self, key: Any) -> NDArray[Any]:
        """Read a slice of records."""


class Rows:
    """A `Matrix` whose rows are separate arrays, such as one file a model."""

    def __init__(self, rows: Sequence[Row]) -> None:
        shapes = {row.shape for row in rows}
        if len(shapes) != 1:
            raise ShapeError(f"rows: expected equal shapes for all models, got {sorted(shapes)}")
        self._rows = list(rows)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes: models, records, and what there is of each."""
        return (len(self._rows), *self._rows[0].shape)

    def __getitem__(self, key: tuple[Any, Any]) -> NDArray[Any]:
        """Read rows and a slice of records."""
        rows, records = key
        if isinstance(rows, (int, np.integer)):
            return np.asarray(self._rows[int(rows)][records])
        chosen = self._rows[rows] if isinstance(rows, slice) else [self._rows[int(i)] for i in rows]
        return np.stack([np.asarray(row[records]) for row in chosen])


@dataclass(frozen=True, eq=False)
class Signals:
    """What M models say of N records.

    Attributes:
        labels: true labels ``int64 (N,)``.
        margins: ``(M, N, Q)``, query 0 being the record as it is.
        logits: ``(M, N, C)`` for the plain query, or None where only margins are known.
        classes: number of classes C.
    """

    labels: NDArray[np.int64]
    margins: Matrix
    classes: int
    logits: Matrix | None = None

    @classmethod
    def from_logits(cls, logits: ArrayLike, labels: ArrayLike) -> "Signals":
        """Take logits of any framework, for one query.

        Args:
            logits: ``(M, N, C)``, or ``(M, N)`` or ``(M, N, 1)`` of a binary model with one logit for class 1.
            labels: ``(N,)`` from 0, in any of the forms of `given.whole`.

        Returns:
            The signals, margins computed in float64.

        Raises:
            NonFiniteError: a model's logits are NaN or infinite; the message names the model and the count.
            InputError: they are probabilities.
        """
        values = two_logits(checks.array(logits=logits, ndim=(2, 3)))
        finite_rows(values, "logits")
        if probabilities(values):
            raise InputError(
                "logits: every row is positive and sums to 1, so these are probabilities: "
                "expected logits; give numpy.log(probabilities)"
            )
        truth = _truth(labels, values.shape[2])
        checks.shape(logits=values, expected=(None, len(truth), None), meaning="(models, records, classes)")
        rows = [margin(row, truth)[:, None] for row in values]
        return cls(labels=truth, margins=np.stack(rows), classes=values.shape[2], logits=values)

    @classmethod
    def from_margins(cls, margins: ArrayLike, labels: ArrayLike, classes: int | None = None) -> "Signals":
        """Take margins of any framework.

        Args:
            margins: log-odds of the true label ``(M, N)`` or, for several queries, ``(M, N, Q)``.
            labels: ``(N,)`` from 0, in any of the forms of `given.whole`.
            classes: number of classes; by default one more than the largest label.

        Returns:
            The signals, without logits.

        Raises:
            NonFiniteError: a model's margins are NaN or infinite; the message names the model and the count.
            InputError: a label too large to be the number of a class, where `classes` is not given.
        """
        values = checks.array(margins=margins, ndim=(2, 3))
        finite_rows(values, "margins")
        truth = _truth(labels, classes)
        values = values[:, :, None] if values.ndim == 2 else values
        checks.shape(margins=values, expected=(None, len(truth), None), meaning="(models, records, queries)")
        largest = int(truth.max(initial=1))
        if classes is None and largest >= max(MOST_CLASSES, len(truth)):
            raise InputError(
                f"labels: expected labels that count from 0, got {largest} among {len(truth)} records; "
                f"{renumber('labels')}, or give the number of classes as classes"
            )
        return cls(labels=truth, margins=values, classes=classes or largest + 1)

    @property
    def models(self) -> int:
        """Number of models M."""
        return self.margins.shape[0]

    @property
    def records(self) -> int:
        """Number of records N."""
        return self.margins.shape[1]

    @property
    def queries(self) -> int:
        """Number of queries a record Q."""
        return self.margins.shape[2]

    def blocks(self, width: int | None = None) -> Iterator[slice]:
        """Divide the records so that a float64 block of all models stays below `BLOCK_BYTES`.

        Args:
            width: numbers a model and record; by default the number of queries.

        Yields:
            Slices of the records, in order.
        """
        each = 8 * self.models * (width or self.queries)
        step = max(1, BLOCK_BYTES // each)
        for start in range(0, self.records, step):
            yield slice(start, min(start + step, self.records))


def probabilities(answers: NDArray[Any]) -> bool:
    """Tell whether answers are softmax outputs rather than logits.

    Args:
        answers: ``(..., C)``.

    Returns:
        True if no number is negative and every row sums to one, in enough rows that this is no accident.
    """
    sums = answers.sum(axis=-1)
    return bool(sums.size >= TELLING_ROWS and (answers >= 0).all() and (np.abs(sums - 1) < 1e-4).all())


def two_logits(logits: NDArray[Any]) -> NDArray[Any]:
    """Write one-logit binary answers as two logits, ``(0, z)``; others stay.

    Args:
        logits: ``(..., N)`` as ``(M, N)``, or ``(M, N, C)``.

    Returns:
        ``(M, N, C)`` with C at least 2.
    """
    wide = logits[..., None] if logits.ndim == 2 else logits
    return np.concatenate([np.zeros_like(wide), wide], axis=-1) if wide.shape[-1] == 1 else wide


def finite_rows(values: NDArray[Any], what: str) -> None:
    """Check that every model's numbers are finite.

    Args:
        values: ``(M, ...)``.
        what: the argument's name, for the message.

    Raises:
        NonFiniteError: names the first model with NaN or infinity, and how many.
    """
    for model, row in enumerate(values):
        bad = int(np.count_nonzero(~np.isfinite(row)))
        if bad:
            raise NonFiniteError(
                f"{what}: model {model} has {bad} NaN or infinite of {row.size}; expected finite numbers"
            )


def _truth(labels: ArrayLike, classes: int | None) -> NDArray[np.int64]:
    return checks.integers(labels=given.whole(given.array(labels), "labels"), ndim=1, low=0, high=classes)


def margin(logits: NDArray[Any], labels: NDArray[np.int64]) -> Floats:
    """Compute ``z_y - logsumexp_{j != y} z_j`` in float64: the log-odds of the true label, without saturation.

    Paper: Carlini et al. (2022), section IV-C (in the equivalent form that is exact from logits).

    Args:
        logits: ``(N, C)``, C at least 2.
        labels: ``(N,)``.

    Returns:
        ``(N,)``, in nats.

    Raises:
        InputError: fewer than two classes.
    """
    if logits.shape[1] < 2:
        raise InputError(
            f"logits: expected at least 2 classes, got {logits.shape[1]}; see `two_logits` for one-logit heads"
        )
    z = logits.astype(np.float64)
    rows = np.arange(len(z))
    own = z[rows, labels]
    z[rows, labels] = -np.inf
    top = z.max(axis=1)
    others: Floats = top + np.log(np.exp(z - top[:, None]).sum(axis=1))
    return own - others


def log_probability(margins: NDArray[Any]) -> Floats:
    """Compute the log-probability of the true label from the margin: ``log sigmoid(margin)``.

    Args:
        margins: any shape.

    Returns:
        The same shape, float64, zero or below.
    """
    return -np.logaddexp(0.0, -np.asarray(margins, dtype=np.float64))
