"""A search on the terminal: the sentence, and a line for each value that was tried."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from reticent.report.view import tied
from reticent.report.wording import MARK, TIES, found, level, middle, percent, written
from reticent.rounding import decimals


def terminal(document: Mapping[str, Any]) -> Group:
    """Lay a search out for the terminal."""
    fpr = document.get("fpr")
    table = Table(box=None, pad_edge=False)
    table.add_column("tried", overflow="fold")
    for heading in ("accuracy", "AUC", f"TPR at {level(fpr)}" if fpr else "TPR", ""):
        table.add_column(heading, justify="right")
    for one in (document["undefended"], *document["tried"]):
        rate = middle(one.get("tpr"))
        chosen = one["defense"] == document["chosen"]
        table.add_row(
            one["defense"],
            percent(middle(one["accuracy"])),
            written(one["auc"]),
            "" if rate is None else found(one["tpr"], decimals(fpr)),
            "chosen" if chosen else "",
            style="bold" if chosen else "",
        )
    notes = [Text(f"{MARK} {TIES}", style="dim")] * tied(document)
    return Group(Text(document["sentence"]), "", table, *notes)
