"""One line a record, as CSV: what to sort, filter and join elsewhere."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reticent.findings.records import COLUMNS, RecordRow, RecordTable

Row = Mapping[str, Any]


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
    csv.writer(stream, lineterminator="\n").writerows(lines)
    return stream.getvalue()
