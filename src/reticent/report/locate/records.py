"""``records.html``, ``records.csv``, ``records.json``: which records are given away, which are learned by heart."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reticent.report import csv
from reticent.report.output import Output
from reticent.report.page import facts, scale
from reticent.report.png import data_uri
from reticent.report.sections import records as section
from reticent.report.view import label, short
from reticent.report.wording import Plain, count, number
from reticent.report.words import GLOSSARY as WORDS

if TYPE_CHECKING:
    from rich.console import RenderableType

MEMORISED = 0.5
"""From this memorisation on, a record is called learned by heart."""
GALLERY = 24
"""Most pictures of a gallery."""
TERMINAL = 10
"""Records that the terminal shows."""
GLOSSARY = tuple(
    (word, said) for word, said in WORDS if word.startswith(("Member", "Exposure", "Distance", "Memorisation"))
)


def write_records_page(
    output: Output, document: Mapping[str, Any], rows: Sequence[Plain], thumbnails: Mapping[int, NDArray[Any]]
) -> tuple[Path, ...]:
    """Write ``records.html``, ``records.csv`` and, last, ``records.json``."""
    return output.write(document, {"records.html": html(document, rows, thumbnails), "records.csv": csv.records(rows)})


def html(document: Mapping[str, Any], rows: Sequence[Plain], thumbnails: Mapping[int, NDArray[Any]]) -> str:
    """Write the records as one page that loads nothing."""
    from reticent.report.locate.record_pictures import memorisation
    from reticent.report.pictures import audit as figures  # matplotlib takes half a second to import
    from reticent.report.templating import drawn, render

    data, environment, population = document["data"], document["environment"], document["population"]
    exposures = [row["exposure"] for row in rows if row.get("exposure") is not None]
    memorised = [row["memorisation"] for row in rows if row.get("memorisation") is not None]
    values = {
        "name": short(data["name"]),
        "scale": scale(data, population),
        "sentence": document["sentence"],
        "detail": document["detail"],
        "records": section.parts({"groups": _groupings(rows)}, rows, thumbnails),
        "exposure": drawn(figures.exposures(exposures)) if exposures else None,
        "memorisation": drawn(memorisation(memorised)) if memorised else None,
        "memorised": [
            {"record": row["record"], "label": label(row), "memorisation": row["memorisation"]}
            | {"error": row.get("memorisation_error"), "picture": _picture(row, thumbnails)}
            for row in document["most_memorised"][:GALLERY]
        ],
        "recipe": document["recipe"] or {},
        "limits_said": document["cannot_say"],
        "what": "list of records",
        "environment": environment,
        "glossary": GLOSSARY,
        **{key: item for key, item in facts(data, population, (), environment).items() if key != "specs"},
    }
    return render("locate_records.html.j2", values)


def _picture(row: Plain, thumbnails: Mapping[int, NDArray[Any]]) -> str | None:
    return data_uri(thumbnails[row["record"]]) if row["record"] in thumbnails else None


def _groupings(rows: Sequence[Plain]) -> list[dict[str, Any]]:
    """Name the columns of groups, so that the table has them."""
    keys = rows[0] if rows else {}
    return [{"by": key.removeprefix("group_")} for key in keys if key.startswith("group_")]


def terminal(document: Mapping[str, Any]) -> "RenderableType":
    """Bring the most exposed records into a table for the terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("most exposed", justify="right")
    table.add_column("class", overflow="fold")
    for heading in ("exposure", "±", "memorisation", "±", "models with", "without"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in document["most_exposed"][:TERMINAL]:
        table.add_row(
            str(row["record"]),
            Text(short(label(row), 30)),
            number(row["exposure"], 2),
            number(row.get("exposure_error"), 2),
            number(row.get("memorisation")),
            number(row.get("memorisation_error")),
            count(row.get("models_in")),
            count(row.get("models_out")),
        )
    told = [Text(line) for line in document["detail"]]
    return Group(Text(document["sentence"], style="bold"), *told, "", table)


def spread(values: Sequence[float]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count memorisations by bins that have 0 in the middle of one, since many records have none."""
    edges = np.linspace(-1.05, 1.05, 22)
    return np.histogram(np.asarray(values, np.float64), edges)[0], edges
