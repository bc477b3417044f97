"""One line a record, as CSV: what to sort, filter and join elsewhere."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from reticent.findings.records import COLUMNS


def records(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write the rows of all records, in the order of the first one; numbers keep all their digits."""
    listed = list(rows)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, listed[0] if listed else COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(listed)
    return stream.getvalue()
