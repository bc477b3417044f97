"""A repair on the terminal: the sentence, before and after, what is not said."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reticent.report.harden.lines import alone, main, marked
from reticent.report.render.terminal import Wrapped
from reticent.report.wording import MARK, TIES, duration


def terminal(document: Mapping[str, Any]) -> Group:
    """Lay a repair out for the terminal."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", overflow="fold")
    for heading in ("before", "after", "change", "interval"):
        table.add_column(heading, justify="right")
    lines = main(document)
    for line in lines:
        table.add_row(*line)
    cost = document["environment"]["repair"]
    share = cost["share_of_training_anew"]
    beside = f", {share:.2f} of what training it anew would take" if share is not None else ""
    said = [
        *[f"{MARK} {TIES}"] * marked(lines),
        *filter(None, [alone(document)]),
        *document["detail"],
        f"The repair took {duration(cost['seconds'])}{beside}.",
    ]
    limits = "\n".join(f"Not said: {line}" for line in document["cannot_say"])
    return Group(
        Wrapped(Text(document["sentence"], style="bold")),
        Padding(table, (1, 0)),
        Wrapped(Text(" ".join(said))),
        "",
        Wrapped(Text(limits, style="dim")),
    )
