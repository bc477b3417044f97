"""The files of an audit: the page, the records, a section of a model card."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from reticent.findings.audit import AuditDocument
from reticent.findings.record_tests import NamedRecord
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
    names: Sequence[NamedRecord] | None = None,
) -> tuple[Path, ...]:
    """Write ``report.html``, ``records.csv``, what else there is, and, last, ``audit.json``.

    That is ``named.csv`` where records could be named, and ``report.md`` if it is asked for.
    """
    from reticent.report.kinds.audit import audit  # draws with Matplotlib, which takes half a second to import

    made = audit(document, rows, thumbnails)
    section = {"report.md": markdown(made)} if output.kind == "md" else {}
    named = {} if names is None else {"named.csv": csv.table(NamedRecord.model_fields, (n.to_json() for n in names))}
    listed = {"records.csv": csv.records(rows)}
    return output.write(document, {"report.html": html(made), **listed, **named, **section})
