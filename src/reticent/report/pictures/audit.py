"""The figures of an audit: findings in, SVG out, each with a title and a description in numbers."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from reticent.findings.attack import Audit, Histogram, RocCurve
from reticent.findings.population import Population
from reticent.report.pictures import histograms
from reticent.report.render.text import clean
from reticent.report.svg import DASHES, INK, MUTED, PAPER, SERIES, canvas, drawing, render
from reticent.rounding import count, fraction, interval, level, number, percent
from reticent.say.grammar import plural

BANDS = 3
"""With more curves than this, only the strongest attack's band is drawn; the table has every interval."""
CURVES = len(SERIES)
"""Most curves in one figure: a colour each, and room for their names."""

SPIKE = 0.3
"""With more than this share of a side's scores in one bin, a histogram's axis of shares is logarithmic."""
SLIGHT = 0.02
"""Below this share of the highest bar, a bar can hardly be seen."""


def roc(audits: Sequence[Audit], fpr: float | None = None, name: str = "roc", of: str = "each attack") -> str:
    """Draw curves of attacks, `CURVES` at most, on logarithmic axes, with the chance line and bands."""
    least = least_rate(audits)
    with drawing():
        figure, axes = canvas(318)
        axes.plot([least, 1], [least, 1], color=MUTED, linewidth=1, dashes=(4, 3), label="chance")
        if fpr is not None and fpr > least:
            axes.axvline(fpr, color=MUTED, linewidth=0.8, alpha=0.6)
        for i, audit in reversed(list(enumerate(audits))):
            style = SERIES[i % len(SERIES)], DASHES[i % len(DASHES)]
            assert audit.roc is not None
            curve(axes, audit.roc, least, *style, _name(audit), band=i == 0 or len(audits) <= BANDS)
        log_axes(axes, least)
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], labels[::-1], loc="lower right", handlelength=2.4, labelspacing=0.25, borderpad=0)
        parts = [f"{_name(audit)}: AUC {fraction(audit.auc.mean)}" for audit in audits]
        heading = f"True positive rate against false positive rate of {of}, on logarithmic axes"
        return render(figure, name, heading, f"{heading}. {'; '.join(parts)}. Chance is the diagonal, AUC 0.5.")


def curve(axes: Axes, roc: RocCurve, least: float, colour: str, dash: Any, label: str, *, band: bool) -> None:
    """Draw one ROC curve, on axes from `log_axes`."""
    fpr, tpr, low, high = map(_positive, (roc.fpr, roc.tpr, roc.low, roc.high))
    if band:
        axes.fill_between(fpr, np.nan_to_num(low, nan=least / 100), high, color=colour, alpha=0.18, linewidth=0)
    axes.plot(fpr, tpr, color=colour, linestyle=dash, label=label, zorder=3)


def spiked(scores: Histogram) -> bool:
    """Tell whether one bin holds so many scores, and another so few, that equal steps of shares would show it alone."""
    bars = np.concatenate([histograms.shares(side) for side in (scores.members, scores.non_members)])
    most = float(bars.max(initial=0))
    return most > SPIKE and float(bars[bars > 0].min(initial=1)) < most * SLIGHT


def histogram(scores: Histogram, attack: str, name: str) -> str:
    """Draw one attack's scores of members and of non-members; see `spiked`."""
    edges = np.asarray(scores.edges, np.float64)
    inside, outside = histograms.shares(scores.members), histograms.shares(scores.non_members)
    with drawing():
        figure, axes = canvas(206, 304)
        histograms.draw(axes, edges, ("members", inside), ("non-members", outside), log=spiked(scores))
        axes.set_xlabel("score (higher: more like a member)")
        heading = f"Scores of members and non-members under {_short(attack)}"
        scale = " Shares on a logarithmic axis." if spiked(scores) else ""
        half = [number(float(edges[1:][np.argmax(side.cumsum() >= 0.5)]), 2) for side in (inside, outside)]
        said = f"Half of the members score below {half[0]} or so, half of the non-members below {half[1]}.{scale}"
        return render(figure, name, heading, f"{heading}. {said}")


def spread(audits: Sequence[Audit], name: str = "spread") -> str:
    """Draw the AUC of every audited model, a row of ticks for each attack, with the mean and its interval."""
    rows = [
        _Strip(_name(one), [target.auc.value for target in one.targets], one.auc.mean, one.auc.interval)
        for one in audits
    ]
    with drawing():
        figure, axes = canvas(58 + 34 * len(rows))
        axes.axvline(0.5, color=MUTED, linewidth=1, dashes=(4, 3))
        _strips(axes, rows, [SERIES[i % len(SERIES)] for i in range(len(rows))])
        axes.set_xlabel("AUC (dashed: chance, 0.5)")
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        heading = "AUC of each attack on each audited model"
        models = plural(max(len(row.values) for row in rows), "model")
        parts = [f"{_name(one)}: mean {fraction(one.auc.mean)} ({interval(one.auc.interval)})" for one in audits]
        return render(figure, name, heading, f"{heading}, {models}. {'; '.join(parts)}. Chance is 0.5.")


