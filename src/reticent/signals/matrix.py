"""Signals: all that an attacker may see of M models on N records, in memory or on disk.

The margin of a record is ``z_y - logsumexp_{j != y} z_j``, the log-odds of its true label. The log-probability is
``log sigmoid(margin)``, exactly, so that it is computed where it is wanted and not stored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import scratch
from reticent.data.records import renumber
from reticent.errors import InputError, ShapeError
from reticent.signals.brought import answers, check_margins, check_sizes, check_unsquashed, one_sign, two_logits
from reticent.signals.probabilities import check_probabilities, clipped_words, logarithms, resolution, shared_margins

Floats = NDArray[np.float64]
BLOCK_BYTES = 64 * 2**20
"""How much float64 memory one block of records may take."""
MOST_CLASSES = 1_000_000
"""A label from here on, and beyond the number of records, is no number of a class, unless the user says so."""


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


class Mapped:
    """A `Matrix` in a file that is mapped into memory: what was read leaves memory again."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._values, self.shape = values, values.shape

    def __getitem__(self, key: tuple[Any, Any]) -> NDArray[Any]:
        """Read rows and a slice of records."""
        read = np.array(self._values[key])
        scratch.release(self._values)
        return read


@dataclass(frozen=True, eq=False)
class Signals:
    """What M models say of N records.

    Attributes:
        labels: true labels ``int64 (N,)``.
        margins: ``(M, N, Q)``, query 0 being the record as it is.
        logits: ``(M, N, C)`` for the plain query, or None where only margins are known.
        classes: number of classes C.
        notices: sentences on what these numbers cannot tell.
    """

    labels: NDArray[np.int64]
    margins: Matrix
    classes: int
    logits: Matrix | None = None
    notices: tuple[str, ...] = ()

    @classmethod
    def from_logits(cls, logits: ArrayLike, labels: ArrayLike) -> "Signals":
        """Take logits of any framework, for one query.

        Args:
            logits: ``(M, N, C)``, or ``(M, N)`` or ``(M, N, 1)`` of a binary model with one logit for class 1; of any
                number type. Logarithms of probabilities are logits.
            labels: ``(N,)`` from 0, in any of the forms of `conversion.whole`.

        Returns:
            The signals, margins computed in float64.

        Raises:
            NonFiniteError: a model's logits are NaN or infinite; the message names the model and the count.
            InputError: some model's are probabilities, or what a sigmoid made of logits; or a margin is beyond
                `LARGEST_MARGIN`.
            ShapeError: several answers a record, or those of one model alone.
        """
        numbers, truth = answers(logits, labels, "logits")
        values = two_logits(numbers)
        check_unsquashed(values, numbers.shape)
        margins = scratch.zeros((*values.shape[:2], 1))
        for row, told in scratch.rows(values, margins):
            told[:, 0] = margin(row, truth)
        check_sizes(margins, "logits")
        return cls(labels=truth, margins=_held(margins), classes=values.shape[2], logits=_held(values))

    @classmethod
    def from_probabilities(cls, probabilities: ArrayLike, labels: ArrayLike) -> "Signals":
        """Take class probabilities of any framework, as logits: by their logarithms.

        What they sum to one without is taken from the classes beside the label, so that a label's probability that is
        told as 1 loses nothing where those of the others are told. What is exactly zero, or for one column exactly one,
        is told as half of the smallest step: the unit of the last digit where all were rounded (to at most 6 digits) or
        are shares of votes; else the smallest number of their type, also where they were cast to a finer one (float16
        2**-24, bfloat16 2**-133, float32 2**-149, float64 2**-1074), or on the side of one minus a number its distance
        from one (float16 2**-11, bfloat16 2**-8, float32 2**-24, float64 2**-53). `notices` says how many these are.

        Args:
            probabilities: ``(M, N, C)`` whose rows sum to one as exactly as they are told, or ``(M, N)`` or
                ``(M, N, 1)`` of class 1 of a binary model.
            labels: ``(N,)`` from 0, in any of the forms of `conversion.whole`.

        Returns:
            The signals; logits and margins in float64.

        Raises:
            NonFiniteError: a model's probabilities are NaN or infinite; the message names the model and the count.
            InputError: they are none, such as percentages.
            ShapeError: several answers a record, or those of one model alone.
        """
        numbers, truth = answers(probabilities, labels, "probabilities")
        shared = resolution(numbers)
        own = [max(shared, resolution(row[None]), key=lambda one: one.unit) for (row,) in scratch.rows(numbers)]
        for model, ((row,), told) in enumerate(zip(scratch.rows(numbers), own, strict=True)):
            check_probabilities(row, told, f"probabilities: model {model}")
        logits, clipped = scratch.zeros((*numbers.shape[:2], max(numbers.shape[2], 2))), 0
        margins = scratch.zeros((*numbers.shape[:2], 1))
        for model, ((row, log), told) in enumerate(zip(scratch.rows(numbers, logits), own, strict=True)):
            log[:], count = logarithms(row, told)
            clipped += count
            one = shared_margins(row, truth, told.unit) if told.rounded else margin(log, truth)
            margins[model, :, 0] = one
        scratch.release(margins)
        found = cls(labels=truth, margins=_held(margins), classes=logits.shape[2], logits=_held(logits))
        coarsest = max(own, key=lambda one: one.unit)
        return replace(found, notices=(clipped_words(clipped, numbers.size, coarsest),) if clipped else ())

    @classmethod
    def from_margins(cls, margins: ArrayLike, labels: ArrayLike, classes: int | None = None) -> "Signals":
        """Take margins of any framework.

        Args:
            margins: log-odds of the true label ``(M, N)`` or, for several queries, ``(M, N, Q)``.
            labels: ``(N,)`` from 0, in any of the forms of `conversion.whole`.
            classes: number of classes; by default one more than the largest label.

        Returns:
            The signals, without logits.

        Raises:
            NonFiniteError: a model's margins are NaN or infinite; the message names the model and the count.
            InputError: a label too large to be the number of a class, where `classes` is not given; or the numbers
                look like logits, or like the label's probabilities or their logarithms; or one is beyond
                `LARGEST_MARGIN`.
        """
        values, truth = answers(margins, labels, "margins", classes)
        largest = int(truth.max(initial=1))
        if classes is None and largest >= max(MOST_CLASSES, len(truth)):
            raise InputError(
                f"labels: expected labels that count from 0, got {largest} among {len(truth)} records; "
                f"{renumber('labels')}, or give the number of classes as classes"
            )
        check_margins(values, truth, classes or largest + 1)
        check_sizes(values, "margins")
        told = one_sign(values)
        return cls(labels=truth, margins=_held(values), classes=classes or largest + 1, notices=told)

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

    @property
    def answers(self) -> Matrix:
        """The most that is known of what models say: logits or, without any, margins."""
        return self.margins if self.logits is None else self.logits

    def plain(self, records: slice, models: Any = slice(None)) -> NDArray[Any]:
        """Read the margins of the plain query ``(K, n)``, of some records by all models or some."""
        return np.asarray(self.margins[models, records])[:, :, 0]

    def of_model(self, model: int) -> NDArray[Any]:
        """Read the margins of one model, of the plain query ``(N,)``."""
        return np.concatenate([self.plain(block, [model])[0] for block in self.blocks()])

    def among(self, ids: NDArray[np.int64]) -> "Signals":
        """Keep some of the records ``(K,)``, in their order; all of them stay where they are."""
        if np.array_equal(ids, np.arange(self.records)):
            return self
        logits = None if self.logits is None else _kept(self.logits, ids)
        return replace(self, labels=self.labels[ids], margins=_kept(self.margins, ids), logits=logits)

    def blocks(self, width: int | None = None) -> Iterator[slice]:
        """Divide the records so that a float64 block of all models stays below `BLOCK_BYTES`.

        `width` is how many numbers a model and record have; by default as many as queries.
        """
        each = 8 * self.models * (width or self.queries)
        step = max(1, BLOCK_BYTES // each)
        for start in range(0, self.records, step):
            yield slice(start, min(start + step, self.records))


def _kept(matrix: Matrix, ids: NDArray[np.int64]) -> Matrix:
    """Copy some of the records, model by model."""
    first = np.asarray(matrix[[0], :])[0, ids]
    kept = scratch.zeros((matrix.shape[0], *first.shape), first.dtype)
    for model, (row,) in enumerate(scratch.rows(kept)):
        row[:] = np.asarray(matrix[[model], :])[0, ids]
    return _held(kept)


def _held(values: NDArray[Any]) -> Matrix:
    return Mapped(values) if scratch.mapped(values) else values


def margin(logits: NDArray[Any], labels: NDArray[np.int64]) -> Floats:
    """Compute ``z_y - logsumexp_{j != y} z_j`` in float64: the log-odds of the true label, without saturation.

    Of ``(N, C)`` and ``(N,)``: ``(N,)``, in nats; fewer than two classes are refused. Paper: Carlini et al. (2022),
    section IV-C (in the equivalent form that is exact from logits).
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
    """Compute the log-probability of the true label from the margin: ``log sigmoid(margin)``."""
    return -np.logaddexp(0.0, -np.asarray(margins, dtype=np.float64))
