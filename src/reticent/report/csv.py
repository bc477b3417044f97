"""One line a record, as CSV: what to sort, filter and join elsewhere."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

COLUMNS = (
    "record",
    "label",
    "label_name",
    "exposure",
    "memorisation",
    "margin_in",
    "margin_out",
    "models_in",
    "models_out",
)
"""The columns that are always there, in this order (``docs/schema.md``)."""


def records(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write the rows of all records.

    Numbers keep all their digits; an unknown value is empty. What the first row has beyond `COLUMNS` follows them.
    """
    listed = list(rows)
    names = [*COLUMNS, *(key for key in (listed[0] if listed else ()) if key not in COLUMNS)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([row.get(name) for name in names] for row in listed)
    return stream.getvalue()
