"""Answers that somebody else computed: brought to one form, and what they cannot be is refused."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import arrays, checks, scratch
from reticent.data import conversion
from reticent.data.records import listed, renumber
from reticent.errors import InputError, NonFiniteError, ShapeError
from reticent.signals.squashed import TELLING_VALUES, Squashed, by_class, of_label, squashed

RENUMBER = f"{renumber('labels')}, which numbers the classes in sorted order, as the answers' columns must be"
"""What to do about labels that do not count from 0."""
LARGEST = 1e37
"""Numbers beyond this are taken for infinite: float32 could not hold their margins, nor float64 all that is made of
their squares."""
LARGEST_MARGIN = 2.0**24
"""Margins beyond this tell nothing (nats): float32, which holds them, does not tell one nat from the next there; and
one of them makes all that attacks pool over records, such as LiRA's spread, its own."""


def answers(
    values: ArrayLike, labels: ArrayLike, name: str, classes: int | None = None
) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
    """Check what M models say of N records, ``(M, N)`` or ``(M, N, K)``, against the labels.

    `name` is the argument's, for messages: "logits", "probabilities" or "margins". Returns ``(M, N, K)`` of a floating
    type that holds the numbers exactly, and the labels, in the range of the classes where these are known.
    """
    truth = _numbered(conversion.whole(arrays.array(labels, "labels"), "labels"))
    checked = checks.array(**{name: values}, ndim=tuple(range(8)))
    if checked.ndim not in {2, 3} or checked.shape[1] != len(truth):
        raise ShapeError(f"{name}: {_other_axes(checked.shape, len(truth), name)}")
    if not checked.size:
        raise ShapeError(f"{name}: expected numbers of at least one model and one record, got none: {checked.shape}")
    numbers = checked if checked.dtype.kind == "f" else checked.astype(np.float64)
    wide = numbers[:, :, None] if numbers.ndim == 2 else numbers
    finite_rows(wide, name)
    known = max(wide.shape[2], 2) if name != "margins" else classes
    _check_range(truth, known, one=name != "margins" and wide.shape[2] == 1)
    return wide, truth


