"""The files of a study: the page, the section for the docs, its figures, the numbers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.errors import InputError, UnwrittenError
from reticent.report.files import replace_bytes, replacing, together
from reticent.report.place import STUDY, check_names, left_over
from reticent.report.seal import sealed
from reticent.report.study.text import markdown
from reticent.report.write import as_json


def write_study(folder: Path, document: Mapping[str, Any]) -> tuple[Path, ...]:
    """Write ``study.html``, ``study.md``, each figure and, last, ``study.json``: all of them, or none."""
    from reticent.report.study.page import html  # draws with matplotlib, which takes half a second to import
    from reticent.report.study.picture import files

    texts = {"study.html": html(document), "study.md": sealed(markdown(document))}
    bodies: dict[str, bytes] = {}
    for figure in document["figures"]:
        texts[figure["svg"]], bodies[figure["png"]] = files(figure)
    numbers = as_json(document)
    try:
        check_names(folder, STUDY, [*STUDY.names(), *texts, *bodies])
    except InputError as error:  # What was measured is kept: the same command goes on from here.
        raise UnwrittenError(str(error), document) from None
    old = left_over(folder, STUDY, [*STUDY.names(), *texts, *bodies])
    with together(folder, document, old):
        for name, text in texts.items():
            with replacing(folder / name) as stream:
                stream.write(text)
        for name, body in bodies.items():
            replace_bytes(folder / name, body)
        with replacing(folder / "study.json") as stream:
            stream.write(numbers)
    return tuple(folder / name for name in (*texts, *bodies, "study.json"))
