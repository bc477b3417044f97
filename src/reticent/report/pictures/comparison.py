"""The privacy-utility picture: accuracy to the right, leak upwards, a point a row; the lower right is where to be."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reticent.findings.comparison import ComparisonDocument, Role, Row
from reticent.findings.numbers import Estimate, Statistic
from reticent.report.estimates import written
from reticent.report.pictures.point_labels import SMALL, Mark, write_names
from reticent.report.render.text import clean
from reticent.report.svg import INK, MUTED, PAPER, RULE, SERIES, canvas, drawing, render
from reticent.rounding import decimals, level, percent

MARKERS = {
    "recipe": ("o", SERIES[0], True, 8.0),
    "baseline": ("s", INK, True, 7.0),
    "control": ("o", SERIES[1], False, 12.0),
    "non-adaptive": ("D", SERIES[3], False, 9.5),
}
"""Kind of row -> shape, colour, whether it is filled, and size: hollow ones are the larger, and lie below filled ones,
so that both are seen where two coincide."""
NAMED = 14
"""Most points that are labelled by name; more are numbered."""
HEIGHT = 340
FAR = 0.05
"""Difference in accuracy from which a control is not joined to the row that it was stopped for."""
Point = tuple[float, float]


def kind(document: ComparisonDocument, row: Row) -> str:
    """Say what sign a row has."""
    return "baseline" if row.name == document.baseline else row.role.value


def panel(document: ComparisonDocument, rows: Sequence[Row], statistic: Statistic) -> str:
    """Draw the rows' leak against their accuracy, with names where there is room for all, else with numbers."""
    points = {
        at: (row.right, leak.mean)
        for at, row in enumerate(rows, 1)
        if row.right is not None and (leak := _leak(row, statistic)) is not None
    }
    names = {at: _short_name(rows[at - 1]) for at in points}
    drawn = _draw(document, rows, statistic, points, names, strict=True) if len(points) <= NAMED else None
    return drawn or _draw(document, rows, statistic, points, {at: str(at) for at in points}, strict=False) or ""


def _leak(row: Row, statistic: Statistic) -> Estimate | None:
    return row.auc if statistic is Statistic.AUC else row.tpr


def _short_name(row: Row) -> str:
    """Name a control by what sets it apart from the baseline: when it was stopped."""
    if row.role is Role.NON_ADAPTIVE:
        return "non-adaptive"
    return clean(row.name, 18) if row.epochs_kept is None else f"{row.epochs_kept:.4g} epochs"


def _draw(
    document: ComparisonDocument,
    rows: Sequence[Row],
    statistic: Statistic,
    points: Mapping[int, Point],
    names: Mapping[int, str],
    *,
    strict: bool,
) -> str | None:
    """Draw one panel; None if there is no room for the labels and that matters."""
    fpr, is_auc = document.fpr, statistic is Statistic.AUC
    axis = "AUC of the strongest attack" if is_auc else f"members found at {level(fpr or 0)} false alarms"
    chance = 0.5 if is_auc else fpr

    def write(share: float) -> str:
        return written(share) if is_auc else percent(share, decimals(fpr))

    shown = {at: rows[at - 1] for at in points}
    with drawing():
        figure, axes = canvas(HEIGHT)
        _join(axes, shown, points)
        for at, row in shown.items():
            _point(axes, row, _leak(row, statistic), points[at], kind(document, row))
        _axes(axes, axis, chance, is_auc)
        steps = _steps(axes, [points[at] for at, row in shown.items() if row.role is not Role.NON_ADAPTIVE])
        _legend(figure, {kind(document, row) for row in shown.values()})
        marks = [
            Mark(names[at], points[at], _ends(row.accuracy.non_members), _ends(_leak(row, statistic)))
            for at, row in shown.items()
        ]
        if not write_names(figure, axes, marks, steps, chance, strict):
            return None
        heading = f"Accuracy of non-members against {axis}"
        said = "; ".join(
            f"{clean(row.name, 60)}: accuracy {percent(points[at][0])}, {write(points[at][1])}"
            for at, row in shown.items()
        )
        least = f" Chance is {write(chance)}." if chance is not None else ""
        return render(figure, f"trade-{statistic}", heading, f"{heading}. {said}.{least}")


def _ends(found: Estimate | None) -> tuple[float, float] | None:
    return None if found is None else found.interval


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


def _join(axes: Axes, shown: Mapping[int, Row], points: Mapping[int, Point]) -> None:
    """Draw a thin line from each row to those that it matches; a control that missed an accuracy by far has none."""
    place_of = {row.name: points[at] for at, row in shown.items()}
    for at, row in shown.items():
        for name in row.matches if row.role is not Role.RECIPE else ():
            missed = row.role is Role.CONTROL and name in place_of
            if name in place_of and not (missed and abs(points[at][0] - place_of[name][0]) >= FAR - 1e-9):
                (x, y), (u, v) = points[at], place_of[name]
                axes.plot([x, u], [y, v], color=MUTED, linewidth=0.9, alpha=0.8, zorder=1)


def _point(axes: Axes, row: Row, leak: Estimate | None, at: Point, what: str) -> None:
    marker, colour, filled, size = MARKERS[what]
    across, up = _ends(row.accuracy.non_members), _ends(leak)
    for x, y in ((across, (at[1], at[1])), ((at[0], at[0]), up)):
        if x is not None and y is not None:
            axes.plot(x, y, color=colour, linewidth=1.1, alpha=0.55, solid_capstyle="butt", zorder=2)
    face, edge = (colour, PAPER) if filled else (PAPER, colour)
    (point,) = axes.plot([at[0]], [at[1]], marker, color=face, markersize=size, zorder=3 - size / 100)
    point.set(markeredgecolor=edge, markeredgewidth=1.4)


def _axes(axes: Axes, axis: str, chance: float | None, is_auc: bool) -> None:
    axes.margins(0.14, 0.09)
    axes.autoscale_view()
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    axes.set_xlim(max(left, 0.0), min(right, 1.02))
    if chance is not None:
        below = chance - 0.06 * (high - chance)
        axes.set_ylim(min(low, below), max(high, chance + 0.005))
        axes.axhline(chance, color=MUTED, linewidth=1, dashes=(4, 3), zorder=1)
        word: dict[str, Any] = {"ha": "right", "va": "bottom", "color": MUTED, "fontsize": SMALL}
        at = axes.get_yaxis_transform()
        axes.annotate("chance", (1, chance), (-2, 2), xycoords=at, textcoords="offset points", **word)
    axes.set(xlabel="accuracy on non-members", ylabel=axis)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: level(round(x, 9)) if x <= 1 else ""))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    if not is_auc:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: level(round(y, 9)) if 0 <= y <= 1 else ""))
    axes.grid(color=RULE)


def _legend(figure: Figure, kinds: set[str]) -> None:
    entries: list[Any] = []
    for what, (marker, colour, filled, _) in MARKERS.items():
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
