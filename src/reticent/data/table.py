"""Tables of a user: csv and Parquet files with one record a row, one column for the label."""

import csv
import io
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent import opening
from reticent.data.columns import GAPS, as_features, as_label, is_number
from reticent.data.forms import form
from reticent.data.given import records
from reticent.data.records import Records
from reticent.errors import CorruptFileError, InputError, MissingExtraError, UnknownNameError, nearest

LABELS = ("label", "labels", "y", "target", "class")
"""Names that tell the label's column, where there is just one of them; else the user says which it is."""

MOST_COLUMNS = 200
"""A wider table's columns are features only; a narrower one's are kept as they are, too, to group records by."""


def read_csv(path: Path, label: str | None = None, not_features: Sequence[str] = ()) -> Records:
    """Read a csv file with a header.

    Args:
        path: the file.
        label: the label's column; by default the only one with a name of `LABELS`.
        not_features: columns that models do not see, such as a number of the record; they may hold anything, gaps too.

    Returns:
        Tabular records: numbers as they are, other columns one-hot, with the texts in sorted order.

    Raises:
        CorruptFileError: no header, or rows of several lengths, or no text at all.

    Cost:
        About 20 million cells a second where all are numbers, a tenth of that elsewhere.
    """
    return of_columns(path, *csv_columns(path), label, not_features)


def csv_columns(path: Path) -> tuple[list[str], list[NDArray[Any]]]:
    """Read the columns of a csv or tsv file with a header, packed by gzip or not.

    Args:
        path: the file.

    Returns:
        Their names and their values: all ``float64``, or all texts.

    Raises:
        CorruptFileError: no header, or rows of several lengths, or no text at all.
    """
    content, mark = opening.text(path), "\t" if "tsv" in form(path) else ","
    try:
        stream = io.StringIO(content, newline="")
        header = next(csv.reader(stream, delimiter=mark), [])
        if not header:
            raise CorruptFileError(f"{path}: expected a header line with the names of the columns, got an empty file")
        columns = _numbers(content, mark, len(header)) or _texts(path, csv.reader(stream, delimiter=mark), header)
    except csv.Error as error:
        raise CorruptFileError(f"{path}: cannot be read as csv: {error}") from None
    if all(is_number(name) for name in header):
        raise CorruptFileError(f"{path}: expected a header line with the names of the columns, got numbers: add one")
    return [name.strip() for name in header], columns


def read_parquet(path: Path, label: str | None = None, not_features: Sequence[str] = ()) -> Records:
    """Read a Parquet file.

    Args:
        path: the file.
        label: the label's column; by default the only one with a name of `LABELS`.
        not_features: columns that models do not see.

    Returns:
        Tabular records, as for `read_csv`.

    Raises:
        MissingExtraError: pyarrow is not installed.
        CorruptFileError: it cannot be read.
        InputError: a column has gaps, or holds neither numbers nor texts.
    """
    return of_columns(path, *parquet_columns(path, not_features), label, not_features)


def parquet_columns(path: Path, not_features: Sequence[str] = ()) -> tuple[list[str], list[NDArray[Any]]]:
    """Read the columns of a Parquet file.

    Args:
        path: the file.
        not_features: columns that may have gaps.

    Returns:
        Their names and their values.

    Raises:
        MissingExtraError: pyarrow is not installed.
        CorruptFileError: it cannot be read.
        InputError: a column has gaps, or holds neither numbers nor texts.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "reading Parquet files") from None
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise CorruptFileError(f"{path}: cannot be read as Parquet: {error}") from None
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in not_features:
            columns.append(np.fromiter(column.to_pylist(), dtype=object, count=len(column)))
            continue
        if column.null_count:
            raise InputError(f"{path}: column {name!r} has {column.null_count} gaps: {GAPS.format(name)}")
        values = np.asarray(column.to_pylist() if pa.types.is_dictionary(column.type) else column.to_numpy())
        if values.dtype.kind == "O" and len(values) and not isinstance(values[0], str):
            raise InputError(f"{path}: column {name!r} holds {column.type}: expected numbers or texts")
        columns.append(values.astype(np.str_) if values.dtype.kind == "O" else values)
    return list(table.column_names), columns


def _numbers(content: str, mark: str, width: int) -> list[NDArray[Any]] | None:
    """Read a file of nothing but numbers, fast; None if it is no such file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there are no rows; said below
            lines = io.StringIO(content)
            cells = np.loadtxt(lines, delimiter=mark, skiprows=1, ndmin=2, comments=None, quotechar='"')
    except ValueError:
        return None
    return list(cells.T) if cells.size and cells.shape[1] == width else None


