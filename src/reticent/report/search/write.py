"""The two files of a search: the page and the numbers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.report.write import write_pair


def write_search(folder: Path, document: Mapping[str, Any]) -> tuple[Path, Path]:
    """Write ``search.html`` and, last, ``search.json``, each complete or not at all."""
    from reticent.report.search.page import html  # draws with matplotlib, which takes half a second to import

    return write_pair(folder, "search", html(document), document)
