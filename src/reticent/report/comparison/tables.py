"""What the terminal shows of a comparison: the finding, a line a recipe, and what differs."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reticent.report.comparison import view
from reticent.report.render.terminal import Wrapped
from reticent.report.view import short, tied
from reticent.report.wording import (
    MARK,
    PERCENT,
    TIES,
    Plain,
    chance,
    found,
    from_below,
    level,
    limits,
    middle,
    span,
    written,
)
from reticent.rounding import MISSING, decimals

LISTED = 12
"""Most pairs that the terminal lists; the page has all of them."""


def terminal(document: Mapping[str, Any]) -> RenderableType:
    """Lay out a comparison for the terminal."""
    rows = view.rows(document)
    parts: list[RenderableType] = [Wrapped(Text(short(document.get("sentence") or "", 1200), style="bold"))]
    if rows:
        parts += [Padding(_table(document, rows), (1, 0)), Wrapped(_notes(document, rows))]
    noticed = [f"{row['name']}: {notice}" for row in rows for notice in row.get("notices") or ()]
    parts += [Wrapped(Text(short(notice, 600), style="yellow")) for notice in noticed]
    differences = _differences(document)
    if differences is not None:
        parts.append(differences)
    return Group(*parts)


def _table(document: Mapping[str, Any], rows: Sequence[Plain]) -> Table:
    fpr, baseline = document.get("fpr"), document.get("baseline")
    with_tpr = any(middle(row.get("tpr")) is not None for row in rows)
    with_epsilon = any(row.get("epsilon") is not None for row in rows)
    table = Table(box=None, pad_edge=False, padding=(0, 1), collapse_padding=True, header_style="bold")
    table.add_column("recipe", overflow="fold")
    table.add_column("accuracy,\nnon-members", justify="right", no_wrap=True)
    table.add_column("AUC", justify="right", no_wrap=True)
    if with_tpr:
        table.add_column(f"TPR at\n{level(fpr)} FPR" if fpr else "TPR", justify="right", no_wrap=True)
    if with_epsilon:
        table.add_column("epsilon\nat least", justify="right", no_wrap=True)
    table.add_column("not\nbeaten", no_wrap=True)
    for row in rows:
        name = Text(short(row["name"], 40))
        remark = view.remark(row, baseline, rows)
        if remark:
            name.append(f"\n{short(remark, 90)}", "dim")
        cells = [_cell((row.get("accuracy") or {}).get("non_members"), True), _cell(row.get("auc"))]
        cells += [_cell(row.get("tpr"), True, decimals(fpr))] * with_tpr
        cells += [Text(from_below(row.get("epsilon")))] * with_epsilon
        table.add_row(name, *cells, "yes" if row.get("pareto") else "")
    return table


def _cell(estimate: Plain | None, as_percent: bool = False, digits: int | None = None) -> Text:
    if middle(estimate) is None:
        return Text(MISSING, style="dim")
    ends = span(limits(estimate), as_percent, "–", digits).removesuffix(PERCENT)
    return Text.assemble(
        found(estimate, digits or 1) if as_percent else written(estimate, digits=digits), ("\n" + ends, "dim")
    )


def _notes(document: Mapping[str, Any], rows: Sequence[Plain]) -> Text:
    sure = level(document.get("confidence") or 0.95)
    lines = [f"Below each number: its {sure} interval. Chance: AUC 0.5, TPR equal to FPR."]
    if any(view.is_control(row) for row in rows):
        lines.append(
            "Control: the baseline, stopped early to be about as accurate as a recipe; the recipe is worth its cost "
            "only if it leaks less than this control."
        )
    lines += [f"{MARK} {TIES}"] * tied([row.get("tpr") for row in rows])
    lines.append(view.not_beaten(rows))
    return Text("\n".join(lines), style="dim")


def _differences(document: Mapping[str, Any]) -> RenderableType | None:
    """List the pairs that differ, the surest first, and count the ties."""
    pairs: list[Plain] = list(document.get("pairs") or ())
    if not pairs:
        return None
    ties = sum(view.VERDICTS.get(pair.get("verdict", ""), 0) == 0 for pair in pairs)
    differ = sorted(
        (pair for pair in pairs if view.VERDICTS.get(pair.get("verdict", ""), 0) != 0),
        key=lambda pair: float(1.0 if pair.get("p_corrected") is None else pair["p_corrected"]),
    )
    text = Text()
    for pair in differ[:LISTED]:
        value, interval = view.difference(pair, positive=True)
        lower, higher = (
            (pair["first"], pair["second"]) if pair["verdict"] == "first lower" else (pair["second"], pair["first"])
        )
        measure = view.statistic(pair["statistic"], document.get("fpr"))
        text.append(
            f"\n{measure}: {short(lower, 40)} is below {short(higher, 40)} by {value.lstrip('+')} "
            f"({interval}; corrected p {chance(pair.get('p_corrected'))})"
        )
    left = f"; {len(differ) - LISTED} more differ (compare.html lists them)" if len(differ) > LISTED else ""
    text.append(f"\n{ties} of {len(pairs)} tests are ties: no difference shown{left}.", "dim")
    return Wrapped(text)
