"""The forms of an audit, from plain values as its files hold them."""

import io
from dataclasses import fields

from rich.console import Console

from reticent.findings.audit import AuditDocument
from reticent.findings.records import RecordRow
from reticent.report.render import html as page
from reticent.report.render import markdown as section
from reticent.report.render import terminal as screen

KNOWN = {one.name for one in fields(RecordRow)}


def read(document):
    return AuditDocument.model_validate(document)


def record(row):
    """Make a row of a line of ``records.csv``."""
    groups = {key.removeprefix("group_"): value for key, value in row.items() if key.startswith("group_")}
    return RecordRow(**{key: value for key, value in row.items() if key in KNOWN}, groups=groups)


def blocks(document, rows=(), thumbnails=None):
    from reticent.report.kinds.audit import audit

    return audit(read(document), [record(row) for row in rows], thumbnails)


def html(document, rows=(), thumbnails=None):
    return page.html(blocks(document, rows, thumbnails))


def markdown(document):
    return section.markdown(blocks(document))


def terminal(document, width=80):
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(screen.terminal(blocks(document)))
    return console.file.getvalue()