def _numbered(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Take labels that are numbers from 0."""
    texts = labels.dtype.kind in "OUS" and all(isinstance(one, (str, bytes)) for one in labels.flat)
    if labels.size and (texts or (labels.dtype.kind == "i" and labels.min() < 0)):
        found = np.unique(labels.astype(np.str_) if texts else labels)
        told = f"labels: expected whole numbers from 0, got {'texts' if texts else 'numbers below 0'} among"
        if texts and np.strings.isdecimal(found).all():  # Texts are sorted otherwise: 10 before 2.
            raise InputError(f"{told} {listed(found)}: give numpy.asarray(labels).astype(int)")
        raise InputError(f"{told} {listed(found)}: {RENUMBER}")
    return checks.integers(labels=labels, ndim=1, low=0)


def _other_axes(shape: tuple[int, ...], records: int, name: str) -> str:
    """Say what axes were expected, and what those that came seem to be."""
    axis = {"margins": "queries"}.get(name, "classes")
    letter = axis[0].upper()
    expected = f"expected shape (M, {records}) or (M, {records}, {letter}) of models, {records} records and {axis}"
    if len(shape) > 3:
        return f"{expected}, got {shape}: several answers a record, such as one a token or a pixel, are not supported"
    if len(shape) == 3 and shape[0] == records:
        return f"{expected}, got {shape}: are records and models exchanged? Give {name}.swapaxes(0, 1)"
    if len(shape) in {1, 2} and shape[0] == records:
        return (
            f"{expected}, got {shape}, as of one model alone: give {name}[None] and membership[None]; "
            f"or, to compare it, numpy.stack of the {name} of models that were each trained on other "
            "records, and a row of membership each"
        )
    return f"{expected}, got {shape}"


def _check_range(labels: NDArray[np.int64], classes: int | None, *, one: bool) -> None:
    """Refuse labels beyond the classes."""
    if classes is None or not len(labels) or labels.max() < classes:
        return
    found = np.unique(labels)
    told = f"labels: expected integers from 0 to {classes - 1}, got {labels.max()} at position {labels.argmax()}"
    if one and len(found) > 2:
        raise InputError(
            f"{told}: one number a record is the answer of a binary model, and there are {len(found)} different "
            "labels: give one column a class (a regression is not supported)"
        )
    remedy = ""
    if found[0] == 1 and found[-1] == classes:
        remedy = ": do they count from 1? Give labels - 1"
    elif len(found) == classes:
        remedy = f": {RENUMBER}"
    elif len(found) < classes:
        remedy = (
            ": give the number of each one's column, such as numpy.searchsorted(columns, labels), where `columns` "
            f"holds the labels of all {classes} columns in sorted order"
        )
    raise InputError(f"{told}: the answers have {classes} classes, and the labels are {listed(found)}{remedy}")


def check_unsquashed(logits: NDArray[np.floating], shape: tuple[int, ...]) -> None:
    """Refuse probabilities among logits ``(M, N, C)``, widened by `two_logits`; `shape` is as they came."""
    kinds = {model: kind for model, row in enumerate(logits) if (kind := squashed(row)) is not None}
    if not kinds:
        return
    first, kind = next(iter(kinds.items()))
    same = (
        "numpy.concatenate([-z, z], axis=-1) / 2 with z of shape (M, N, 1)"
        if shape[2] == 1
        else ("logits - logits.mean(axis=-1, keepdims=True)")
    )
    otherwise = f". If they are logits all the same, give {same}, which says the same"
    remedies = {
        Squashed.SOFTMAX: "give them as probabilities, or the logits from before the softmax",
        Squashed.PERCENT: "give them, divided by 100, as probabilities, or the logits from before the softmax",
        Squashed.COUNTS: "give them, divided by that constant, as probabilities, or give the logits from before the "
        f"softmax{otherwise}",
        Squashed.SIGMOID: "give them as probabilities (of class 1), or the logits from before the sigmoid" + otherwise,
        Squashed.SIGMOIDS: "give the logits from before the sigmoid" + otherwise,
    }
    raise InputError(
        f"logits: the answers of model {first} ({len(kinds)} of {len(logits)} models) {kind.value}: {remedies[kind]}"
    )


def check_margins(margins: NDArray[np.floating], labels: NDArray[np.int64], classes: int) -> None:
    """Refuse what is often taken for margins ``(M, N, Q)``: logits, or what is told of the label alone."""
    if margins.shape[2] == classes and by_class(margins, labels):
        name = "probabilities" if squashed(margins[0]) == Squashed.SOFTMAX else "logits"
        raise InputError(
            f"margins: got shape {margins.shape}, one number a class, of which the label's is mostly the largest: "
            f"these look like {name}: give them as {name}. Margins are (M, N), log-odds of the true label alone, or "
            "(M, N, Q) of Q queries of a record"
        )
    expected = (
        "margins: expected log-odds of the true label, which are above 0 where a model is right and below where not"
    )
    for (rows,) in scratch.rows(margins if margins[0].size >= TELLING_VALUES else margins[None]):
        kind = of_label(rows)
        if kind == "probability":
            raise InputError(
                f"{expected}, got numbers from 0 to 1 alone: these are probabilities of the true label: give the "
                "probabilities of all classes as probabilities, or numpy.log(p) - numpy.log1p(-p), where no p is 0 or 1"
            )
        if kind is not None:
            raise InputError(
                f"{expected}, got none above 0 and many near it: these are log-probabilities of the true label (minus "
                "the loss): give the logits, or l - numpy.log(-numpy.expm1(l)), where no l is 0"
            )


def one_sign(margins: NDArray[np.floating]) -> tuple[str, ...]:
    """Say that margins ``(M, N, Q)`` may be losses: all of them have one sign."""
    ends = [(row.min(), row.max()) for (row,) in scratch.rows(margins)]
    if max(high for _, high in ends) <= 0:
        told = "No margin is above 0: no model gives the label of any record more than half of the probability"
    elif min(low for low, _ in ends) > 0:
        told = "All margins are above 0: each model is right about all records, also those it was not trained on"
    else:
        return ()
    return (f"{told}. Are they losses? Margins are log-odds of the true label, log(p) - log(1 - p).",)


def check_sizes(margins: NDArray[np.floating], what: str) -> None:
    """Refuse margins ``(M, N, Q)`` beyond `LARGEST_MARGIN`; `what` was given."""
    if float(np.finfo(margins.dtype).max) < LARGEST_MARGIN:  # float16 holds none so large.
        return
    beyond = np.array([np.count_nonzero(np.abs(row) > LARGEST_MARGIN) for (row,) in scratch.rows(margins)])
    if not beyond.any():
        return
    model, count = int(beyond.argmax()), int(beyond.sum())
    record, query = np.argwhere(np.abs(margins[model]) > LARGEST_MARGIN)[0].tolist()
    raise InputError(
        f"{what}: model {model} has record {record} at a margin of {margins[model, record, query]:g}"
        f"{f' (the first of {count} so large)' if count > 1 else ''}: expected log-odds of the true label of at most "
        f"{LARGEST_MARGIN:,.0f} in size, since one larger number decides what attacks make of all records: is it an "
        "overflow, or does it stand for a missing answer? Correct it, or leave the record out"
    )


def two_logits(logits: NDArray[Any]) -> NDArray[Any]:
    """Write one-logit binary answers as two logits, ``(0, z)``; others stay."""
    return np.concatenate([np.zeros_like(logits), logits], axis=-1) if logits.shape[-1] == 1 else logits


def finite_rows(values: NDArray[Any], what: str) -> None:
    """Check that every model's numbers ``(M, ...)`` are finite, and not beyond `LARGEST`."""
    for model, (row,) in enumerate(scratch.rows(values)):
        bad = int(np.count_nonzero(~(np.abs(row) <= np.float64(LARGEST))))
        if bad:
            zeros = what == "logits" and np.count_nonzero(np.isneginf(row)) == bad
            hint = " (logarithms of zero? Give the probabilities themselves, as probabilities)" if zeros else ""
            axes = ("record", "query" if what == "margins" else "class")[: 1 + (row.shape[-1] > 1)]
            if not zeros and np.isfinite(row).all():
                raise NonFiniteError(
                    f"{what}: model {model} has {bad} of {row.size} beyond {LARGEST:g}, which are taken for infinite: "
                    "expected smaller numbers: were they overflows, or scaled?"
                )
            raise NonFiniteError(
                f"{what}: model {model} has {bad} NaN or infinite of {row.size}, the first is "
                f"{checks.first(row, ~np.isfinite(row), axes)}; expected finite numbers{hint}"
            )
