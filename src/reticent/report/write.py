"""The three files of an audit: the page, the numbers, the records."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from reticent.errors import InputError
from reticent.report.csv import write_records
from reticent.report.files import replace_bytes, replacing, together
from reticent.report.markdown import markdown
from reticent.report.place import AUDIT, left_over
from reticent.report.seal import sealed


def write_report(
    folder: Path,
    document: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    thumbnails: Mapping[int, NDArray[Any]] | None = None,
    form: str = "html",
) -> tuple[Path, ...]:
    """Write ``report.html``, ``records.csv`` and, last, ``audit.json``: all of them, or none."""
    from reticent.report.html import html  # draws with matplotlib, which takes half a second to import

    page, numbers = html(document, rows, thumbnails), as_json(document)
    paths = folder / "report.html", folder / "records.csv", folder / "audit.json"
    with together(folder, document, left_over(folder, AUDIT, AUDIT.names(form))):
        with replacing(paths[0]) as stream:
            stream.write(page)
        write_records(paths[1], rows)
        section = write_section(folder / "report.md", markdown(document)) if form == "md" else ()
        with replacing(paths[2]) as stream:
            stream.write(numbers)
    return (*paths, *section)


def write_pair(
    folder: Path, name: str, page: str, document: Mapping[str, Any], beside: Mapping[str, bytes] | None = None
) -> tuple[Path, Path]:
    """Write a page and, last, the numbers behind it: all of them, or none."""
    texts = {folder / f"{name}.html": page, folder / f"{name}.json": as_json(document)}
    with together(folder, document):
        for other, content in (beside or {}).items():
            replace_bytes(folder / other, content)
        for path, text in texts.items():
            with replacing(path) as stream:
                stream.write(text)
    first, last = texts
    return first, last


def write_section(path: Path, text: str) -> tuple[Path]:
    """Write a section of a model card; its last line shows whether somebody edits it."""
    with replacing(path) as stream:
        stream.write(sealed(text))
    return (path,)


def as_json(document: Mapping[str, Any]) -> str:
    """Write the document as JSON that any parser takes: in its own order, without NaN, one newline at the end."""
    try:
        return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    except (ValueError, TypeError) as error:
        where = _offender(document, "document")
        raise InputError(f"{where or 'document'}: expected plain, finite values, got {error}") from None


def _offender(value: Any, path: str) -> str | None:
    """Find the path of the first value that JSON cannot hold."""
    if isinstance(value, Mapping):
        found = (_offender(item, f"{path}.{key}") for key, item in value.items())
    elif isinstance(value, (list, tuple)):
        found = (_offender(item, f"{path}[{i}]") for i, item in enumerate(value))
    else:
        plain = value is None or isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))
        return None if plain else path
    return next((item for item in found if item), None)
