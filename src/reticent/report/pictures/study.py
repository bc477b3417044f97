"""The figures of a study: panels of lines, dots, clouds or densities, each for the page, and all as one file."""

import io
import math
import textwrap
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reticent.findings.base import Interval
from reticent.findings.study import AnyPanel, CloudPanel, DensityPanel, DotsPanel, Figure, LinesPanel, SeedsEstimate
from reticent.report.svg import DASHES, INK, MUTED, PAPER, RULE, SERIES, WIDTH, canvas, drawing, render, settle
from reticent.rounding import level
from reticent.say.grammar import short
from reticent.say.study import written

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HEIGHT = 250
ROW = 30
"""Height of a row of dots."""
LABELS, DIGITS = 9, 3
"""Most labels on a logarithmic axis, less one, and the digits of each."""
ACROSS = 3
"""Panels side by side in a figure's file."""
LINE = 26
"""Characters of a line of a row's name, which may take two."""
MIB = 2**20
POSITIVE = {"share", "seconds", "bytes"}
"""Forms of numbers that are never below 0."""
DARK = (
    *("#e7ecf1", "#a5b0bc", "#2d3742", "#11161c"),
    *("#5ab6ee", "#ff9257", "#38c79d", "#e79ac6", "#e8bd4f", "#a9b4c0", "#b7a3ec", "#d0a283"),
)
"""The page's dark colours, in the order of the light ones."""
LEGEND: dict[str, Any] = {"handlelength": 1.8, "handletextpad": 0.5, "columnspacing": 1.1, "labelspacing": 0.25}


def panel(figure: Figure, index: int) -> str:
    """Draw one panel for the page."""
    one = figure.panels[index]
    with drawing():
        made, axes = canvas(_height(one))
        _draw(axes, one)
        _legend(made)
        return render(made, f"{figure.name}-{index + 1}", one.title, described(one))


def files(figure: Figure) -> tuple[str, bytes]:
    """Draw all panels into one SVG, light or dark as the reader's system is, and one PNG."""
    panels = figure.panels
    across = 2 if len(panels) == 4 else min(ACROSS, len(panels))
    down = math.ceil(len(panels) / across)
    tall = max(map(_height, panels)) + 18
    with drawing():
        made = Canvas(figsize=(across * WIDTH / 72, down * tall / 72), dpi=72, layout="constrained")
        FigureCanvasSVG(made)
        grid = made.subplots(down, across, squeeze=False).ravel()
        for i, (axes, one) in enumerate(zip(grid, panels, strict=False)):
            _draw(axes, one)
            left = panels[i - 1] if i % across else None
            if isinstance(one, DotsPanel) and isinstance(left, DotsPanel) and left.names == one.names:
                axes.set_yticklabels([])  # They stand to the left.
            axes.set_title(short(one.title, 60), fontsize=11, color=INK, loc="left")
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        _legend(made)
        text = " ".join(map(described, panels))
        settle(made)
        stream = io.BytesIO()
        made.savefig(stream, format="png", dpi=144, facecolor="white", metadata={"Software": "reticent"})
        return _alone(render(made, figure.name, figure.title, text)), stream.getvalue()


def _height(one: AnyPanel) -> int:
    return 84 + ROW * len(one.names) if isinstance(one, DotsPanel) else HEIGHT


def described(one: AnyPanel) -> str:
    """Say in numbers what a panel shows."""
    if isinstance(one, CloudPanel):
        weight = sum(count for _, _, count in one.points)
        return f"{one.title}: {one.y} against {one.x} of {weight:,.0f} weights."
    if isinstance(one, DensityPanel):
        centres = (np.asarray(one.edges)[1:] + np.asarray(one.edges)[:-1]) / 2
        means = [np.average(centres, weights=np.asarray(each.heights) + 1e-12) for each in one.series]
        said = [f"{each.label}: mean {mean:.3f}" for each, mean in zip(one.series, means, strict=True)]
        return f"{one.title}. {'; '.join(said)}."
    said = []
    for each in one.series:
        if isinstance(one, DotsPanel):
            names = one.names
        else:
            names = tuple(one.ticks[round(x)] if one.ticks else f"{x:g}" for x in each.x)
        points = ", ".join(
            f"{short(name, 40)} {written(estimate.mean, one.form)}"
            for name, estimate in zip(names, each.estimates, strict=True)
            if estimate is not None
        )
        said.append(f"{each.label}: {points}" if each.label else points)
    said += [f"{each.label}: {written(each.value, one.form)}" for each in one.levels]
    return f"{one.title}. {'; '.join(said)}."


