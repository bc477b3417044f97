"""The privacy-utility picture: accuracy to the right, leak upwards, a point a row; the lower right is where to be."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reticent.report.comparison.labels import Box, place
from reticent.report.comparison.view import kind, matched
from reticent.report.svg import INK, MUTED, PAPER, RULE, SERIES, canvas, drawing, render
from reticent.report.view import short
from reticent.report.wording import Plain, level, limits, middle, number, percent

MARKERS = {"recipe": ("o", SERIES[0], True), "baseline": ("s", INK, True), "control": ("o", SERIES[1], False)}
"""Kind of row -> shape, colour and whether it is filled."""

HEIGHT = 340
SMALL = 10
"""Size of a label, in pixels."""


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
    """Draw the panels, with names where there is room for all of them, and with numbers otherwise.

    Args:
        rows: in the order of the table, which is numbered from 1.
        baseline: name of the baseline.
        fpr: the false-positive rate of the comparison.

    Returns:
        The drawings.
    """
    known = [i for i, row in enumerate(rows) if _accuracy(row) is not None]
    panels = [Panel("auc", "AUC of the strongest attack", 0.5, number)]
    if any(middle(rows[i].get("tpr")) is not None for i in known):
        panels.append(
            Panel("tpr", f"members found at {level(fpr)} false alarms" if fpr else "members found", fpr, percent)
        )
    missing = [str(row["name"]) for i, row in enumerate(rows) if i not in known]
    if not known:
        return Pictures([], False, missing)
    names = [short(row["name"], 18) for row in rows]
    made = [_draw(panel, rows, known, names, baseline, strict=True) for panel in panels]
    drawn = [one for one in made if one is not None]
    if len(drawn) == len(panels):
        return Pictures(drawn, False, missing)
    numbers = [str(i + 1) for i in range(len(rows))]
    made = [_draw(panel, rows, known, numbers, baseline, strict=False) for panel in panels]
    return Pictures([one for one in made if one is not None], True, missing)


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
        front(axes, list(points.values()))
        _legend(figure, {kind(rows[i], baseline) for i in shown})
        if not _label(figure, axes, panel, [names[i] for i in shown], [rows[i] for i in shown], strict):
            return None
        heading = f"Accuracy of non-members against {panel.axis}"
        said = "; ".join(
            f"{short(rows[i]['name'], 60)}: accuracy {percent(points[i][0])}, {panel.write(points[i][1])}"
            for i in shown
        )
        chance = f" Chance is {panel.write(panel.chance)}." if panel.chance is not None else ""
        return render(figure, f"trade-{panel.statistic}", heading, f"{heading}. {said}.{chance}")


def front(axes: Axes, points: Sequence[tuple[float, float]]) -> None:
    """Draw the best trade-offs as a step line: the least leak at each accuracy that is reached.

    Args:
        axes: whose limits are set.
        points: accuracy and leak of all rows.
    """
    best = [p for p in points if not any(_beats(other, p) for other in points)]
    best = sorted(set(best))
    if not best:
        return
    (left, _), (_, top) = axes.get_xlim(), axes.get_ylim()
    x = [left, *(p[0] for p in best), best[-1][0]]
    y = [best[0][1], *(p[1] for p in best), top]
    axes.step(x, y, where="pre", color=SERIES[2], linewidth=1.4, dashes=(6, 2), zorder=1.5)


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] >= other[0] and one[1] <= other[1] and one != other


def _accuracy(row: Plain) -> float | None:
    return middle((row.get("accuracy") or {}).get("non_members"))


def _ties(axes: Axes, rows: Sequence[Plain], points: dict[int, tuple[float, float]]) -> None:
    """Draw a thin line from each control to the rows whose accuracy it has."""
    place_of = {rows[i]["name"]: at for i, at in points.items()}
    for i, at in points.items():
        for name in matched(rows[i]):
            if name in place_of:
                (x, y), (u, v) = at, place_of[name]
                axes.plot([x, u], [y, v], color=MUTED, linewidth=0.9, alpha=0.8, zorder=1)


def _point(axes: Axes, row: Plain, statistic: str, at: tuple[float, float], what: str) -> None:
    marker, colour, filled = MARKERS[what]
    across, up = limits((row.get("accuracy") or {}).get("non_members")), limits(row.get(statistic))
    for x, y in ((across, (at[1], at[1])), ((at[0], at[0]), up)):
        if x is not None and y is not None:
            axes.plot(x, y, color=colour, linewidth=1.1, alpha=0.55, solid_capstyle="butt", zorder=2)
    face, edge = (colour, PAPER) if filled else (PAPER, colour)
    size = 7 if marker == "s" else 8
    axes.plot(
        [at[0]], [at[1]], marker, markersize=size, color=face, markeredgecolor=edge, markeredgewidth=1.4, zorder=3
    )


def _axes(axes: Axes, panel: Panel) -> None:
    if panel.chance is not None:
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, panel.chance - 0.06 * (high - panel.chance)), high)
        axes.axhline(panel.chance, color=MUTED, linewidth=1, dashes=(4, 3), zorder=1)
        axes.annotate(
            "chance",
            (1, panel.chance),
            (-2, 2),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            ha="right",
            va="bottom",
            color=MUTED,
            fontsize=SMALL,
        )
    axes.margins(0.08)
    axes.set(xlabel="accuracy on non-members", ylabel=panel.axis)
    low, high = axes.get_xlim()
    axes.set_xlim(max(low, 0.0), min(high, 1.02))
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
    (line,) = figure.axes[0].plot([], [], color=SERIES[2], linewidth=1.4, dashes=(6, 2), label="best trade-off")
    figure.legend(
        handles=[*entries, line],
        loc="outside upper left",
        ncols=len(entries) + 1,
        handlelength=1.3,
        handletextpad=0.4,
        columnspacing=0.9,
        borderpad=0,
    )


def _label(figure: Figure, axes: Axes, panel: Panel, names: Sequence[str], rows: Sequence[Plain], strict: bool) -> bool:
    """Write the labels where they cover nothing; say whether that was possible."""
    figure.draw_without_rendering()
    to_pixels = axes.transData.transform
    centres = [(_accuracy(row) or 0.0, middle(row[panel.statistic]) or 0.0) for row in rows]
    points = [(float(x), float(y)) for x, y in to_pixels(centres)]
    sizes = [_size(figure, name) for name in names]
    area = axes.bbox.padded(-2)
    boxes = place(points, sizes, (area.x0, area.y0, area.x1, area.y1), _obstacles(axes, panel, rows, points))
    if boxes is None:
        if strict:
            return False
        boxes = [(x + 7, y - h / 2, x + 7 + w, y + h / 2) for (x, y), (w, h) in zip(points, sizes, strict=True)]
    for name, (x, y), box in zip(names, points, boxes, strict=True):
        middle_x, middle_y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        near = (min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3]))
        if (near[0] - x) ** 2 + (near[1] - y) ** 2 > 13**2:
            _draw_line(axes, (x, y), near)
        written = axes.annotate(
            name, (middle_x, middle_y), xycoords="figure pixels", ha="center", va="center", fontsize=SMALL, color=INK
        )
        written.set_in_layout(False)
    return True


def _draw_line(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a hairline from a point to its label."""
    ends = axes.transData.inverted().transform([start, end])
    axes.plot(ends[:, 0], ends[:, 1], color=MUTED, linewidth=0.6, zorder=1.2, scalex=False, scaley=False)


