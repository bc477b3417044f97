"""The page: one HTML file that loads nothing, from the audit's document and its record rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from reticent.report import page, view
from reticent.report.pictures import audit as figures
from reticent.report.pictures import dots
from reticent.report.sections import control, epsilon, groups, non_adaptive, records
from reticent.report.sections.records import GALLERY, ROWS
from reticent.report.svg import SERIES
from reticent.report.templating import drawn, render
from reticent.report.view import short, title
from reticent.report.wording import Plain
from reticent.report.words import GLOSSARY, LEAKS, UNSURE_OF_LEARNERS, Leak

HISTOGRAMS = 9
"""Most attacks whose score histograms the page shows, the verdict's first."""

__all__ = ["GALLERY", "HISTOGRAMS", "ROWS", "html"]


def html(
    document: Mapping[str, Any], rows: Sequence[Plain], thumbnails: Mapping[int, NDArray[Any]] | None = None
) -> str:
    """Write the report as one page, verdict first, then evidence, then method.

    The page has its style, script, figures and pictures inside, and a policy that forbids the browser any request. All
    text from outside is escaped. The same input gives the same text.
    """
    verdict, attacks = document.get("verdict") or {}, view.ordered(document)
    values = {
        "verdict": verdict,
        "leak": _leak(document),
        "glossary": GLOSSARY,
        **page.parts(document),
        **_drawings(document, rows),
        "epsilon": epsilon.parts(document, attacks),
        "control": _control(document, attacks),
        "unaware": non_adaptive.parts(document, attacks),
        "groupings": _groups(document),
        "records": records.parts(document, rows, thumbnails or {}),
    }
    return render("report.html.j2", values)


def _leak(document: Mapping[str, Any]) -> Leak:
    """Look up how the verdict is shown; more of models that learn nothing would settle nothing."""
    unsure = LEAKS["cannot tell"]
    leak = LEAKS.get((document.get("verdict") or {}).get("leak", ""), unsure)
    sick = (document.get("population") or {}).get("health")
    return leak._replace(meaning=UNSURE_OF_LEARNERS) if leak is unsure and sick else leak


def _drawings(document: Mapping[str, Any], rows: Sequence[Plain]) -> dict[str, Any]:
    """Draw what the document has the numbers for."""
    attacks = view.ordered(document)
    population = document.get("population") or {}
    curves, curved = [], [attack for attack in attacks if attack.get("roc")]
    if curved:
        drawing = figures.roc(curved, (document.get("verdict") or {}).get("fpr"))
        curves.append((drawn(drawing), page.roc_caption(curved)))
    if attacks:
        curves.append((drawn(figures.spread(attacks)), page.SPREAD_CAPTION))
    known = [attack for attack in attacks if attack.get("histogram")]
    shown = known[:HISTOGRAMS]
    exposures = [row["exposure"] for row in rows if row.get("exposure") is not None]
    return {
        "curves": curves,
        "histograms": [
            (drawn(figures.histogram(attack, f"scores-{i}")), page.histogram_caption(attack))
            for i, attack in enumerate(shown)
        ],
        "histograms_left": [short(title(attack), 40) for attack in known[HISTOGRAMS:]],
        "accuracy": drawn(figures.accuracy(population)) if population.get("accuracy") else None,
        "exposure": drawn(figures.exposures(exposures)) if exposures else None,
    }


def _control(document: Mapping[str, Any], attacks: Sequence[Plain]) -> dict[str, Any] | None:
    """Draw the real audit beside the shuffled one."""
    parts = control.parts(document, attacks)
    if parts is None:
        return None
    lines = parts["lines"]
    both = (
        dots.Series("real", [line["auc"] for line in lines]),
        dots.Series("shuffled", [line["null_auc"] for line in lines], filled=False, colour=SERIES[1], marker="s"),
    )
    heading = "AUC of each attack, in the real audit and with the membership shuffled"
    names = [line["name"] for line in lines]
    return parts | {"drawing": drawn(dots.beside(names, both, heading, "null-control")) if lines else None}


def _groups(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Draw every grouping."""
    made = groups.parts(document)
    for parts in made:
        heading = f"AUC of the records of each {parts['by']}, with intervals"
        few = parts["drawn"]
        drawing = dots.groups(few, parts["known"], heading, f"{parts['key']}-figure") if few else None
        parts["drawing"] = drawn(drawing) if drawing else None
    return made
