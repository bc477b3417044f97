"""The files of a study: the page, the section for the docs, its figures, the numbers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.report.output import Output, sealed
from reticent.report.study.text import markdown


def write_study(output: Output, document: Mapping[str, Any]) -> tuple[Path, ...]:
    """Write ``study.html``, ``study.md``, each figure and, last, ``study.json``: all of them, or none."""
    from reticent.report.study.page import html  # draws with matplotlib, which takes half a second to import
    from reticent.report.study.picture import files

    written: dict[str, str | bytes] = {"study.html": html(document), "study.md": sealed(markdown(document))}
    for figure in document["figures"]:
        written[figure["svg"]], written[figure["png"]] = files(figure)
    return output.write(document, written)
