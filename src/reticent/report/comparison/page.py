"""The page of a comparison: the finding, the picture, the table, the pairs, what was changed, how to read it."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.findings.epsilon import GIVEN
from reticent.report import words
from reticent.report.comparison import view
from reticent.report.comparison.picture import pictures
from reticent.report.page import facts, scale
from reticent.report.templating import drawn, render
from reticent.report.view import short, tied
from reticent.report.wording import Plain, level, middle

GLOSSARY = (
    *(
        (word, said)
        for word, said in words.GLOSSARY
        if word.startswith(("Member", "FPR", "TPR", "AUC", "Interval", "Eps"))
    ),
    ("Baseline", "The recipe that all others are measured against, as a rule the undefended one."),
    (
        "Control",
        "The baseline, stopped early to be about as accurate as the recipe it is matched to; the table says how close "
        "it came. A weaker model leaks less by itself, and a defense has to do better than that.",
    ),
    (
        "Not beaten",
        "No other row is at least as accurate and leaks at most as much, and is better in one of the two, by the "
        "estimates alone. Several rows can be: they are different trade-offs, not one winner.",
    ),
    ("Tie", "The difference is no larger than chance makes such differences. It does not show that the two are equal."),
    ("Corrected p", "How often chance alone would show such a difference, allowing for all pairs that were tested."),
)
"""Word -> one line."""

CHOICES = 60
"""Most rows that the filter of the pairs lists."""


def html(document: Mapping[str, Any]) -> str:
    """Write a comparison as one page that loads nothing."""
    rows, baseline, fpr = view.rows(document), document.get("baseline"), document.get("fpr")
    shown = pictures(rows, baseline, fpr)
    pairs: list[Plain] = list(document.get("pairs") or ())
    data, environment = document.get("data") or {}, document.get("environment") or {}
    machine = {key: item for key, item in environment.items() if key != "rows"}
    names = view.attacks(rows)
    values = {
        "name": short(data.get("name") or "given outputs"),
        "scale": scale(data, {}),
        "sentence": document.get("sentence") or "",
        "detail": document.get("detail") or [],
        "confidence": level(document.get("confidence") or 0.95),
        "fpr": fpr,
        "ties": tied(rows),
        "found": view.found_at(fpr),
        "baseline": baseline,
        "recipes": sum(view.is_recipe(row) for row in rows),
        "lines": [_line(i, row, document, rows) for i, row in enumerate(rows)],
        "has": _has(document, rows),
        "pictures": [drawn(one) for one in shown.drawings],
        "numbered": shown.numbered,
        "missing_rows": shown.missing,
        "pairs": [_pair(pair, fpr) for pair in pairs],
        "pair_filters": _filters(pairs, fpr),
        "unaware": any(not view.is_recipe(row) and not view.is_control(row) for row in rows),
        "changed": [(row, view.changes(row)) for row in rows if row.get("changes") and view.is_recipe(row)],
        "attacks": names,
        "attack_lines": [_attacks(row, names) for row in rows if row.get("attacks")],
        "limits_said": document.get("cannot_say") or ["What attacks that were not tried would find."],
        "what": "comparison",
        "environment": environment,
        "glossary": GLOSSARY,
        **{key: item for key, item in facts(data, {}, (), machine).items() if key != "specs"},
    }
    return render("compare.html.j2", values)


def _line(index: int, row: Plain, document: Mapping[str, Any], rows: Sequence[Plain]) -> dict[str, Any]:
    accuracy, baseline = row.get("accuracy") or {}, document.get("baseline")
    return {
        "number": index + 1,
        "name": row["name"],
        "kind": view.kind(row, baseline),
        "remark": view.remark(row, baseline, rows),
        "members": accuracy.get("members"),
        "non_members": accuracy.get("non_members"),
        "seconds": view.costs(document, row).get("seconds_per_model"),
        "memory": view.costs(document, row).get("peak_memory_bytes_per_model"),
        "proven": "stated" if (row.get("accountant") or {}).get("source") in GIVEN else "proven",
        **{key: row.get(key) for key in ("auc", "tpr", "epsilon", "accountant", "pareto", "models")},
    }


def _has(document: Mapping[str, Any], rows: Sequence[Plain]) -> dict[str, bool]:
    """Tell which columns have anything in them."""
    return {
        "tpr": any(middle(row.get("tpr")) is not None for row in rows),
        "epsilon": any(row.get("epsilon") is not None or row.get("accountant") for row in rows),
        "seconds": any(view.costs(document, row).get("seconds_per_model") is not None for row in rows),
        "memory": any(view.costs(document, row).get("peak_memory_bytes_per_model") is not None for row in rows),
        "members": any(middle((row.get("accuracy") or {}).get("members")) is not None for row in rows),
        "models": len({row.get("models") for row in rows}) > 1,
    }


def _pair(pair: Plain, fpr: float | None) -> dict[str, Any]:
    value, interval = view.difference(pair)
    return {
        "first": pair["first"],
        "second": pair["second"],
        "statistic": view.statistic(pair["statistic"], fpr),
        "value": value,
        "key": pair.get("difference"),
        "interval": interval,
        "p": pair.get("p"),
        "p_corrected": pair.get("p_corrected"),
        "verdict": view.verdict(pair),
        "tie": pair.get("verdict") not in {"first lower", "second lower"},
        "mcnemar": pair.get("mcnemar"),
    }


def _filters(pairs: Sequence[Plain], fpr: float | None) -> list[dict[str, Any]]:
    """Offer lists of the statistic and of the two rows."""
    asked = [(2, "Measure", [view.statistic(pair["statistic"], fpr) for pair in pairs])]
    asked += [
        (i, title, [short(pair[key], 60) for pair in pairs])
        for i, title, key in ((0, "First", "first"), (1, "Second", "second"))
    ]
    options = [(column, title, list(dict.fromkeys(values))) for column, title, values in asked]
    return [
        {"column": column, "title": title, "options": values}
        for column, title, values in options
        if 1 < len(values) <= CHOICES
    ]


def _attacks(row: Plain, names: Sequence[str]) -> dict[str, Any]:
    found = {attack["name"]: attack for attack in row.get("attacks") or ()}
    return {
        "name": row["name"],
        "cells": [found.get(name) for name in names],
        "attack": row.get("attack"),
        "auc_attack": row.get("auc_attack"),
    }
