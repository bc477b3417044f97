"""The figures of ``layers.html``: distances of both groups at each stage, the effect and the probe by stage."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reticent.findings.locate import StageFound
from reticent.report.pictures import histograms
from reticent.report.svg import INK, MUTED, SERIES, canvas, drawing, render
from reticent.rounding import fraction, interval, level, number, percent
from reticent.say.grammar import short

SEVERAL = 5
"""With more stages than this, their names stand slanted."""


def effects(stages: Sequence[StageFound], margin: float, name: str = "effects") -> str:
    """Draw the effect of each stage with its interval, a small mark for each contrast, and the risky stages shaded."""
    with drawing():
        figure, axes = canvas(300)
        axes.axhline(0.5, color=MUTED, linewidth=1, dashes=(4, 3))
        axes.axhline(0.5 + margin, color=MUTED, linewidth=1, dashes=(1, 2))
        _shade(axes, stages)
        for place, stage in enumerate(stages):
            runs = list(stage.effects)
            axes.plot([place + 0.16] * len(runs), runs, "_", color=SERIES[0], markersize=7, alpha=0.7)
        _points(axes, [(stage.effect.mean, stage.effect.interval) for stage in stages], SERIES[0])
        axes.set_ylabel("effect (dashed: no trace)")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: number(y, 2)))
        _stages(axes, stages)
        heading = "How often a record seen by one network lies farther apart than one seen by both, by stage"
        said = [
            f"{short(one.name, 40)}: {fraction(one.effect.mean)} ({interval(one.effect.interval)})" for one in stages
        ]
        risky = [short(one.name, 40) for one in stages if one.risky]
        end = f"Risky: {', '.join(risky)}." if risky else "No stage is risky."
        return render(figure, name, heading, f"{heading}. {'; '.join(said)}. 0.5 is no trace. {end}")


def probe(stages: Sequence[StageFound], accuracy: float, name: str = "probe") -> str:
    """Draw the probe's accuracy by stage, with the networks' own accuracy as a line."""
    with drawing():
        figure, axes = canvas(300)
        axes.axhline(accuracy, color=MUTED, linewidth=1, dashes=(4, 3))
        _shade(axes, stages)
        shown = [(stage.probe.mean, stage.probe.interval) for stage in stages if stage.probe is not None]
        axes.plot(range(len(shown)), [mean for mean, _ in shown], color=SERIES[2], linewidth=1.2, alpha=0.6)
        _points(axes, shown, SERIES[2])
        axes.set_ylabel("test accuracy (dashed: network)")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: level(round(y, 9))))
        _stages(axes, stages)
        heading = "Accuracy of a linear machine on the features of each stage, on records that no network has seen"
        said = [f"{short(one.name, 40)}: {percent(one.probe.mean)}" for one in stages if one.probe is not None]
        own = f"The networks themselves: {percent(accuracy)}."
        return render(figure, name, heading, f"{heading}. {'; '.join(said)}. {own}")


def distances(stage: StageFound, name: str) -> str:
    """Draw the distances of records seen by both networks, and of those seen by one."""
    drawn = stage.distances
    edges = np.asarray(drawn.edges, np.float64)
    with drawing():
        figure, axes = canvas(206, 304)
        one, both = histograms.shares(drawn.one), histograms.shares(drawn.both)
        histograms.draw(axes, edges, ("seen by one", one), ("seen by both", both))
        axes.set_xlabel("distance of the feature maps")
        heading = f"Distances of feature maps at {short(stage.name, 40)}"
        means = number(drawn.means.one), number(drawn.means.both)
        text = f"Mean distance of records seen by one network {means[0]}, of those seen by both {means[1]}"
        return render(figure, name, heading, f"{heading}. {text}.")


def _shade(axes: Axes, stages: Sequence[StageFound]) -> None:
    """Shade the stages from the onset on."""
    risky = [place for place, stage in enumerate(stages) if stage.risky]
    if risky:
        axes.axvspan(risky[0] - 0.5, len(stages) - 0.5, color=SERIES[1], alpha=0.1, linewidth=0)


def _points(axes: Axes, estimates: Sequence[tuple[float, tuple[float, float]]], colour: str) -> None:
    for place, (_, ends) in enumerate(estimates):
        axes.plot([place, place], ends, color=INK, linewidth=2, solid_capstyle="butt")
    means = [mean for mean, _ in estimates]
    axes.plot(range(len(means)), means, "o", color=colour, zorder=3, ms=7, mec=INK, mew=0.8, linestyle="none")


def _stages(axes: Axes, stages: Sequence[StageFound]) -> None:
    names = [short(stage.name, 14) for stage in stages]
    slanted = len(names) > SEVERAL or sum(map(len, names)) > 40
    style: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    axes.set_xticks(range(len(names)), names, color=INK, **style)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.grid(axis="y")
