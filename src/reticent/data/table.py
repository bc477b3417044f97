"""Tables of a user: csv and Parquet files with one record a row, one column for the label."""

import csv
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent import checks, opening
from reticent.data.arrow import frame_columns, parquet_columns
from reticent.data.columns import as_label, doubt_of_label
from reticent.data.features import Feature, feature
from reticent.data.given import records
from reticent.data.notation import is_number
from reticent.data.reading import Reading
from reticent.data.records import Records
from reticent.data.separated import Source, lines, mark, rows
from reticent.errors import ColumnsError, CorruptFileError, InputError, UnknownNameError, nearest
from reticent.options import DataOptions

LABELS = ("label", "labels", "y", "target", "class")
"""Names that tell the label's column, where there is just one of them; else the user says which it is."""

MOST_COLUMNS = 200
"""A wider table's columns are features only; a narrower one's are kept as they are, too, to group records by."""

BLOCK = 2**24
"""So many characters are looked at at once."""
KINDS = bytes.maketrans(b'"\t\r\n +12345678', b",,,,,-99999999")
"""Bytes by what they are: a comma for all that may stand before a cell of a csv file, one sign, nine for a digit."""
CODES = (b",00", b",09", b",-00", b",-09")
"""How codes such as 01 begin, in these."""

WAYS = {
    "--not-feature": "leaves a column out",
    "--rare": "COLUMN=N joins texts of fewer than N records",
    "--hash": "COLUMN=N puts texts into N features",
    "--missing": "indicator fills gaps by the median and says where",
}
"""What the flags do that an error proposes."""


def read_csv(path: Path, asked: DataOptions) -> Records:
    """Read a csv file with a header.

    Cost:
        About 10 million cells a second where all are numbers, a tenth of that elsewhere.
    """
    return of_columns(path, *csv_columns(path), asked)


def csv_columns(path: Path) -> tuple[list[str], list[NDArray[Any]]]:
    """Read the columns of a csv or tsv file with a header, packed by gzip or not."""
    content = opening.text(path)
    try:
        cells = rows(path, content)
        header = next(cells, [])
        if not header:
            raise CorruptFileError(f"{path}: expected a header line with the names of the columns, got an empty file")
        numbers = None if _codes(content) else _numbers(path, content, len(header))
        columns = numbers or _texts(path, cells, header)
    except csv.Error as error:
        raise CorruptFileError(f"{path}: cannot be read as csv: {error}") from None
    if all(is_number(name) for name in header):
        raise CorruptFileError(f"{path}: expected a header line with the names of the columns, got numbers: add one")
    return [name.strip() for name in header], columns


def read_parquet(path: Path, asked: DataOptions) -> Records:
    """Read a Parquet file."""
    return of_columns(path, *parquet_columns(path, asked.not_features), asked)


def of_frame(name: str, frame: Any, asked: DataOptions, y: Any = None) -> Records:
    """Make records of a data frame, as `read_parquet` does of a file."""
    try:
        checks.aligned("x", x=frame, y=y)
    except InputError as error:
        raise error.prefixed(f"{name}: ") from None
    return of_columns(name, *frame_columns(name, frame, asked.not_features), asked, y)


def _codes(content: str) -> bool:
    """Tell whether a cell of a csv file begins with a zero and another digit, which a number would lose."""
    blocks = range(0, len(content), BLOCK)
    kinds = (content[max(0, start - 3) : start + BLOCK].encode().translate(KINDS) for start in blocks)
    return any(code in block for block in kinds for code in CODES)


def _numbers(path: Path, content: str, width: int) -> list[NDArray[Any]] | None:
    """Read a file of nothing but numbers, fast; None if it is no such file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there are no rows; said below
            cells = np.loadtxt(lines(content), delimiter=mark(path), skiprows=1, ndmin=2, comments=None, quotechar='"')
    except ValueError:
        return None
    return list(cells.T) if cells.size and cells.shape[1] == width else None


def _texts(path: Path, cells: Iterable[list[str]], header: Sequence[str]) -> list[NDArray[Any]]:
    found = [row for row in cells if row]
    for number, row in enumerate(found):
        if len(row) != len(header):
            place = Source(path).place(number)
            raise CorruptFileError(
                f"{path}: {place} has {len(row)} fields, the header has {len(header)}{_hint(header)}"
            )
    if not found:
        raise CorruptFileError(f"{path}: expected a record a line below the header, got none")
    return [np.array([cell.strip() for cell in column], dtype=np.str_) for column in zip(*found, strict=True)]


def _place(path: Path | str, header: Sequence[str], label: str | None) -> int:
    """Find the label's column: the one that is named, or the only one of a telling name."""
    if label is not None:
        if label not in header:
            raise InputError(f"{path}: no column {label!r}: {nearest(label, header)}{_hint(header)}")
        return header.index(label)
    telling = [name for name in header if name.lower() in LABELS]
    if len(telling) == 1:
        return header.index(telling[0])
    found = (
        f"both {' and '.join(telling)}" if telling else f"{', '.join(header[:8])}{', ...' if len(header) > 8 else ''}"
    )
    raise InputError(
        f"{path}: which column is the label? Expected one named {', '.join(LABELS)}, got {found}: give --label COLUMN"
        f"{_hint(header)}"
    )


