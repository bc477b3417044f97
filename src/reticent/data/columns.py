"""The label's column of a table, and what is odd about a column, said with its place."""

import logging
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.data import notation
from reticent.data.given import numbered
from reticent.data.notation import GAPS, is_gap, is_number
from reticent.data.separated import Source
from reticent.errors import InputError

log = logging.getLogger(__name__)

MOST_CATEGORIES = 500
"""A column of more different texts is taken for names or prose, not for a category."""

FEW = 20
"""In a table of fewer records, that each has a value of its own says nothing."""
IDENTIFIER = 0.95
"""With more different texts or classes a record than this, a column names records and does not describe them."""
NEARLY = 0.5
"""With more different texts or numbers a record than this, it nearly does."""

INTEGER = re.compile(r"[+-]?\d+")


def as_label(source: Source, name: str, column: NDArray[Any]) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Make labels of a column: whole numbers that do not count from 0 are classes called by their own values."""
    texts, numbers = column, plain_numbers(column) if column.dtype.kind == "U" else None
    column = column if numbers is None else numbers
    kind = column.dtype.kind
    empty = np.flatnonzero(column == "" if kind == "U" else ~np.isfinite(column) if kind == "f" else column[:0])
    if len(empty):
        what, first = "empty, NaN or infinite" if kind == "f" else "empty", source.place(int(empty[0]))
        raise InputError(
            f"{source}: the label's column {name!r} is {what} in {len(empty)} records, the first is {first}: "
            "expected a label for every record; fill them in, or leave those records out"
        )
    odd = stray(source, *np.unique(column, return_inverse=True)) if kind == "U" else ""
    if odd:
        log.warning("%s: the label's column %r is read as texts, each a class, since %s", source, name, odd)
    unknown = [text for text in np.unique(column).tolist() if is_gap(text)] if kind == "U" else []
    if unknown:
        log.warning(
            "%s: the label's column %r has %r as a class: if it stands for no label, leave those records out",
            *(source, name, unknown[0]),
        )
    if numbers is not None:
        _once(source, name, texts)
    try:
        classes, names = numbered(column)
    except InputError as error:
        raise error.prefixed(f"{source}: the label's column {name!r}: ") from None
    if len(names) > MOST_CATEGORIES:
        raise InputError(
            f"{source}: the label's column {name!r} has {len(names)} different numbers, which are not 0 to "
            f"{len(names) - 1}: expected at most {MOST_CATEGORIES} classes; give the column of a class, or make "
            "classes of ranges of this one"
        )
    found, fractions = len(np.unique(classes)), classes.dtype.kind == "f" and (classes != np.rint(classes)).any()
    if len(classes) >= FEW and found > IDENTIFIER * len(classes) and not fractions:
        raise InputError(
            f"{source}: the label's column {name!r} has {found} classes for {len(classes)} records: it names records "
            "and does not describe them; give the column of a class"
        )
    return classes, names


def doubt_of_label(column: NDArray[Any]) -> str:
    """Say what speaks against a label."""
    values, counts = np.unique(column, return_counts=True)
    read = notation.read(values.tolist()) if column.dtype.kind == "U" else None
    if column.dtype.kind == "M" or (read is not None and read.kind == "date"):
        return f"holds dates, and each of {len(values)} is a class: is it meant as the label?"
    single = int(np.count_nonzero(counts == 1))
    if len(column) < FEW or single < NEARLY * len(values):
        return ""
    return f"{single} of its {len(values)} classes have a single record, which a model knows by its class"


def plain_numbers(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Read texts as plain numbers, gaps as NaN."""
    values = _floats(column, column == "")
    if values is None:  # Only then are other gaps looked for, which takes longer than all else.
        values = _floats(column, np.isin(np.char.lower(column), list(GAPS)))
    if values is None or np.isnan(values).all() or (np.char.find(column, "_") >= 0).any():  # Python takes 1_0 for 10.
        return None
    return values


def _floats(column: NDArray[Any], gaps: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    try:
        return np.where(gaps, "nan", column).astype(np.float64)
    except ValueError:
        return None


def _once(source: Source, name: str, texts: NDArray[Any]) -> None:
    """Refuse labels of which one whole number is written in two ways, such as 01 and 1: they may be two classes."""
    seen: dict[int, tuple[str, int]] = {}
    for text, record in zip(*np.unique(texts, return_index=True), strict=True):
        if INTEGER.fullmatch(text) is None:
            continue
        other, first = seen.setdefault(int(text), (str(text), int(record)))
        if other != text:
            raise InputError(
                f"{source}: the label's column {name!r} holds both {other!r} ({source.place(first)}) and {str(text)!r} "
                f"({source.place(int(record))}), which are one number: write it in one way if they are one class, or "
                "put a letter in front if they are two"
            )


def stray(source: Source, texts: NDArray[Any], codes: NDArray[np.int64]) -> str:
    """Say how many values are no numbers, if most are."""
    numeric = np.array([is_number(cell) and bool(np.isfinite(float(cell))) for cell in texts])
    where = np.flatnonzero((~numeric & (texts != ""))[codes])
    if not len(where) or len(where) >= np.count_nonzero(numeric[codes]):
        return ""
    count = f"{len(where):,} of its {len(codes):,} values {'are no numbers' if len(where) > 1 else 'is no number'}"
    which = "the first is" if len(where) > 1 else "which is"
    return f"{count}, {which} {str(texts[codes[where[0]]])[:40]!r} in {source.place(int(where[0]))}"
