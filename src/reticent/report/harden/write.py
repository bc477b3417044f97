"""The page and the numbers of a repair."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.report.output import Output


def write_harden(output: Output, document: Mapping[str, Any], beside: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write ``harden.html``, what stands beside it and, last, ``harden.json``: all of them, or none."""
    from reticent.report.harden.page import html  # draws with matplotlib, which takes half a second to import

    return output.write(document, {"harden.html": html(document), **beside})
