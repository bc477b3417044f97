"""Two histograms on one set of axes: how far apart two kinds of records lie."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from reticent.report.svg import DASHES, SERIES
from reticent.rounding import level


def shares(counts: Sequence[float]) -> Any:
    """Divide counts, or densities of bins of one width, by their sum."""
    array = np.asarray(counts, np.float64)
    return array / max(array.sum(), 1e-12)


def draw(axes: Axes, edges: Any, first: tuple[str, Any], second: tuple[str, Any], log: bool = False) -> None:
    """Draw shares of records by bin, each with its label; the first in front, and `log` on a logarithmic axis."""
    kinds = ((*second, 1, 0.16, DASHES[1]), (*first, 0, 0.22, "-"))
    both = np.concatenate([first[1], second[1]])
    most = max(1e-9, float(both.max(initial=0)))
    least = float(both[both > 0].min(initial=most)) / 1.6 if log else 0.0
    for _, heights, k, alpha, _ in kinds:
        axes.stairs(heights, edges, baseline=least, fill=True, color=SERIES[k], alpha=alpha, linewidth=0)
    for label, heights, k, _, dash in kinds:
        axes.stairs(heights, edges, baseline=least, color=SERIES[k], linewidth=1.5, linestyle=dash, label=label)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylabel("share of records")
    if log:
        axes.set_yscale("log")
        axes.set_ylim(least, most * (most / least) ** 0.25)
        axes.yaxis.set_major_locator(LogLocator(10))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(0, most * 1.28)
        axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: level(round(y, 9)) if y <= 1 else ""))
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.legend(loc="upper right", ncols=2, handlelength=1.6, columnspacing=1.2, borderpad=0)
