"""The page of a search."""

from collections.abc import Mapping
from typing import Any

from reticent.report.search.picture import sensitivity, trade
from reticent.report.templating import drawn, render
from reticent.report.view import short, tied
from reticent.report.wording import level


def html(document: Mapping[str, Any]) -> str:
    """Write a search as one page that loads nothing."""
    values = {
        "name": short(document["data"].get("name") or "given data"),
        "defense": document["defense"],
        "sentence": document["sentence"],
        "fpr": document["fpr"],
        "found": f"Members found at {level(document['fpr'])}" if document["fpr"] else "Members found",
        "confidence": level(document["confidence"]),
        "lost": level(document["lost"]),
        "seed": document["seed"],
        "curves": [drawn(svg) for svg in sensitivity(document)],
        "trade": drawn(trade(document)),
        "ties": tied(document),
        "lines": [
            {**one, "chosen": one["defense"] == document["chosen"]}
            for one in (document["undefended"], *document["tried"])
        ],
        "environment": document["environment"],
    }
    return render("search.html.j2", values)
