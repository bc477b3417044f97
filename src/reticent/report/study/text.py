"""A study as a section for the docs in Markdown, and as text for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from reticent.report.markdown import escape, table
from reticent.report.study import view
from reticent.report.wording import Plain, level, limits, middle

STYLES = {"yes": "green", "no": "red", "open": "yellow"}


def markdown(document: Mapping[str, Any]) -> str:
    """Write a study as a section of a document."""
    scale = document["scale"]
    parts = [
        f"## {escape(document['study'])}, scale {escape(scale['name'])}",
        f"{escape(document['title'], 400)} {escape(document['paper'], 400)}",
        f"**{escape(document['sentence'], 600)}**",
        *(text for title, own in view.by_origin(document["claims"]) for text in (f"### {title}", _claims(own))),
    ]
    parts += [f"![{escape(figure['title'], 300)}]({figure['png']})" for figure in document["figures"]]
    sure = level(document["confidence"])
    for one in document["tables"]:
        legend = f"In brackets: {sure} intervals; of one seed they are over {escape(document['over'], 200)}."
        if any(row.get("paper") for row in one["rows"]):
            legend += " Below a line that the paper has too: its numbers, of other data or another scale."
        parts += [f"### {escape(one['title'], 200)}", _table(one), legend]
    for one in document["published"]:
        parts += [f"### The paper: {escape(one['title'], 200)}", _printed(one)]
        notes = [escape(text, 600) for text in (one["note"], *view.remarks(one)) if text]
        parts += ["\n".join(f"- {note}" for note in notes)] if notes else []
    if document["cannot_say"]:
        said = "\n".join(f"- {escape(item, 800)}" for item in document["cannot_say"])
        parts += ["### What this study cannot say", said]
    return "\n\n".join(parts) + "\n"


def _claims(claims: Sequence[Plain]) -> str:
    lines = []
    for claim in claims:
        numbers = "<br>".join(
            line
            for kind in claim["kinds"]
            for line in (f"*{escape(view.kind(kind), 400)}*", *(_number(part) for part in kind["parts"]))
        )
        text = f"{escape(claim['text'], 400)} ({escape(claim['source'], 120)})"
        reason = view.why(claim)
        verdict = f"**{escape(claim['verdict'])}**{f': {reason}' if reason else ''}"
        lines.append([text, verdict, numbers, escape(claim["rule"], 900)])
    return table(["Claim", "Verdict", "What was found", "Rule, fixed before"], lines, texts=4)


def _number(part: Plain) -> str:
    return f"{escape(part['label'], 200)}: {view.told(part, part['metric'])}"


def _table(one: Plain) -> str:
    columns = view.used(one)
    lines = []
    for row in one["rows"]:
        cells = [view.told(row["values"].get(column["key"]), column["form"]) for column in columns]
        lines.append([escape(row["name"], 120), *cells])
        if row.get("paper"):
            paper = [view.printed(row["paper"].get(column["key"]), column["form"]) for column in columns]
            lines.append(["*paper*", *paper])
    return table(["", *(escape(column["label"]) for column in columns)], lines)


def _printed(one: Plain) -> str:
    lines = [
        [escape(name, 120), *(view.printed(values.get(column["key"]), column["form"]) for column in one["columns"])]
        for name, values in one["rows"].items()
    ]
    return table(["", *(escape(column["label"]) for column in one["columns"])], lines)


def terminal(document: Mapping[str, Any]) -> RenderableType:
    """Lay a study out for a terminal."""
    shown: list[RenderableType] = []
    for one in document["tables"]:
        shown += [Text(f"\n{one['title']}", style="bold"), _grid(one)]
    for title, claims in view.by_origin(document["claims"]):
        shown.append(Text(f"\n{title}, judged by {level(document['confidence'])} intervals", style="bold"))
        for claim in claims:
            shown += _judged(claim)
    shown.append(Text(f"\n{document['sentence']}", style="bold"))
    return Group(*shown)


def _judged(claim: Plain) -> list[Text]:
    kind, reason = view.KINDS[claim["verdict"]], view.why(claim)
    lines = [Text.assemble((f"{view.MARKS[kind]} {claim['verdict']}: ", STYLES[kind]), claim["text"])]
    lines += [Text(f"    {reason}", style="yellow")] if reason else []
    for one in claim["kinds"]:
        lines.append(Text(f"    {view.kind(one)}"))
        lines += [
            Text(f"        {part['label']}: {view.told(part, part['metric'])}", style="dim") for part in one["parts"]
        ]
    return lines


def _grid(one: Plain) -> Table:
    columns = view.used(one)
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("", overflow="fold")
    for column in columns:
        grid.add_column(column["label"], justify="right", overflow="fold")
    for row in one["rows"]:
        cells = [_cell(row["values"].get(column["key"]), column["form"]) for column in columns]
        grid.add_row(Text(row["name"]), *cells)
        if row.get("paper"):
            paper = (view.printed(row["paper"].get(column["key"]), column["form"]) for column in columns)
            grid.add_row(Text("  paper", style="dim"), *(Text(cell, style="dim") for cell in paper))
    return grid


def _cell(estimate: Plain | None, how: str) -> Text:
    text = Text(view.form(middle(estimate), how))
    bracket = view.between(limits(estimate), how)
    return text.append(f"\n{bracket}", style="dim") if bracket else text
