"""What the terminal shows of an audit: the verdict's sentence and one table, a line an attack."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reticent.report.render.terminal import Wrapped
from reticent.report.view import confidence, measured, ordered, rate_at, short, tied, title, unmeasured
from reticent.report.wording import (
    MARK,
    PERCENT,
    TIES,
    Plain,
    found,
    level,
    limits,
    middle,
    span,
    unmeasurable,
)
from reticent.report.words import LEAKS
from reticent.rounding import MISSING, decimals, fraction

MARKS = {"found": ("▲", "bold red"), "not found": ("✓", "bold green"), "cannot tell": ("?", "bold yellow")}
"""State of the verdict -> sign and style; the word stands beside them."""


def terminal(document: Mapping[str, Any]) -> RenderableType:
    """Lay out an audit for the terminal."""
    verdict, attacks = document.get("verdict") or {}, ordered(document)
    parts: list[RenderableType] = [Wrapped(_verdict(verdict))]
    if attacks:
        parts += [Padding(_table(attacks), (1, 0))]
        parts += [Wrapped(Text(short(one["sentence"], 600), style="yellow")) for one in document.get("left_out") or ()]
        parts.append(Wrapped(_notes(attacks)))
    health = (document.get("population") or {}).get("health") or ()
    said = _said(document)
    if said:
        parts.append(Wrapped(Text("\n".join(["", *said]))))
    notices = (document.get("population") or {}).get("notices") or ()
    there = (document.get("epsilon") or {}).get("unproved")  # It stands in the sentence on epsilon.
    parts.extend(Wrapped(Text(short(one, 600), style="yellow")) for one in notices if one != there)
    parts.extend(
        Text(f"Model {item.get('model')}: {short(item.get('problem', ''), 200)}", style="yellow") for item in health
    )
    return Group(*parts)


def _said(document: Mapping[str, Any]) -> list[str]:
    """Repeat the sentences on epsilon, on records, on groups and on the control."""
    parts = [
        document.get("epsilon"),
        document.get("exposure"),
        *(document.get("groups") or ()),
        document.get("non_adaptive"),
        document.get("control"),
    ]
    return [short(part["sentence"], 600) for part in parts if part and part.get("sentence")]


def _verdict(verdict: Plain) -> Text:
    leak = LEAKS.get(verdict.get("leak", ""), LEAKS["cannot tell"])
    sign, style = MARKS[leak.state]
    text = Text.assemble((f"{sign} {leak.word}. ", style), (short(verdict.get("sentence", ""), 400), "bold"))
    if verdict.get("detail"):
        text.append("\n" + short(verdict["detail"], 1500))
    return text


def _table(attacks: list[Plain]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), collapse_padding=True, header_style="bold")
    table.add_column("attack", overflow="fold")
    table.add_column("AUC", justify="right", no_wrap=True)
    shown = measured(attacks)
    for fpr in shown:
        table.add_column(f"TPR at\n{level(fpr)} FPR", justify="right", overflow="fold")
    table.add_column("balanced\naccuracy", justify="right", no_wrap=True)
    table.add_column("oracle", justify="right", no_wrap=True)
    for attack in attacks:
        overall = attack["overall"]
        auc = _cell(fraction(middle(overall["auc"])), span(limits(overall["auc"]), to="–"))
        balanced = overall.get("balanced_accuracy") or {}
        both = [fraction(middle(balanced.get(key))) for key in ("transferred", "oracle")]
        rates = [rate_at(overall, fpr) for fpr in shown]
        table.add_row(Text(short(title(attack), 40)), auc, *map(_rate, rates), *both)
    return table


def _notes(attacks: list[Plain]) -> Text:
    """Explain the table, and name the rates that have no column."""
    lines = [f"TPR at {level(fpr)} FPR: {unmeasurable(entry)}" for fpr, entry in unmeasured(attacks)]
    sure = confidence(attacks)
    lines.append(f"Below each number: its {sure} interval. Chance: AUC 0.5, TPR equal to FPR, balanced accuracy 0.5.")
    if tied(attacks):
        lines.append(f"{MARK} {TIES}")
    lines.append("Balanced accuracy: at a threshold from other models; oracle: at the best one, an upper bound.")
    return Text("\n".join(lines), style="dim")


def _rate(rate: Plain | None) -> Text:
    if rate is None:
        return Text(MISSING, style="dim")
    if rate.get("tpr") is None:
        return Text(unmeasurable(rate), style="dim")
    digits = decimals(rate["fpr"])
    ends = span(limits(rate["tpr"]), True, "–", digits).removesuffix(PERCENT)
    return _cell(found(rate["tpr"], digits), ends)


def _cell(value: str, below: str) -> Text:
    return Text.assemble(value, ("\n" + below, "dim"))