def accuracy(population: Population, name: str = "accuracy") -> str:
    """Draw every model's accuracy on the records it was trained on and on those it was not."""
    assert population.accuracy is not None
    inside, outside = (
        [value for model in population.per_model if (value := getattr(model, key)) is not None]
        for key in ("accuracy_members", "accuracy_non_members")
    )
    rows = [
        _Strip("members", inside, population.accuracy.members.mean),
        _Strip("non-members", outside, population.accuracy.non_members.mean),
    ]
    with drawing():
        figure, axes = canvas(142)
        _strips(axes, rows, [SERIES[0], SERIES[1]])
        axes.set_xlabel("accuracy of each model")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: level(round(x, 9))))
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        heading = "Accuracy of each model on members and on non-members"
        parts = [f"{row.label}: mean {percent(row.mean)}" for row in rows]
        return render(figure, name, heading, f"{heading}. {'; '.join(parts)}.")


def exposures(values: Sequence[float], name: str = "exposure") -> str:
    """Draw how exposure is spread over the records."""
    array = np.asarray(values, np.float64)
    heights, edges = np.histogram(array, bins=min(48, max(8, round(math.sqrt(array.size)))))
    with drawing():
        figure, axes = canvas(212)
        axes.stairs(heights, edges, fill=True, color=SERIES[0], alpha=0.55, linewidth=0)
        axes.stairs(heights, edges, color=SERIES[0], linewidth=1.2)
        if edges[0] < 0 < edges[-1]:
            axes.axvline(0, color=MUTED, linewidth=1, dashes=(4, 3))
        axes.set(xlabel="exposure (0: the record leaves no trace)", ylabel="records")
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: count(y)))
        low, half, high = (number(float(q), 2) for q in np.quantile(array, (0.05, 0.5, 0.95)))
        heading = "How many records have which exposure"
        most = number(float(array.max()), 2)
        numbers = f"median {half}, 5 % below {low}, 5 % above {high}, largest {most}"
        text = f"{heading}. {count(array.size)} records: {numbers}."
        return render(figure, name, heading, text)


class _Strip(NamedTuple):
    """A row of ticks: one a model, their mean, and its interval."""

    label: str
    values: Sequence[float]
    mean: float
    ends: tuple[float, float] | None = None


def _strips(axes: Axes, rows: Sequence[_Strip], colours: Sequence[str]) -> None:
    """Draw a row of ticks for each label, its mean as a diamond, its interval as a bar; the first row on top."""
    style: dict[str, Any] = {
        "color": INK,
        "markeredgecolor": PAPER,
        "markeredgewidth": 1,
        "markersize": 6,
        "linestyle": "none",
    }
    for i, row in enumerate(rows):
        bars = np.full((len(row.values), 3), np.nan)
        bars[:, 0], bars[:, 1] = i - 0.27, i + 0.27
        axes.plot(np.repeat(row.values, 3), bars.ravel(), color=colours[i], linewidth=1.1, alpha=0.5)
        if row.ends is not None:
            axes.plot(row.ends, [i, i], color=INK, linewidth=2.2, solid_capstyle="butt")
        axes.plot([row.mean], [i], "D", **style)
    axes.set_yticks(range(len(rows)), [row.label for row in rows], color=INK)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")


def log_axes(axes: Axes, least: float) -> None:
    """Make both axes logarithmic, with rates as percentages."""
    axes.set(xscale="log", yscale="log", xlim=(least, 1), ylim=(least, 1.0))
    axes.set(xlabel="false positive rate (FPR)", ylabel="members found (TPR)")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(10))
        axis.set_major_formatter(FuncFormatter(lambda rate, _: level(rate)))
        axis.set_minor_locator(NullLocator())
    axes.grid()


def least_rate(audits: Sequence[Audit]) -> float:
    """Round the smallest rate that the records resolve down to a power of ten."""
    most = max((target.non_members for audit in audits for target in audit.targets), default=1000)
    return float(10.0 ** -min(5, max(1, math.ceil(math.log10(max(most, 1)) - 1e-9))))


def _positive(values: Sequence[float]) -> Any:
    """Leave out zeros, which a logarithmic axis has no place for."""
    array = np.asarray(values, np.float64)
    return np.where(array > 0, array, np.nan)


def _name(audit: Audit) -> str:
    return _short(audit.name)


_short = partial(clean, most=24)
