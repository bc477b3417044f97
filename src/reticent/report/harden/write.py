"""The page and the numbers of a repair."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.report.write import write_pair


def write_harden(folder: Path, document: Mapping[str, Any], beside: Mapping[str, bytes]) -> tuple[Path, Path]:
    """Write ``harden.html``, what stands beside it and, last, ``harden.json``: all of them, or none."""
    from reticent.report.harden.page import html  # draws with matplotlib, which takes half a second to import

    return write_pair(folder, "harden", html(document), document, beside)
