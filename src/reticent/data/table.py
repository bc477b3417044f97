"""Tables of a user, one record a row: which column is the label, which are features, and what is refused."""

import logging
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.data import conversion, features, number_formats
from reticent.data.delimited import Source, header_hint
from reticent.data.records import Facts, Records
from reticent.errors import ColumnsError, CorruptFileError, InputError, Problems, UnknownNameError, about, nearest
from reticent.findings.population import ColumnReading
from reticent.options import DataOptions

log = logging.getLogger(__name__)
INTEGER = re.compile(r"[+-]?\d+")

LABELS = ("label", "labels", "y", "target", "class")
"""Names that tell the label's column, where there is just one of them; else the user says which it is."""

MOST_COLUMNS = 200
"""A wider table's columns are features only; a narrower one's are kept as they are, too, to group records by."""


def records(
    path: Path | str, header: Sequence[str], columns: Sequence[NDArray[Any]], asked: DataOptions, y: Any = None
) -> Records:
    """Make records of the columns of a table."""
    twice = [(name, count) for name, count in Counter(header).items() if count > 1]
    if twice:
        raise CorruptFileError(
            f"{path}: {twice[0][1]} columns are called {twice[0][0]!r}: rename them, or leave out one"
            f"{header_hint(header)}"
        )
    if y is not None and asked.label is not None:
        raise InputError(f"{path}: label: the labels stand beside the columns: leave it out, or give the columns alone")
    label = _label(path, header, asked.label) if y is None else None
    _check_names(path, header, label, asked)
    source, table, names = Source(path), dict(zip(header, columns, strict=True)), tuple[str, ...]()
    seen = [name for name in header if name != label and name not in asked.not_features]
    if not seen:
        beside = "" if label is None else f" beside the label {label!r}"
        raise CorruptFileError(f"{path}: expected columns{beside}, got no feature")
    if label is not None:
        y, names = _classes(source, label, table[label])
    made = {name: features.feature(source, name, table[name], asked) for name in seen}
    readings = tuple(
        made[name].reading if name in made else _reading(name, column, label=name == label)
        for name, column in table.items()
    )
    _check_features(path, list(made.values()), readings)
    wide = len(header) > MOST_COLUMNS
    kept = {n: column for n, column in table.items() if n != label and (n in asked.not_features or not wide)}
    x = np.concatenate([one.x for one in made.values() if one.x is not None], axis=1)
    facts: Facts = {"name": str(path), "columns": kept, "readings": readings, "label": label or ""}
    if names:
        facts["class_names"] = names
    return conversion.records(x, y, **facts)


def _label(path: Path | str, header: Sequence[str], asked: str | None) -> str:
    """Find the label's column: the one that is named, or the only one of a telling name."""
    if asked is not None and asked not in header:
        raise InputError(f"{path}: no column {asked!r}: {nearest(asked, header)}{header_hint(header)}")
    telling = [name for name in header if name.lower() in LABELS] if asked is None else [asked]
    if len(telling) == 1:
        return telling[0]
    found = f"both {' and '.join(telling)}" if telling else ", ".join([*header[:8], *["..."] * (len(header) > 8)])
    raise InputError(
        f"{path}: which column is the label? Expected one named {', '.join(LABELS)}, got {found}: give --label COLUMN"
        f"{header_hint(header)}"
    )


def _check_names(path: Path | str, header: Sequence[str], label: str | None, asked: DataOptions) -> None:
    """Refuse options of columns that are not there, of the label's, and of one that is no feature."""
    named = {option: getattr(asked, option) for option in ("not_features", "rare", "hash")}
    problems = Problems()
    for option, names in named.items():
        for name in names:
            with problems.here():
                if name not in header:
                    raise UnknownNameError(f"column in {option} of {path}", name, header)
                if name == label:
                    raise InputError(
                        f"{path}: {option}: {name!r} is the label's column, which is no feature: leave it out"
                    )
                others = [other for other, those in named.items() if name in those]
                if len(others) > 1:
                    raise InputError(
                        f"{path}: column {name!r} is in {' and in '.join(others)}: leave it out of all but one"
                    )
    problems.tell()


def _reading(name: str, column: NDArray[Any], *, label: bool) -> ColumnReading:
    """Count what a column holds that is no feature."""
    gaps = sum(value is None or value != value or value == "" for value in column.tolist())  # noqa: PLR0124  # NaN
    if not label:
        return ColumnReading(column=name, read_as="not a feature", missing=gaps)
    note, values = _doubt(column), len(np.unique(column))
    return ColumnReading(column=name, read_as="label", values=values, missing=gaps, note=note, telling=bool(note))


def _classes(source: Source, name: str, column: NDArray[Any]) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Make labels of a column: whole numbers that do not count from 0 are classes called by their own values."""
    called = f"{source}: the label's column {name!r}"
    texts = column.astype(np.str_) if column.dtype.kind in "mM" else column
    numbers = features.plain_numbers(texts) if texts.dtype.kind == "U" else None
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
        if odd := features.stray(source, found, codes):
            log.warning("%s is read as texts, each a class, since %s", called, odd)
        if unknown := [text for text in found.tolist() if number_formats.is_gap(text)]:
            told = "%s has %r as a class: if it stands for no label, leave those records out"
            log.warning(told, called, unknown[0])
    if numbers is not None:
        _check_notation(source, called, texts)
    with about(called):
        labels, names = conversion.numbered(values)
    if len(names) > features.MOST_CATEGORIES:
        raise InputError(
            f"{called} has {len(names)} different numbers, which are not 0 to {len(names) - 1}: expected at most "
            f"{features.MOST_CATEGORIES} classes; give the column of a class, or make classes of ranges of this one"
        )
    count, fractions = len(np.unique(labels)), labels.dtype.kind == "f" and (labels != np.rint(labels)).any()
    if len(labels) >= features.FEW and count > features.IDENTIFIER * len(labels) and not fractions:
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


def _doubt(column: NDArray[Any]) -> str:
    values, counts = np.unique(column, return_counts=True)
    read = number_formats.read(values.tolist()) if column.dtype.kind == "U" else None
    if column.dtype.kind == "M" or (read is not None and read.kind == "date"):
        return f"holds dates, and each of {len(values)} is a class: is it meant as the label?"
    single = int(np.count_nonzero(counts == 1))
    if len(column) < features.FEW or single < features.NEARLY * len(values):
        return ""
    return f"{single} of its {len(values)} classes have a single record, which a model knows by its class"


def _check_features(path: Path | str, made: Sequence[features.Feature], readings: tuple[ColumnReading, ...]) -> None:
    """Refuse all columns at once that cannot be features as they are."""
    bad = [one for one in made if one.problem]
    if not bad:
        return
    flags = " ".join(dict.fromkeys(one.flag for one in bad))
    ways = "; ".join(f"--{way} {what}" for way, what in features.WAYS.items() if way in {one.remedy for one in bad})
    if len(bad) == 1:
        told = f"column {bad[0].reading.column!r} {bad[0].problem}: mend it"
    else:
        lines = "".join(f"\n  {one.reading.column!r} {one.problem}" for one in bad)
        told = f"{len(bad)} columns cannot be features as they are:{lines}\nmend them"
    raise ColumnsError(f"{path}: {told}, or add {flags} ({ways})", readings)
