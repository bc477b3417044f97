"""One kind of figure: a row a name, a dot with its interval on one scale, in one or two series."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reticent.findings.audit import Group
from reticent.report.estimates import Measure, limits, middle, written
from reticent.report.render.text import clean
from reticent.report.svg import INK, MUTED, PAPER, RULE, SERIES, canvas, drawing, render
from reticent.rounding import count, fraction, interval, number
from reticent.say.grammar import plural

ROW = 21
"""Height of a row in CSS pixels."""


class Series(NamedTuple):
    """One set of dots, one a row, None where there is none."""

    label: str
    estimates: Sequence[Measure]
    filled: bool = True
    colour: str = SERIES[0]
    marker: str = "o"


def groups(shown: Sequence[tuple[str, Group]], total: int, heading: str, name: str) -> str:
    """Draw the AUC of groups, the highest on top, with the number of records on the right.

    Where there are more than are shown, these are the highest two thirds and the lowest third.
    """
    gap = len(shown) * 2 // 3 if total > len(shown) else None
    with drawing():
        figure, axes = canvas(62 + ROW * len(shown))
        places = [i + (0.5 if gap is not None and i >= gap else 0.0) for i in range(len(shown))]
        axes.axvline(0.5, color=MUTED, linewidth=1, dashes=(4, 3))
        for state in dict.fromkeys(group.stands_out for _, group in shown):
            colour, marker = OUT.get(state, (SERIES[5], "o"))
            areas = [group.auc if group.stands_out == state else None for _, group in shown]
            _dots(axes, areas, places, Series("", areas, colour=colour, marker=marker))
        if gap is not None:
            axes.axhline(gap - 0.25, color=RULE, linewidth=5)
        _rows(axes, places, [clean(text, 18) for text, _ in shown])
        _counts(axes, places, [group.records for _, group in shown])
        axes.set_xlabel("AUC (dashed: chance, 0.5)")
        said = [
            f"{clean(text, 40)}: {fraction(group.auc.mean)} ({interval(group.auc.interval)})"
            for text, group in shown
            if group.auc is not None
        ]
        left = f" {plural(total - len(shown), 'group')} between them not drawn." if gap is not None else ""
        return render(figure, name, heading, f"{heading}. {'; '.join(said)}.{left} Chance is 0.5.")


OUT: dict[str | None, tuple[str, str]] = {"more": (SERIES[1], "^"), "less": (SERIES[2], "v")}
"""How a group stands out -> colour and shape."""


def beside(names: Sequence[str], series: Sequence[Series], heading: str, name: str) -> str:
    """Draw two or more estimates a row, with a legend."""
    with drawing():
        figure, axes = canvas(84 + round(1.5 * ROW) * len(names))
        axes.axvline(0.5, color=MUTED, linewidth=1, dashes=(4, 3))
        for k, one in enumerate(series):
            shift = (k - (len(series) - 1) / 2) * 0.3
            _dots(axes, one.estimates, [i + shift for i in range(len(names))], one)
            face = one.colour if one.filled else PAPER
            axes.plot([], [], one.marker, color=one.colour, markerfacecolor=face, markersize=6.5, label=one.label)
        _rows(axes, list(range(len(names))), [clean(text, 22) for text in names])
        axes.set_xlabel("AUC (dashed: chance, 0.5)")
        figure.legend(loc="outside upper right", ncols=len(series), handletextpad=0.2, columnspacing=1.4, borderpad=0)
        said = [
            f"{clean(text, 40)}: " + ", ".join(f"{one.label} {written(one.estimates[i])}" for one in series)
            for i, text in enumerate(names)
        ]
        return render(figure, name, heading, f"{heading}. {'; '.join(said)}. Chance is 0.5.")


def _dots(axes: Axes, estimates: Sequence[Measure], places: Sequence[float], one: Series) -> None:
    """Draw estimates of one style: all bars at once, then all dots, since each artist costs time."""
    known = [
        (value, limits(estimate), place)
        for estimate, place in zip(estimates, places, strict=True)
        if (value := middle(estimate)) is not None
    ]
    bars = [(place, *ends) for _, ends, place in known if ends is not None]
    if bars:
        heights, lows, highs = zip(*bars, strict=True)
        axes.hlines(heights, lows, highs, colors=one.colour, linewidth=2, zorder=2)
    face, edge = (one.colour, PAPER) if one.filled else (PAPER, one.colour)
    style: dict[str, Any] = {"color": face, "markeredgecolor": edge, "markersize": 7.5, "markeredgewidth": 1.3}
    axes.plot([v for v, *_ in known], [p for *_, p in known], one.marker, linestyle="none", zorder=3, **style)


def _rows(axes: Axes, places: Sequence[float], names: Sequence[str]) -> None:
    axes.set_yticks(places, names, color=INK)
    axes.set_ylim(max(places, default=0) + 0.7, -0.7)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(_plain_number(axes)))


def _plain_number(axes: Axes) -> Callable[[float, Any], str]:
    def write(x: float, _: Any) -> str:
        low, high = axes.get_xlim()
        return number(x, 3 if high - low < 0.025 else 2 if high - low < 0.8 else 1)

    return write


def _counts(axes: Axes, places: Sequence[float], sizes: Sequence[int]) -> None:
    """Write the numbers of records to the right of the rows."""
    side = axes.twinx()
    side.set_ylim(axes.get_ylim())
    side.set_yticks(places, [count(size) for size in sizes])
    side.tick_params(axis="y", length=0)
    side.spines["left"].set_visible(False)
    side.annotate(
        "records", (1, 1), (4, 4), xycoords="axes fraction", textcoords="offset points", fontsize=10, color=MUTED
    )