def _alone(svg: str) -> str:
    """Make an element for a page a file by itself: with its namespace, its colours and its font."""
    light = {"ink": INK, "muted": MUTED, "rule": RULE, "paper": "#ffffff"}
    light |= {f"s{i + 1}": colour for i, colour in enumerate(SERIES)}
    dark = dict(zip(light, DARK, strict=True))
    rules = [f"svg{{{_variables(light)}background:var(--paper);font-family:system-ui,sans-serif}}"]
    rules += [f"@media (prefers-color-scheme:dark){{svg{{{_variables(dark)}}}}}", "text{font-family:inherit}"]
    head = '<svg xmlns="http://www.w3.org/2000/svg" class="chart"'
    start = svg.replace('<svg class="chart"', head, 1)
    at = start.index(">") + 1
    return f"{start[:at]}\n<style>{''.join(rules)}</style>{start[at:]}\n"


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


def _draw(axes: Axes, one: AnyPanel) -> None:
    match one:
        case LinesPanel():
            _lines(axes, one)
        case DotsPanel():
            _dots(axes, one)
        case CloudPanel():
            _cloud(axes, one)
        case DensityPanel():
            _density(axes, one)
    unit = ", MiB" * (one.form == "bytes")
    axes.set(xlabel=one.x + unit * isinstance(one, DotsPanel), ylabel=one.y + unit * isinstance(one, LinesPanel))


def _legend(figure: Canvas) -> None:
    """Put one legend above all panels, with each label once; a single label needs none."""
    known: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        known |= {label: handle for label, handle in zip(labels, handles, strict=True) if label and label not in known}
    if len(known) > 1:
        for columns in (6, 3, 2, 1):
            made = figure.legend(list(known.values()), list(known), loc="outside upper left", ncols=columns, **LEGEND)
            if columns == 1 or made.get_window_extent().width <= figure.get_figwidth() * figure.dpi:
                return
            made.remove()


def _lines(axes: Axes, one: LinesPanel) -> None:
    for i, each in enumerate(one.series):
        colour = SERIES[i % len(SERIES)]
        known = _known(one, each.x, each.estimates)
        for x, _, ends in known:
            if ends is not None:
                axes.vlines(x, *ends, colors=colour, linewidth=1.3, alpha=0.7)
        marker, style = MARKERS[i % len(MARKERS)], DASHES[i % len(DASHES)]
        xs, means = [x for x, _, _ in known], [mean for _, mean, _ in known]
        named = each.label if known and len(one.series) > 1 else ""  # The panel's title says what a single one is.
        axes.plot(xs, means, marker, color=colour, linestyle=style, markersize=5, label=named)
    _levels(axes.axhline, one)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(_ticks(one))
    axes.grid(axis="y")
    if one.log_x:
        axes.set_xscale("log")
        axes.set_xticks(_apart({x for each in one.series for x in each.x}))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: level(float(f"{x:.{DIGITS}g}"))))
        axes.minorticks_off()
    if one.ticks:
        axes.set_xticks(range(len(one.ticks)), [short(word, 10) for word in one.ticks])


def _apart(places: Collection[float]) -> list[float]:
    """Choose of places on a logarithmic axis those that leave room for their labels, the first one among them."""
    kept: list[float] = []
    for place in sorted(places):
        if not kept or math.log(place / kept[-1]) > math.log(max(places) / kept[0]) / LABELS:
            kept.append(place)
    return kept


