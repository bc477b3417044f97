"""The page: one HTML file that loads nothing, from the audit's document and its record rows."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray

from reticent.report import figures, page, view, wording
from reticent.report.png import data_uri
from reticent.report.wording import Plain
from reticent.report.words import COLUMNS, GLOSSARY, LEAKS

ROWS = 2000
"""Most records that the page lists; the CSV file has all of them."""

GALLERY = 24
"""Most pictures that the page shows."""

HISTOGRAMS = 6
"""Most attacks whose score histograms the page shows."""


def html(
    document: Mapping[str, Any], rows: Sequence[Plain], thumbnails: Mapping[int, NDArray[Any]] | None = None
) -> str:
    """Write the report as one page, verdict first, then evidence, then method.

    The page has its style, script, figures and pictures inside, and a policy that forbids the browser any request. All
    text from outside is escaped. The same input gives the same text.

    Args:
        document: the audit, in the form of ``docs/schema.md``; parts that are missing are left out of the page.
        rows: one mapping a record, the most exposed first.
        thumbnails: record id -> ``uint8 (height, width)`` or ``(height, width, 3)``; None for data without pictures.

    Returns:
        The text of the page.
    """
    css, js = _asset("report.css"), _asset("report.js")
    verdict = document.get("verdict") or {}
    values = {
        "verdict": verdict,
        "leak": LEAKS.get(verdict.get("leak", ""), LEAKS["cannot tell"]),
        "glossary": GLOSSARY,
        "columns": COLUMNS,
        "missing": wording.MISSING,
        "css": Markup(css),  # noqa: S704 - a file of this package
        "js": Markup(js),  # noqa: S704 - a file of this package
        "policy": _policy(js),
        **page.parts(document),
        **_drawings(document, rows),
        **_records(rows, thumbnails or {}),
    }
    return _environment().get_template("report.html.j2").render(values) + "\n"


def _drawings(document: Mapping[str, Any], rows: Sequence[Plain]) -> dict[str, Any]:
    """Draw what the document has the numbers for."""
    attacks = view.ordered(document)
    population = document.get("population") or {}
    curves, curved = [], [attack for attack in attacks if attack.get("roc")]
    if curved:
        drawing = figures.roc(curved, (document.get("verdict") or {}).get("fpr"))
        curves.append((Markup(drawing), page.roc_caption(curved)))  # noqa: S704 - render escapes its texts
    if attacks:
        curves.append((Markup(figures.spread(attacks)), page.SPREAD_CAPTION))  # noqa: S704
    drawn = [attack for attack in attacks if attack.get("histogram")][:HISTOGRAMS]
    exposures = [row["exposure"] for row in rows if row.get("exposure") is not None]
    return {
        "curves": curves,
        "histograms": [
            (Markup(figures.histogram(attack, f"scores-{i}")), page.histogram_caption(attack))  # noqa: S704
            for i, attack in enumerate(drawn)
        ],
        "accuracy": Markup(figures.accuracy(population)) if population.get("accuracy") else None,  # noqa: S704
        "exposure": Markup(figures.exposures(exposures)) if exposures else None,  # noqa: S704
    }


def _records(rows: Sequence[Plain], thumbnails: Mapping[int, NDArray[Any]]) -> dict[str, Any]:
    """Choose the records to list and the pictures to show."""
    names = ("exposure", "memorisation", "margin_in", "margin_out", "models_in", "models_out")
    shown = [
        {"record": row["record"], "label": view.label(row)} | {name: row.get(name) for name in names}
        for row in rows[:ROWS]
    ]
    pictured = [row for row in shown if row["record"] in thumbnails][:GALLERY]
    classes = sorted({row["label"] for row in shown})
    return {
        "shown": shown,
        "total": len(rows),
        "pictures": [row | {"picture": data_uri(thumbnails[row["record"]])} for row in pictured],
        "classes": classes if 1 < len(classes) <= 200 else [],
    }


def _policy(script: str) -> str:
    """Forbid every request, and every script but the page's own."""
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode("ascii")
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


@cache
def _asset(name: str) -> str:
    return files("reticent.report").joinpath("templates", name).read_text(encoding="utf-8").strip()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("reticent.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = (
        "number",
        "percent",
        "level",
        "count",
        "share",
        "middle",
        "limits",
        "span",
        "unmeasurable",
        "value",
        "words",
    )
    environment.filters.update({name: getattr(wording, name) for name in names})
    environment.filters.update({name: getattr(view, name) for name in ("short", "title", "rate_at")})
    return environment