def _size(figure: Figure, text: str) -> tuple[float, float]:
    """Measure a label in DejaVu Sans, which is wider than the fonts of most pages."""
    written = figure.text(0, 0, text, fontsize=SMALL)
    extent = written.get_window_extent()
    written.remove()
    return float(extent.width) + 3, SMALL + 3.0


def _obstacles(axes: Axes, panel: Panel, rows: Sequence[Plain], points: Sequence[tuple[float, float]]) -> list[Box]:
    """Bound the error bars and the word at the chance line."""
    found: list[Box] = []
    to_pixels = axes.transData.transform
    for row, (x, y) in zip(rows, points, strict=True):
        across, up = limits((row.get("accuracy") or {}).get("non_members")), limits(row.get(panel.statistic))
        if across is not None:
            left, right = to_pixels([(across[0], 0.5), (across[1], 0.5)])[:, 0]
            found.append((float(left), y - 1, float(right), y + 1))
        if up is not None:
            bottom, top = to_pixels([(0.5, up[0]), (0.5, up[1])])[:, 1]
            found.append((x - 1, float(bottom), x + 1, float(top)))
    if panel.chance is not None:
        line = float(to_pixels([(0.5, panel.chance)])[0, 1])
        found += [(axes.bbox.x1 - 50, line - 1, axes.bbox.x1, line + 14)] * 4
    return found
