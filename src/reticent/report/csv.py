"""One line a record, as CSV: what to sort, filter and join elsewhere."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from reticent.findings.records import COLUMNS

Row = Mapping[str, Any]


def records(rows: Iterable[Row]) -> str:
    """Write the rows of all records, in the order of the first one; numbers keep all their digits."""
    listed = list(rows)
    return table(listed[0] if listed else COLUMNS, listed)


def table(columns: Iterable[str], rows: Iterable[Row]) -> str:
    """Write rows under a header; numbers keep all their digits."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
