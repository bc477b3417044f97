"""The two files of a search: the page and the numbers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.report.files import make_folder, replacing
from reticent.report.write import as_json


def write_search(folder: Path, document: Mapping[str, Any]) -> tuple[Path, Path]:
    """Write ``search.html`` and, last, ``search.json``, each complete or not at all.

    Args:
        folder: where to; made if it is not there.
        document: the search, in the form of ``docs/search.md``.

    Returns:
        The paths of the page and of the numbers.
    """
    from reticent.report.search.page import html  # draws with matplotlib, which takes half a second to import

    page, numbers = html(document), as_json(document)
    make_folder(folder)
    paths = folder / "search.html", folder / "search.json"
    for path, text in zip(paths, (page, numbers), strict=True):
        with replacing(path) as stream:
            stream.write(text)
    return paths
