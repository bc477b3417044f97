"""A search: what was chosen, how accuracy and leak go with the values, what was tried."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from reticent.report.blocks import (
    DOCUMENTS,
    PAGE,
    Banner,
    Block,
    Bullets,
    Cell,
    Code,
    Column,
    Document,
    Figure,
    Figures,
    Heading,
    Name,
    Prose,
    Row,
    Strong,
    Table,
    only,
)
from reticent.report.cells import estimate
from reticent.report.pictures import search as pictures
from reticent.report.wording import Plain, level
from reticent.rounding import decimals


def search(document: Mapping[str, Any]) -> Document:
    """Bring a search into blocks."""
    name = Name(document["data"].get("name") or "given data")
    return Document(
        title=f"Search of {document['defense']} on {name.text}",
        brand="search of a defense's options",
        section="Search of a defense's options",
        blocks=(
            Banner(
                about=("Search of ", Strong(Name(document["defense"], 120)), " on ", name),
                sentence=document["sentence"],
                menu="Choice",
            ),
            *only(PAGE, *_curves(document)),
            Heading("What was tried", "tried", "Table", level=2, only=DOCUMENTS),
            _tried(document),
            *only(DOCUMENTS, *_limits(document)),
        ),
        files=("The same numbers are in ", Code("search.json"), "."),
        version=document["environment"].get("reticent", ""),
    )


def _curves(document: Mapping[str, Any]) -> tuple[Block, ...]:
    several = [key for key, values in document["over"].items() if len(values) > 1]
    drawn = [Figure(partial(pictures.sensitivity, document, key, i)) for i, key in enumerate(several)]
    trade = Figure(
        partial(pictures.trade, document), "Privacy against utility: a good value lies to the right and low."
    )
    legend = (
        f"The thin bars are {level(document['confidence'])} intervals; the ring is what was chosen; the dashed line is "
        "the undefended recipe, the dotted one the least accuracy that is accepted "
        f"({level(document['lost'])} may be lost)."
    )
    return (
        Heading("How accuracy and leak go with the values", "curves", "Curves", level=2),
        Prose(legend),
        Figures((*drawn, trade)),
    )


def _tried(document: Mapping[str, Any]) -> Table:
    fpr = document["fpr"]
    found = f"Members found at {level(fpr)}" if fpr else "Members found"
    heads = (
        Column("Recipe", numbers=False),
        Column("Accuracy, non-members"),
        Column("AUC"),
        Column(found),
        Column("Chosen", numbers=False),
    )
    rows = (_row(one, document["chosen"], fpr) for one in (document["undefended"], *document["tried"]))
    title = f"Accuracy and leak of each value, with {level(document['confidence'])} intervals"
    return Table(title, heads, tuple(rows), key="tried-table", sortable=True)


def _row(one: Plain, chosen: str | None, fpr: float | None) -> Row:
    is_it = one["defense"] == chosen
    return Row(
        (
            Cell(Name(one["defense"], 80)),
            estimate(one["accuracy"], True),
            estimate(one["auc"]),
            estimate(one["tpr"], True, decimals(fpr)),
            Cell("✓ chosen" if is_it else ""),
        ),
        strong=is_it,
    )


def _limits(document: Mapping[str, Any]) -> tuple[Block, ...]:
    seed = document["seed"]
    return (
        Heading("What this search cannot say", "limits", "Limits", level=2),
        Bullets((
            "The numbers of the chosen value are the best of several, so they look better than that value is. Its "
            f"audit must be of other models: those of this search were drawn with the seed {seed['search']}, the "
            f"audit's is {seed['audit']}.",
            "Estimates decide, not intervals: values whose intervals overlap may be equally good.",
            "Values between those that were tried.",
        )),
    )
