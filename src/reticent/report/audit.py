"""The files of an audit: the page, the records, a section of a model card."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from reticent.findings.audit import AuditDocument
from reticent.report import csv
from reticent.report.markdown import markdown
from reticent.report.output import Output


def write_audit(
    output: Output,
    document: AuditDocument,
    rows: Sequence[Mapping[str, Any]],
    thumbnails: Mapping[int, NDArray[Any]] | None = None,
) -> tuple[Path, ...]:
    """Write ``report.html``, ``records.csv``, ``report.md`` if it is asked for and, last, ``audit.json``."""
    from reticent.report.html import html  # draws with matplotlib, which takes half a second to import

    plain = document.to_json()
    section = {"report.md": markdown(plain)} if output.kind == "md" else {}
    return output.write(
        document, {"report.html": html(plain, rows, thumbnails), "records.csv": csv.records(rows), **section}
    )
