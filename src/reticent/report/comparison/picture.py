"""The privacy-utility picture: accuracy to the right, leak upwards, a point a row; the lower right is where to be."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reticent.report.comparison.naming import SMALL, Mark, write_names
from reticent.report.comparison.view import is_control, is_recipe, kind, matched
from reticent.report.svg import INK, MUTED, PAPER, RULE, SERIES, canvas, drawing, render
from reticent.report.view import short
from reticent.report.wording import Plain, level, limits, middle, percent, written
from reticent.rounding import decimals

MARKERS = {"recipe": ("o", SERIES[0], True), "baseline": ("s", INK, True), "control": ("o", SERIES[1], False)}
MARKERS["non-adaptive"] = ("D", SERIES[3], False)
"""Kind of row -> shape, colour and whether it is filled."""

NAMED = 14
"""Most points that are labelled by name; more are numbered."""

HEIGHT = 340

FAR = 0.05
"""Difference in accuracy from which a control is not joined to the row that it was stopped for."""


@dataclass(frozen=True, eq=False)
class Panel:
    """One of the two panels.

    Attributes:
        statistic: ``auc`` or ``tpr``.
        axis: title of the vertical axis.
        chance: where guessing lies; None if it is not known.
        write: how a value of it is written.
    """

    statistic: str
    axis: str
    chance: float | None
    write: Callable[[Any], str]


@dataclass(frozen=True, eq=False)
class Pictures:
    """The panels that could be drawn.

    Attributes:
        drawings: SVG elements.
        numbered: whether the labels are the rows' numbers, as there was no room for names.
        missing: names of the rows that no panel shows, as their accuracy is not known.
    """

    drawings: list[str]
    numbered: bool
    missing: list[str]


def pictures(rows: Sequence[Plain], baseline: Any, fpr: float | None) -> Pictures:
    """Draw the panels, with names where there is room for all of them, and with numbers otherwise."""
    known = [i for i, row in enumerate(rows) if _accuracy(row) is not None]
    panels = [Panel("auc", "AUC of the strongest attack", 0.5, written)]
    if any(middle(rows[i].get("tpr")) is not None for i in known):
        title = f"members found at {level(fpr)} false alarms" if fpr else "members found"
        panels.append(Panel("tpr", title, fpr, lambda share: percent(share, decimals(fpr))))
    missing = [str(row["name"]) for i, row in enumerate(rows) if i not in known]
    if not known:
        return Pictures([], False, missing)
    if len(known) <= NAMED:
        names = [_short_name(row) for row in rows]
        made = [_draw(panel, rows, known, names, baseline, strict=True) for panel in panels]
        drawn = [one for one in made if one is not None]
        if len(drawn) == len(panels):
            return Pictures(drawn, False, missing)
    numbers = [str(i + 1) for i in range(len(rows))]
    made = [_draw(panel, rows, known, numbers, baseline, strict=False) for panel in panels]
    return Pictures([one for one in made if one is not None], True, missing)


def _short_name(row: Plain) -> str:
    """Name a control by what sets it apart from the baseline: when it was stopped."""
    kept = row.get("epochs_kept")
    if not is_recipe(row) and not is_control(row):
        return "non-adaptive"
    return f"{kept:.4g} epochs" if is_control(row) and kept is not None else short(row["name"], 18)


def _draw(
    panel: Panel,
    rows: Sequence[Plain],
    known: Sequence[int],
    names: Sequence[str],
    baseline: Any,
    strict: bool,
) -> str | None:
    """Draw one panel; None if there is no room for the labels and that matters."""
    shown = [i for i in known if middle(rows[i].get(panel.statistic)) is not None]
    points = {i: (_accuracy(rows[i]) or 0.0, middle(rows[i][panel.statistic]) or 0.0) for i in shown}
    with drawing():
        figure, axes = canvas(HEIGHT)
        _ties(axes, rows, points)
        for i in shown:
            _point(axes, rows[i], panel.statistic, points[i], kind(rows[i], baseline))
        _axes(axes, panel)
        steps = _steps(axes, [at for i, at in points.items() if is_recipe(rows[i]) or is_control(rows[i])])
        _legend(figure, {kind(rows[i], baseline) for i in shown})
        marks = [Mark(names[i], points[i], _across(rows[i]), limits(rows[i].get(panel.statistic))) for i in shown]
        if not write_names(figure, axes, marks, steps, panel.chance, strict):
            return None
        heading = f"Accuracy of non-members against {panel.axis}"
        said = "; ".join(
            f"{short(rows[i]['name'], 60)}: accuracy {percent(points[i][0])}, {panel.write(points[i][1])}"
            for i in shown
        )
        chance = f" Chance is {panel.write(panel.chance)}." if panel.chance is not None else ""
        return render(figure, f"trade-{panel.statistic}", heading, f"{heading}. {said}.{chance}")


def front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Find the points that no other one beats, by what is drawn alone."""
    return sorted({p for p in points if not any(_beats(other, p) for other in points)})


