"""The page of a study: verdicts first, then the figure and the tables, the paper's own numbers, how it was done."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.report.page import facts
from reticent.report.study import view
from reticent.report.study.picture import pictures
from reticent.report.templating import drawn, render
from reticent.report.wording import Plain, level, limits, middle
from reticent.report.words import GLOSSARY as WORDS

GLOSSARY = (
    (
        "Reproduced",
        "Of a claim of the paper's: in its own setting or a fair stand-in, every number that the claim stands on has "
        "its whole interval where the claim puts it.",
    ),
    (
        "Not reproduced",
        "Of such a claim, there: at least one such number has its whole, widened interval where the claim doesn't put "
        "it.",
    ),
    ("Holds, does not hold", "The same of a claim of ours, in what was run."),
    (
        "Can't tell",
        "Neither. The reason stands beside it: too few models, records or seeds; kinds of network that disagree; or "
        "what was run is not what the claim is about.",
    ),
    ("Kind of network", "Such as ResNet: kinds are judged apart, and none decides for another."),
    ("Seed", "Draws the roles of the records, the memberships and all models anew; the records stay the same."),
    (
        "Interval",
        "The wider end, on each side, of two: over models and records, with all seeds erring together; and, from three "
        "seeds on, by the spread of the seeds.",
    ),
    *((word, said) for word, said in WORDS if word.startswith(("Member", "False", "True", "AUC"))),
)
"""Word -> one line."""


def html(document: Mapping[str, Any]) -> str:
    """Write a study as one page that loads nothing."""
    environment = document.get("environment") or {}
    scale = document["scale"]
    values = {
        "study": document["study"],
        "scale": scale,
        "heading": document["title"],
        "paper": document["paper"],
        "sentence": document["sentence"],
        "confidence": level(document["confidence"]),
        "claims": [(title, [_claim(one) for one in own]) for title, own in view.by_origin(document["claims"])],
        "figures": [(one["title"], _drawings(one)) for one in document["figures"]],
        "tables": [_table(i, one) for i, one in enumerate(document["tables"])],
        "published": [_printed(one) for one in document["published"]],
        "settings": document["settings"],
        "over": document["over"],
        "limits_said": document["cannot_say"] or ["What other data, architectures and seeds would give."],
        "what": "study",
        "environment": environment,
        "glossary": GLOSSARY,
        **{key: item for key, item in facts({}, {}, (), environment).items() if key == "facts_environment"},
    }
    return render("study.html.j2", values)


def _drawings(figure: Plain) -> list[tuple[Any, str]]:
    titles = [panel["title"] for panel in figure["panels"]]
    return list(zip((drawn(svg) for svg in pictures(figure)), titles, strict=True))


def _claim(claim: Plain) -> dict[str, Any]:
    kind = view.KINDS[claim["verdict"]]
    kinds = [{"said": view.kind(one), "parts": [_part(part) for part in one["parts"]]} for one in claim["kinds"]]
    return {**claim, "kinds": kinds, "kind": kind, "mark": view.MARKS[kind], "why": view.why(claim)}


def _part(part: Plain) -> dict[str, Any]:
    reason = view.why(part)
    return {
        "label": part["label"],
        "value": view.form(middle(part), part["metric"]),
        "interval": view.between(limits(part), part["metric"]),
        "rule": view.rule(part) if middle(part) is not None else "",
        "answer": part["answer"],
        "reason": reason,
    }


def _table(index: int, table: Plain) -> dict[str, Any]:
    columns = view.used(table)
    return {
        "name": f"table-{index + 1}",
        "title": table["title"],
        "columns": columns,
        "lines": [_line(row, columns) for row in table["rows"]],
        "papers": any(row.get("paper") for row in table["rows"]),
    }


def _line(row: Plain, columns: Sequence[Plain]) -> dict[str, Any]:
    paper = row.get("paper") or {}
    cells = []
    for column in columns:
        estimate, how = row["values"].get(column["key"]), column["form"]
        cells.append({
            "key": middle(estimate),
            "value": view.form(middle(estimate), how),
            "interval": view.between(limits(estimate), how),
            "paper": view.printed(paper.get(column["key"]), how),
        })
    return {"name": row["name"], "about": row["about"], "cells": cells}


def _printed(table: Plain) -> dict[str, Any]:
    return {
        "title": table["title"],
        "columns": table["columns"],
        "lines": [
            (name, [view.printed(values.get(column["key"]), column["form"]) for column in table["columns"]])
            for name, values in table["rows"].items()
        ],
        "notes": [text for text in (table["note"], *view.remarks(table)) if text],
    }
