"""The figures of a study, from plain values: panels of lines, dots, clouds or densities, as SVG and as files.

A figure holds ``name``, ``title`` and ``panels``; a panel holds ``kind``, ``title``, axis titles ``x`` and ``y`` and,
by its kind,

- lines: ``series`` of ``label``, ``x`` and ``estimates`` (``mean`` and ``interval``, or None), ``levels`` of ``label``
  and ``value``, ``form`` of the vertical axis, and ``ticks``: words in place of numbers on the horizontal one;
- dots: ``names`` from the top, ``series`` of ``label`` and ``estimates``, ``levels``, ``form`` of the horizontal axis;
- cloud: ``points`` of ``[x, y, weight]``, decimal logarithms; a point is darker the more it stands for;
- density: ``edges``, and ``series`` of ``label`` and ``heights``.
"""

import io
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reticent.report.study import view
from reticent.report.svg import DASHES, INK, MUTED, PAPER, RULE, SERIES, WIDTH, canvas, drawing, render, settle
from reticent.report.view import short
from reticent.report.wording import Plain, level, limits, middle

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HEIGHT = 250
ROW = 30
"""Height of a row of dots."""
ACROSS = 3
"""Panels side by side in a figure's file."""


def pictures(figure: Plain) -> list[str]:
    """Draw each panel of a figure for the page."""
    drawn = []
    for i, panel in enumerate(figure["panels"]):
        with drawing():
            made, axes = canvas(height(panel))
            _draw(axes, panel)
            _legend(made)
            drawn.append(render(made, f"{figure['name']}-{i + 1}", panel["title"], described(panel)))
    return drawn


def files(figure: Plain) -> tuple[str, bytes]:
    """Draw all panels of a figure into one."""
    panels: Sequence[Plain] = figure["panels"]
    across = 2 if len(panels) == 4 else min(ACROSS, len(panels))
    down = math.ceil(len(panels) / across)
    tall = max(height(panel) for panel in panels) + 18
    with drawing():
        made = Figure(figsize=(across * WIDTH / 72, down * tall / 72), dpi=72, layout="constrained")
        FigureCanvasSVG(made)
        grid = made.subplots(down, across, squeeze=False).ravel()
        for axes, panel in zip(grid, panels, strict=False):
            _draw(axes, panel)
            axes.set_title(short(panel["title"], 60), fontsize=11, color=INK, loc="left")
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        _legend(made)
        text = " ".join(described(panel) for panel in panels)
        settle(made)
        stream = io.BytesIO()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph", UserWarning)
            made.savefig(stream, format="png", dpi=144, facecolor="white", metadata={"Software": "reticent"})
        return _alone(render(made, figure["name"], figure["title"], text)), stream.getvalue()


def height(panel: Plain) -> int:
    """Say how tall a panel is."""
    return 84 + ROW * len(panel["names"]) if panel["kind"] == "dots" else HEIGHT


def described(panel: Plain) -> str:
    """Say in numbers what a panel shows."""
    if panel["kind"] == "cloud":
        weight = sum(point[2] for point in panel["points"])
        return f"{panel['title']}: {panel['y']} against {panel['x']} of {weight:,.0f} weights."
    if panel["kind"] == "density":
        centres = (np.asarray(panel["edges"])[1:] + np.asarray(panel["edges"])[:-1]) / 2
        said = [
            f"{one['label']}: mean {np.average(centres, weights=np.asarray(one['heights']) + 1e-12):.3f}"
            for one in panel["series"]
        ]
        return f"{panel['title']}. {'; '.join(said)}."
    how, said = panel.get("form", "number"), []
    for one in panel["series"]:
        places = panel["names"] if panel["kind"] == "dots" else panel.get("ticks") or [f"{x:g}" for x in one["x"]]
        points = [
            f"{short(place, 40)} {view.form(middle(estimate), how)}"
            for place, estimate in zip(places, one["estimates"], strict=True)
            if estimate is not None
        ]
        said.append(f"{one['label']}: {', '.join(points)}" if one["label"] else ", ".join(points))
    said += [f"{one['label']}: {view.form(one['value'], how)}" for one in panel.get("levels", ())]
    return f"{panel['title']}. {'; '.join(said)}."


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


DARK = (
    *("#e7ecf1", "#a5b0bc", "#2d3742", "#11161c"),
    *("#5ab6ee", "#ff9257", "#38c79d", "#e79ac6", "#e8bd4f", "#a9b4c0", "#b7a3ec", "#d0a283"),
)
"""The page's dark colours, in the order of the light ones."""


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


def _draw(axes: Axes, panel: Plain) -> None:
    {"lines": _lines, "dots": _dots, "cloud": _cloud, "density": _density}[panel["kind"]](axes, panel)
    axes.set(xlabel=panel.get("x", ""), ylabel=panel.get("y", ""))


