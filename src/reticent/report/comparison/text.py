"""A comparison as a section for a model card or a pull request, in Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.report.comparison import view
from reticent.report.markdown import escape, table, with_interval
from reticent.report.view import tied
from reticent.report.wording import MARK, TIES, Plain, chance, found, from_below, level, limits, middle, span, written
from reticent.rounding import MISSING, decimals

LISTED = 60
"""Most pairs in the table; ties come last."""


def markdown(document: Mapping[str, Any]) -> str:
    """Write a comparison as a section of a document."""
    rows, pairs = view.rows(document), list(document.get("pairs") or ())
    parts = ["## Comparison of recipes", f"**{escape(document.get('sentence') or '', 1200)}**"]
    if rows:
        sure = level(document.get("confidence") or 0.95)
        legend = f"In brackets: {sure} intervals. Chance: AUC 0.5, and TPR equal to FPR."
        if any(view.is_control(row) for row in rows):
            legend += " Control: the baseline, stopped early to be about as accurate as a recipe."
        legend += f" {view.not_beaten(rows)}" + f" {MARK} {TIES}" * tied([row.get("tpr") for row in rows])
        parts += [_rows(document, rows), legend]
    changed = [
        f"- {escape(row['name'], 60)}: "
        + "; ".join(
            f"{escape(c['key'])} {escape(c['value'], 120)} (was {escape(c['baseline'], 120)})"
            for c in view.changes(row)
        )
        for row in rows
        if row.get("changes") and view.is_recipe(row)
    ]
    if changed:
        parts += ["### What the recipes change", "\n".join(changed)]
    if pairs:
        parts += ["### Two by two", _pairs(document, pairs)]
        if len(pairs) > LISTED:
            parts.append(f"{len(pairs) - LISTED} more pairs are left out here.")
    said = document.get("cannot_say")
    if said:
        parts += ["### What this comparison cannot say", "\n".join(f"- {escape(item, 600)}" for item in said)]
    return "\n\n".join(parts) + "\n"


def _rows(document: Mapping[str, Any], rows: Sequence[Plain]) -> str:
    fpr = document.get("fpr")
    with_tpr = any(middle(row.get("tpr")) is not None for row in rows)
    with_epsilon = any(row.get("epsilon") is not None for row in rows)
    heads = ["Recipe", "Accuracy on non-members", "AUC"]
    heads += [f"TPR at FPR {level(fpr)}" if fpr else "TPR"] * with_tpr + ["Epsilon, at least"] * with_epsilon
    lines = []
    for row in rows:
        remark = view.remark(row, document.get("baseline"), rows)
        name = escape(row["name"], 60) + (f" ({escape(remark, 160)})" if remark else "")
        cells = [name, _cell((row.get("accuracy") or {}).get("non_members"), True), _cell(row.get("auc"))]
        cells += [_cell(row.get("tpr"), True, decimals(fpr))] * with_tpr
        cells += [from_below(row.get("epsilon"))] * with_epsilon
        lines.append([*cells, {True: "yes", False: "no"}.get(row.get("pareto"), MISSING)])  # type: ignore[arg-type]
    return table([*heads, "Not beaten"], lines)


def _pairs(document: Mapping[str, Any], pairs: Sequence[Plain]) -> str:
    heads = ["First", "Second", "Measure", "First minus second", "p, corrected", "Verdict"]
    ordered = sorted(pairs, key=lambda pair: view.VERDICTS.get(pair.get("verdict", ""), 0) == 0)[:LISTED]
    lines = []
    for pair in ordered:
        value, interval = view.difference(pair)
        lines.append([
            escape(pair["first"], 60),
            escape(pair["second"], 60),
            view.statistic(pair["statistic"], document.get("fpr")),
            with_interval(value, interval),
            escape(chance(pair.get("p_corrected"))),
            escape(view.verdict(pair)),
        ])
    return table(heads, lines, texts=3)


def _cell(estimate: Plain | None, as_percent: bool = False, digits: int | None = None) -> str:
    if middle(estimate) is None:
        return MISSING
    shown = found(estimate, digits or 1) if as_percent else written(estimate, digits=digits)
    return with_interval(shown, span(limits(estimate), as_percent, digits=digits))