def _texts(path: Path, lines: Iterable[list[str]], header: Sequence[str]) -> list[NDArray[Any]]:
    rows = [row for row in lines if row]
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise CorruptFileError(
                f"{path}: record {number} has {len(row)} fields, the header has {len(header)}{_separated(header)}"
            )
    if not rows:
        raise CorruptFileError(f"{path}: expected a record a line below the header, got none")
    return [np.array([cell.strip() for cell in column], dtype=np.str_) for column in zip(*rows, strict=True)]


def _place(path: Path | str, header: Sequence[str], label: str | None) -> int:
    """Find the label's column: the one that is named, or the only one of a telling name.

    Raises:
        InputError: there is no such column, or it cannot be told which one it is.
    """
    if label is not None:
        if label not in header:
            raise InputError(f"{path}: no column {label!r}: {nearest(label, header)}{_separated(header)}")
        return header.index(label)
    telling = [name for name in header if name.lower() in LABELS]
    if len(telling) == 1:
        return header.index(telling[0])
    found = (
        f"both {' and '.join(telling)}" if telling else f"{', '.join(header[:8])}{', ...' if len(header) > 8 else ''}"
    )
    raise InputError(
        f"{path}: which column is the label? Expected one named {', '.join(LABELS)}, got {found}: give --label COLUMN"
        f"{_separated(header)}"
    )


def _separated(header: Sequence[str]) -> str:
    """Hint at another separator, where the whole header came as one column."""
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
    path: Path | str,
    header: Sequence[str],
    columns: Sequence[NDArray[Any]],
    label_name: str | None,
    not_features: Sequence[str],
) -> Records:
    """Make records of the columns of a table.

    Args:
        path: what to call it in messages.
        header: the columns' names.
        columns: their values, each ``(N,)``.
        label_name: the label's column, or None.
        not_features: columns that models do not see.

    Returns:
        Tabular records, as for `read_csv`.

    Raises:
        InputError: there is no such label's column, or a column holds what no model can take.
        UnknownNameError: there is no such column in `not_features`.
        CorruptFileError: there is no feature, or two columns have one name.
    """
    twice = next((name for name in header if header.count(name) > 1), None) if len(set(header)) < len(header) else None
    if twice is not None:
        raise CorruptFileError(
            f"{path}: {header.count(twice)} columns are called {twice!r}: rename them, or leave out one"
        )
    place = _place(path, header, label_name)
    for name in not_features:
        if name not in header:
            raise UnknownNameError(f"column in not_features of {path}", name, header)
        if name == header[place]:
            raise InputError(f"{path}: not_features: {name!r} is the label's column, which is no feature: leave it out")
    seen = [j for j, name in enumerate(header) if j != place and name not in not_features]
    if not seen:
        raise CorruptFileError(f"{path}: expected columns beside the label {header[place]!r}, got no feature")
    features = [as_features(path, header[j], columns[j]) for j in seen]
    labels, names = as_label(path, header[place], columns[place])
    kept = {
        name: columns[j]
        for j, name in enumerate(header)
        if j != place and (len(header) <= MOST_COLUMNS or name in not_features)
    }
    facts = {"columns": kept, "label": header[place]} | ({"class_names": names} if names else {})
    return records(np.concatenate(features, axis=1), labels, name=str(path), **facts)