def _legend(figure: Figure) -> None:
    """Put one legend above all panels, with each label once; a single label needs none."""
    known: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        known |= {label: handle for label, handle in zip(labels, handles, strict=True) if label and label not in known}
    if len(known) > 1:
        columns = 3 if figure.get_figwidth() * 72 <= WIDTH else 6
        figure.legend(list(known.values()), list(known), loc="outside upper left", ncols=columns, **LEGEND)


LEGEND: dict[str, Any] = {"handlelength": 1.8, "handletextpad": 0.5, "columnspacing": 1.1, "labelspacing": 0.25}


def _lines(axes: Axes, panel: Plain) -> None:
    for i, one in enumerate(panel["series"]):
        colour = SERIES[i % len(SERIES)]
        known = _known(panel, one["x"], one["estimates"])
        if not known:
            continue
        xs, means = [x for x, *_ in known], [value for _, value, _ in known]
        bars = [(x, *ends) for x, _, ends in known if ends is not None]
        if bars:
            places, lows, highs = zip(*bars, strict=True)
            axes.vlines(places, lows, highs, colors=colour, linewidth=1.3, alpha=0.7)
        marker = MARKERS[i % len(MARKERS)]
        axes.plot(xs, means, marker, color=colour, linestyle=DASHES[i % len(DASHES)], markersize=5, label=one["label"])
    _levels(axes.axhline, panel)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(_ticks(panel))
    axes.grid(axis="y")
    if panel.get("log_x"):
        axes.set_xscale("log")
        axes.set_xticks(sorted({x for one in panel["series"] for x in one["x"]}))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: level(round(x, 9))))
        axes.minorticks_off()
    if panel.get("ticks"):
        axes.set_xticks(range(len(panel["ticks"])), [short(word, 10) for word in panel["ticks"]])


def _known(
    panel: Plain, places: Sequence[float], estimates: Sequence[Plain | None]
) -> list[tuple[float, float, tuple[float, float] | None]]:
    """Take the places that have a number, with the number and its interval; that of a share ends at 0 and 1."""
    both = [(x, middle(e), limits(e)) for x, e in zip(places, estimates, strict=True)]
    least, most = (0.0, 1.0) if panel.get("form") == "share" else (-math.inf, math.inf)
    return [
        (x, value, None if ends is None else (max(least, ends[0]), min(most, ends[1])))
        for x, value, ends in both
        if value is not None
    ]


def _levels(line: Callable[..., Any], panel: Plain) -> None:
    for k, one in enumerate(panel.get("levels", ())):
        line(one["value"], color=MUTED, linewidth=1.1, dashes=((4, 3), (1.5, 2), (7, 2))[k % 3], label=one["label"])


def _dots(axes: Axes, panel: Plain) -> None:
    names, series = panel["names"], panel["series"]
    for k, one in enumerate(series):
        shift, colour = (k - (len(series) - 1) / 2) * 0.26, SERIES[k % len(SERIES)]
        known = _known(panel, [i + shift for i in range(len(names))], one["estimates"])
        for place, _, ends in known:
            if ends is not None:
                axes.hlines(place, *ends, colors=colour, linewidth=1.8)
        style: dict[str, Any] = {"color": colour, "markeredgecolor": PAPER, "markersize": 7, "linestyle": "none"}
        axes.plot(
            [v for _, v, _ in known], [p for p, *_ in known], MARKERS[k % len(MARKERS)], label=one["label"], **style
        )
    _levels(axes.axvline, panel)
    axes.set_yticks(range(len(names)), [short(name, 30) for name in names], color=INK)
    axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(_ticks(panel))
    axes.grid(axis="x")


def _ticks(panel: Plain) -> FuncFormatter:
    if panel.get("form") == "share":
        return FuncFormatter(lambda y, _: level(round(y, 9)) if -1e-9 <= y <= 1 + 1e-9 else "")
    return FuncFormatter(lambda y, _: f"{y:.3g}".replace("-", "−"))


def _cloud(axes: Axes, panel: Plain) -> None:
    points = np.asarray(panel["points"], np.float64).reshape(-1, 3)
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


def _density(axes: Axes, panel: Plain) -> None:
    for i, one in enumerate(panel["series"]):
        colour = SERIES[i % len(SERIES)]
        axes.stairs(one["heights"], panel["edges"], fill=True, color=colour, alpha=0.16, linewidth=0)
        style = DASHES[i % len(DASHES)]
        axes.stairs(one["heights"], panel["edges"], color=colour, linewidth=1.5, linestyle=style, label=one["label"])
    axes.set_ylim(0)
    axes.set_yticks([])
    axes.xaxis.set_major_locator(MaxNLocator(4))
