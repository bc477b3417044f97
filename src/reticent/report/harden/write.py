"""The page and the numbers of a repair."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.report.files import make_folder, replacing
from reticent.report.write import as_json


def write_harden(folder: Path, document: Mapping[str, Any]) -> tuple[Path, Path]:
    """Write ``harden.html`` and, last, ``harden.json``, each complete or not at all.

    Args:
        folder: where to; made if it is not there.
        document: the repair, in the form of ``docs/harden.md``.

    Returns:
        The paths of the page and of the numbers.
    """
    from reticent.report.harden.page import html  # draws with matplotlib, which takes half a second to import

    page, numbers = html(document), as_json(document)
    make_folder(folder)
    paths = folder / "harden.html", folder / "harden.json"
    for path, text in zip(paths, (page, numbers), strict=True):
        with replacing(path) as stream:
            stream.write(text)
    return paths
