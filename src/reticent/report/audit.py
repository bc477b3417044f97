"""The files of an audit: the page, the records, a section of a model card."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from reticent.findings.audit import AuditDocument
from reticent.findings.record_tests import NamedRecord
from reticent.findings.records import RecordTable, UnitRow
from reticent.report import csv, parquet
from reticent.report.output import Output
from reticent.report.render.html import html
from reticent.report.render.markdown import markdown


def write_audit(
    output: Output,
    document: AuditDocument,
    rows: RecordTable,
    thumbnails: Mapping[int, NDArray[Any]] | None = None,
    names: Sequence[NamedRecord] | None = None,
    units: Sequence[UnitRow] = (),
    *,
    records_format: Literal["csv", "parquet"] = "csv",
) -> tuple[Path, ...]:
    """Write ``report.html``, ``records.csv``, what else there is, and, last, ``audit.json``.

    That is ``named.csv`` where records could be named, ``units.csv`` where units are audited, and ``report.md`` and
    ``records.parquet`` if they are asked for.
    """
    from reticent.report.kinds.audit import audit  # draws with Matplotlib, which takes half a second to import

    made = audit(document, rows, thumbnails, units)
    section = {"report.md": markdown(made)} if output.kind == "md" else {}
    named = {} if names is None else {"named.csv": csv.table(NamedRecord.model_fields, (n.to_json() for n in names))}
    listed: dict[str, Iterator[str] | str | bytes] = {"records.csv": csv.records(rows)}
    if units:
        listed["units.csv"] = csv.table(units[0].to_json(), (one.to_json() for one in units))
    if records_format == "parquet":
        listed["records.parquet"] = parquet.records(rows)
    return output.write(document, {"report.html": html(made), **listed, **named, **section})