def _hint(header: Sequence[str]) -> str:
    """Hint at a header that is missing, or at another separator, where the whole header came as one column."""
    counted = [str(i) for i in range(len(header))]
    if 2 * sum(map(is_number, header)) > len(header) and list(header) != counted:
        return ". The first line seems to be data, not a header: add one with the names of the columns"
    if len(header) != 1:
        return ""
    marks = {
        ";": "semicolons, expected commas: save the file with commas",
        "\t": "tabs, expected commas: call the file .tsv",
        "|": "bars, expected commas: save the file with commas",
        ",": "commas, expected tabs: call the file .csv",
    }
    found = next((told for mark, told in marks.items() if mark in header[0]), None)
    return "" if found is None else f". The columns seem to be separated by {found}"


def of_columns(
    path: Path | str, header: Sequence[str], columns: Sequence[NDArray[Any]], asked: DataOptions, y: Any = None
) -> Records:
    """Make records of the columns of a table."""
    twice = next((name for name in header if header.count(name) > 1), None) if len(set(header)) < len(header) else None
    if twice is not None:
        raise CorruptFileError(
            f"{path}: {header.count(twice)} columns are called {twice!r}: rename them, or leave out one{_hint(header)}"
        )
    if y is not None and asked.label is not None:
        raise InputError(f"{path}: label: the labels stand beside the columns: leave it out, or give the columns alone")
    source = Source(path)
    label = header[_place(path, header, asked.label)] if y is None else None
    _check_names(path, header, label, asked)
    table = dict(zip(header, columns, strict=True))
    seen = [name for name in header if name != label and name not in asked.not_features]
    if not seen:
        beside = "" if label is None else f" beside the label {label!r}"
        raise CorruptFileError(f"{path}: expected columns{beside}, got no feature")
    facts: dict[str, Any] = {}
    if label is not None:
        labels = table[label].astype(np.str_) if table[label].dtype.kind in "mM" else table[label]
        y, names = as_label(source, label, labels)
        facts = {"label": label} | ({"class_names": names} if names else {})
    features = {name: feature(source, name, table[name], asked) for name in seen}
    readings = tuple(
        features[name].reading if name in features else _reading(name, column, label=name == label)
        for name, column in table.items()
    )
    _check_features(path, list(features.values()), readings)
    kept = {
        name: column
        for name, column in table.items()
        if name != label and (len(header) <= MOST_COLUMNS or name in asked.not_features)
    }
    blocks = [one.x for one in features.values() if one.x is not None]
    return records(np.concatenate(blocks, axis=1), y, name=str(path), columns=kept, readings=readings, **facts)


def _check_names(path: Path | str, header: Sequence[str], label: str | None, asked: DataOptions) -> None:
    """Refuse options of columns that are not there, of the label's, and of one that is no feature."""
    for option in ("not_features", "rare", "hash"):
        for name in getattr(asked, option):
            if name not in header:
                raise UnknownNameError(f"column in {option} of {path}", name, header)
            if name == label:
                raise InputError(f"{path}: {option}: {name!r} is the label's column, which is no feature: leave it out")
            others = [other for other in ("not_features", "rare", "hash") if name in getattr(asked, other)]
            if len(others) > 1:
                raise InputError(
                    f"{path}: column {name!r} is in {' and in '.join(others)}: leave it out of all but one"
                )


def _reading(name: str, column: NDArray[Any], *, label: bool) -> Reading:
    """Count what a column holds that is no feature."""
    gaps = sum(value is None or value != value or value == "" for value in column.tolist())  # noqa: PLR0124  # NaN
    if not label:
        return Reading(name, "not a feature", None, gaps, 0)
    doubt = doubt_of_label(column)
    return Reading(name, "label", len(np.unique(column)), gaps, 0, doubt, bool(doubt))


def _check_features(path: Path | str, features: Sequence[Feature], readings: tuple[Reading, ...]) -> None:
    """Refuse all columns at once that cannot be features as they are."""
    bad = [one for one in features if one.problem]
    if not bad:
        return
    flags = " ".join(dict.fromkeys(one.remedy for one in bad))
    ways = "; ".join(f"{way} {what}" for way, what in WAYS.items() if way in flags.split())
    if len(bad) == 1:
        told = f"column {bad[0].reading.column!r} {bad[0].problem}: mend it"
    else:
        lines = "".join(f"\n  {one.reading.column!r} {one.problem}" for one in bad)
        told = f"{len(bad)} columns cannot be features as they are:{lines}\nmend them"
    raise ColumnsError(f"{path}: {told}, or add {flags} ({ways})", readings)