def _steps(axes: Axes, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Draw the least leak at each accuracy that is reached, as a step line; return its corners."""
    best = front(points)
    corners = [(axes.get_xlim()[0], best[0][1])]
    for (x, y), (_, following) in zip(best, [*best[1:], best[-1]], strict=True):
        corners += [(x, y), (x, following)]
    xs, ys = zip(*corners, strict=True)
    axes.plot(xs, ys, color=SERIES[2], linewidth=1.4, dashes=(6, 2), zorder=1.5, scalex=False, scaley=False)
    return corners


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] >= other[0] and one[1] <= other[1] and one != other


def _accuracy(row: Plain) -> float | None:
    return middle((row.get("accuracy") or {}).get("non_members"))


def _across(row: Plain) -> tuple[float, float] | None:
    return limits((row.get("accuracy") or {}).get("non_members"))


def _ties(axes: Axes, rows: Sequence[Plain], points: dict[int, tuple[float, float]]) -> None:
    """Draw a thin line from each control to the rows whose accuracy it has; one that missed it by far has none."""
    place_of = {rows[i]["name"]: at for i, at in points.items()}
    for i, at in points.items():
        for name in matched(rows[i]):
            if name in place_of and not (is_control(rows[i]) and abs(at[0] - place_of[name][0]) >= FAR - 1e-9):
                (x, y), (u, v) = at, place_of[name]
                axes.plot([x, u], [y, v], color=MUTED, linewidth=0.9, alpha=0.8, zorder=1)


def _point(axes: Axes, row: Plain, statistic: str, at: tuple[float, float], what: str) -> None:
    marker, colour, filled = MARKERS[what]
    across, up = _across(row), limits(row.get(statistic))
    for x, y in ((across, (at[1], at[1])), ((at[0], at[0]), up)):
        if x is not None and y is not None:
            axes.plot(x, y, color=colour, linewidth=1.1, alpha=0.55, solid_capstyle="butt", zorder=2)
    face, edge = (colour, PAPER) if filled else (PAPER, colour)
    size = 8 if marker == "o" else 7
    axes.plot(
        [at[0]], [at[1]], marker, markersize=size, color=face, markeredgecolor=edge, markeredgewidth=1.4, zorder=3
    )


def _axes(axes: Axes, panel: Panel) -> None:
    axes.margins(0.14, 0.09)
    axes.autoscale_view()
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    axes.set_xlim(max(left, 0.0), min(right, 1.02))
    if panel.chance is not None:
        below = panel.chance - 0.06 * (high - panel.chance)
        axes.set_ylim(min(low, below), max(high, panel.chance + 0.005))
        axes.axhline(panel.chance, color=MUTED, linewidth=1, dashes=(4, 3), zorder=1)
        word: dict[str, Any] = {"ha": "right", "va": "bottom", "color": MUTED, "fontsize": SMALL}
        at = axes.get_yaxis_transform()
        axes.annotate("chance", (1, panel.chance), (-2, 2), xycoords=at, textcoords="offset points", **word)
    axes.set(xlabel="accuracy on non-members", ylabel=panel.axis)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: level(round(x, 9)) if x <= 1 else ""))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    if panel.statistic == "tpr":
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: level(round(y, 9)) if 0 <= y <= 1 else ""))
    axes.grid(color=RULE)


def _legend(figure: Figure, kinds: set[str]) -> None:
    entries: list[Any] = []
    for what, (marker, colour, filled) in MARKERS.items():
        if what in kinds:
            face, edge = (colour, PAPER) if filled else (PAPER, colour)
            (handle,) = figure.axes[0].plot(
                [], [], marker, color=face, markeredgecolor=edge, markeredgewidth=1.4, markersize=7.5, label=what
            )
            entries.append(handle)
    (line,) = figure.axes[0].plot([], [], color=SERIES[2], linewidth=1.4, dashes=(6, 2), label="not beaten")
    figure.legend(
        handles=[*entries, line],
        loc="outside upper left",
        ncols=len(entries) + 1,
        handlelength=1.3,
        handletextpad=0.4,
        columnspacing=0.9,
        borderpad=0,
    )
