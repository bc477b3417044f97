"""Which blocks each kind of document is made of: one file a kind."""

from collections.abc import Callable
from importlib import import_module

from reticent.findings.base import Document
from reticent.report import blocks as b


def layout(schema: str) -> Callable[..., b.Report]:
    """Find what lays a kind of document out: a function, and a file, of the last word of its schema."""
    name = schema.partition("/")[0].rpartition(".")[2]
    found: Callable[..., b.Report] = getattr(import_module(f"{__name__}.{name}"), name)
    return found


def page(document: Document, *beside: object) -> str:
    """Write a document as a page, with what its kind shows beside it, such as pictures of records.

    It draws with Matplotlib, which takes half a second to import.
    """
    from reticent.report.render.html import html

    return html(layout(document.schema_)(document, *beside))