def _known(
    one: LinesPanel | DotsPanel, places: Sequence[float], estimates: Sequence[SeedsEstimate | None]
) -> list[tuple[float, float, Interval | None]]:
    """Take the places that have a number, with the number and its interval, cut where no such number can lie."""
    least, most = 0.0 if one.form in POSITIVE else -math.inf, 1.0 if one.form == "share" else math.inf
    unit = _unit(one)
    return [
        (
            x,
            e.mean / unit,
            None if e.interval is None else (max(least, e.interval[0]) / unit, min(most, e.interval[1]) / unit),
        )
        for x, e in zip(places, estimates, strict=True)
        if e is not None and e.mean is not None
    ]


def _unit(one: AnyPanel) -> int:
    """Give what the numbers are drawn in multiples of."""
    return MIB if one.form == "bytes" else 1


def _levels(line: Callable[..., Any], one: LinesPanel | DotsPanel) -> None:
    for k, each in enumerate(one.levels):
        line(
            each.value / _unit(one),
            color=MUTED,
            linewidth=1.1,
            dashes=((4, 3), (1.5, 2), (7, 2))[k % 3],
            label=each.label,
        )


def _dots(axes: Axes, one: DotsPanel) -> None:
    style: dict[str, Any] = {"markeredgecolor": PAPER, "markersize": 7, "linestyle": "none"}
    for k, each in enumerate(one.series):
        shift, colour = (k - (len(one.series) - 1) / 2) * 0.26, SERIES[k % len(SERIES)]
        known = _known(one, [i + shift for i in range(len(one.names))], each.estimates)
        for y, _, ends in known:
            if ends is not None:
                axes.hlines(y, *ends, colors=colour, linewidth=1.8)
        xs, ys = [mean for _, mean, _ in known], [y for y, _, _ in known]
        axes.plot(xs, ys, MARKERS[k % len(MARKERS)], label=each.label, color=colour, **style)
    _levels(axes.axvline, one)
    axes.set_yticks(
        range(len(one.names)),
        [textwrap.fill(name, LINE, max_lines=2, placeholder=" …") for name in one.names],
        color=INK,
    )
    axes.set_ylim(max(len(one.names), 1) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(_ticks(one))
    axes.grid(axis="x")


def _ticks(one: LinesPanel | DotsPanel) -> FuncFormatter:
    if one.form == "share":
        return FuncFormatter(lambda y, _: level(round(y, 9)) if -1e-9 <= y <= 1 + 1e-9 else "")
    return FuncFormatter(lambda y, _: (f"{y:,.0f}" if abs(y) >= 1000 else f"{y:.3g}").replace("-", "−"))


def _cloud(axes: Axes, one: CloudPanel) -> None:
    points = np.asarray(one.points, np.float64).reshape(-1, 3)
    weight = np.log1p(points[:, 2])
    shade = 0.15 + 0.85 * weight / max(float(weight.max(initial=0.0)), 1e-12)
    steps = np.clip(np.ceil(shade * 6), 1, 6)
    for step in np.unique(steps):  # A few shades, so that each is one element.
        chosen = points[steps == step]
        axes.plot(chosen[:, 0], chosen[:, 1], "s", color=SERIES[0], alpha=step / 6, markersize=4.2, markeredgewidth=0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5, integer=True))
        axis.set_major_formatter(FuncFormatter(lambda v, _: f"1e{v:.0f}".replace("-", "−")))
    axes.grid(color=RULE)


def _density(axes: Axes, one: DensityPanel) -> None:
    for i, each in enumerate(one.series):
        colour, style = SERIES[i % len(SERIES)], DASHES[i % len(DASHES)]
        axes.stairs(each.heights, one.edges, fill=True, color=colour, alpha=0.16, linewidth=0)
        axes.stairs(each.heights, one.edges, color=colour, linewidth=1.5, linestyle=style, label=each.label)
    axes.set_ylim(0)
    axes.set_yticks([])
    axes.xaxis.set_major_locator(MaxNLocator(4))
