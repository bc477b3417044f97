"""The two files of a search: the page and the numbers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.report.output import Output


def write_search(output: Output, document: Mapping[str, Any]) -> tuple[Path, ...]:
    """Write ``search.html`` and, last, ``search.json``, each complete or not at all."""
    from reticent.report.search.page import html  # draws with matplotlib, which takes half a second to import

    return output.write(document, {"search.html": html(document)})
