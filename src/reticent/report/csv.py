"""One line a record, as CSV: what to sort, filter and join elsewhere.

A text of the user's that a spreadsheet would compute, such as ``=1+1``, stands behind an apostrophe.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reticent.data.number_formats import is_number
from reticent.findings.records import COLUMNS, RecordRow, RecordTable

Row = Mapping[str, Any]
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that spreadsheets compute."""


def records(rows: Sequence[RecordRow]) -> Iterator[str]:
    """Write the rows of all records, a piece at a time; numbers keep all their digits."""
    if not isinstance(rows, RecordTable):
        plain = [row.to_json() for row in rows]
        yield table(plain[0] if plain else COLUMNS, plain)
        return
    yield _lines([rows.header])
    yield from map(_lines, rows.blocks())


def table(columns: Iterable[str], rows: Iterable[Row]) -> str:
    """Write rows under a header; numbers keep all their digits."""
    header = tuple(columns)
    return _lines([header, *([row[name] for name in header] for row in rows)])


def _lines(lines: Iterable[Iterable[Any]]) -> str:
    stream = io.StringIO()
    shown = ([_text(cell) if isinstance(cell, str) else cell for cell in line] for line in lines)
    csv.writer(stream, lineterminator="\n").writerows(shown)
    return stream.getvalue()


def _text(cell: str) -> str:
    bare = cell.lstrip("'")
    return f"'{cell}" if bare.startswith(FORMULAS) and not is_number(bare) else cell


def text(cell: str) -> str:
    """Give the text that a cell was written of."""
    return cell[1:] if cell.startswith("'") and _text(cell[1:]) == cell else cell
