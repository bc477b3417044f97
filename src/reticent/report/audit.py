"""The files of an audit: the page, the records, a section of a model card."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from reticent.findings.audit import AuditDocument
from reticent.findings.records import RecordRow
from reticent.report import csv
from reticent.report.output import Output
from reticent.report.render.html import html
from reticent.report.render.markdown import markdown


def write_audit(
    output: Output,
    document: AuditDocument,
    rows: Sequence[RecordRow],
    thumbnails: Mapping[int, NDArray[Any]] | None = None,
) -> tuple[Path, ...]:
    """Write ``report.html``, ``records.csv``, ``report.md`` if it is asked for and, last, ``audit.json``."""
    from reticent.report.kinds.audit import audit  # draws with Matplotlib, which takes half a second to import

    made = audit(document, rows, thumbnails)
    section = {"report.md": markdown(made)} if output.kind == "md" else {}
    return output.write(
        document,
        {"report.html": html(made), "records.csv": csv.records(row.to_json() for row in rows), **section},
    )
