"""The label's column of a table: its classes, what is refused, and what speaks against it."""

import logging
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.data import number_formats
from reticent.data.conversion import about, numbered
from reticent.data.delimited import Source
from reticent.data.features import FEW, IDENTIFIER, MOST_CATEGORIES, NEARLY, plain_numbers, stray
from reticent.errors import InputError

log = logging.getLogger(__name__)
INTEGER = re.compile(r"[+-]?\d+")


def classes(source: Source, name: str, column: NDArray[Any]) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Make labels of a column: whole numbers that do not count from 0 are classes called by their own values."""
    called = f"{source}: the label's column {name!r}"
    texts = column.astype(np.str_) if column.dtype.kind in "mM" else column
    numbers = plain_numbers(texts) if texts.dtype.kind == "U" else None
    values = texts if numbers is None else numbers
    kind = values.dtype.kind
    empty = np.flatnonzero(values == "" if kind == "U" else ~np.isfinite(values) if kind == "f" else values[:0])
    if len(empty):
        what, first = "empty, NaN or infinite" if kind == "f" else "empty", source.place(int(empty[0]))
        raise InputError(
            f"{called} is {what} in {len(empty)} records, the first is {first}: expected a label for every record; "
            "fill them in, or leave those records out"
        )
    if kind == "U":
        found, codes = np.unique(values, return_inverse=True)
        if odd := stray(source, found, codes):
            log.warning("%s is read as texts, each a class, since %s", called, odd)
        if unknown := [text for text in found.tolist() if number_formats.is_gap(text)]:
            told = "%s has %r as a class: if it stands for no label, leave those records out"
            log.warning(told, called, unknown[0])
    if numbers is not None:
        _check_notation(source, called, texts)
    with about(called):
        labels, names = numbered(values)
    if len(names) > MOST_CATEGORIES:
        raise InputError(
            f"{called} has {len(names)} different numbers, which are not 0 to {len(names) - 1}: expected at most "
            f"{MOST_CATEGORIES} classes; give the column of a class, or make classes of ranges of this one"
        )
    count, fractions = len(np.unique(labels)), labels.dtype.kind == "f" and (labels != np.rint(labels)).any()
    if len(labels) >= FEW and count > IDENTIFIER * len(labels) and not fractions:
        raise InputError(
            f"{called} has {count} classes for {len(labels)} records: it names records and does not describe them; "
            "give the column of a class"
        )
    return labels, names


def _check_notation(source: Source, called: str, texts: NDArray[Any]) -> None:
    """Refuse labels of which one whole number is written in two ways, such as 01 and 1: they may be two classes."""
    seen: dict[int, tuple[str, int]] = {}
    for text, record in zip(*np.unique(texts, return_index=True), strict=True):
        if INTEGER.fullmatch(text) is None:
            continue
        other, first = seen.setdefault(int(text), (str(text), int(record)))
        if other != text:
            raise InputError(
                f"{called} holds both {other!r} ({source.place(first)}) and {str(text)!r} "
                f"({source.place(int(record))}), which are one number: write it in one way if they are one class, or "
                "put a letter in front if they are two"
            )


def doubt(column: NDArray[Any]) -> str:
    """Say what speaks against a label."""
    values, counts = np.unique(column, return_counts=True)
    read = number_formats.read(values.tolist()) if column.dtype.kind == "U" else None
    if column.dtype.kind == "M" or (read is not None and read.kind == "date"):
        return f"holds dates, and each of {len(values)} is a class: is it meant as the label?"
    single = int(np.count_nonzero(counts == 1))
    if len(column) < FEW or single < NEARLY * len(values):
        return ""
    return f"{single} of its {len(values)} classes have a single record, which a model knows by its class"
