"""How memorisation is spread over the records."""

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from numpy.typing import NDArray

from reticent.report.svg import MUTED, SERIES, canvas, drawing, render
from reticent.rounding import count, number, percent


def memorisation(values: Sequence[float], threshold: float, name: str = "memorisation") -> str:
    """Draw how many records have which memorisation, on a logarithmic axis: the few at the right are what matters."""
    heights, edges = spread(values)
    array = np.asarray(values, np.float64)
    with drawing():
        figure, axes = canvas(212)
        axes.bar((edges[:-1] + edges[1:]) / 2, heights, width=0.1, color=SERIES[0], alpha=0.75, linewidth=0)
        axes.axvline(threshold, color=MUTED, linewidth=1, dashes=(4, 3))
        axes.set_yscale("log")
        axes.set_ylim(0.6, 1.6 * max(1, int(heights.max())))
        axes.set_xlim(edges[0], edges[-1])
        axes.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0])
        axes.set(xlabel="memorisation (right of the line: memorised)", ylabel="records")
        axes.yaxis.set_major_locator(LogLocator(10))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: count(y)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: number(x, 1)))
        heading = "How many records have which memorisation"
        share = percent(float((array >= threshold).mean()))
        numbers = f"mean {number(float(array.mean()))}, {share} at {number(threshold, 1)} or more"
        return render(figure, name, heading, f"{heading}. {count(array.size)} records: {numbers}.")


def spread(values: Sequence[float]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count memorisations by bins with 0 in the middle of one, since many records have none, and 0.5 between two."""
    edges = np.arange(-19, 20, 2) / 18
    return np.histogram(np.asarray(values, np.float64), edges)[0], edges
