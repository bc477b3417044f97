"""One line a record, as CSV: what to sort, filter and join elsewhere."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reticent.report.files import replacing

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


def write_records(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the rows of all records; the file appears complete or not at all.

    Numbers keep all their digits; an unknown value is empty. What the first row has beyond `COLUMNS` follows them.
    """
    iterator = iter(rows)
    first = next(iterator, None)
    extra = [key for key in first if key not in COLUMNS] if first is not None else []
    names = [*COLUMNS, *extra]
    with replacing(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        if first is not None:
            writer.writerow([first.get(name) for name in names])
            writer.writerows([row.get(name) for name in names] for row in iterator)
