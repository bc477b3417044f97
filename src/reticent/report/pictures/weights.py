"""The pictures of ``locate weights``: two scores against each other, what each layer holds, the course of scoring."""

from collections.abc import Sequence

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from reticent.findings.locate import ByKind, ByLayer, ScoringSteps
from reticent.report.svg import DASHES, MUTED, SERIES, canvas, drawing, render
from reticent.rounding import count, level, number, percent
from reticent.say.grammar import short

LEVELS = 6
"""Shades of a density; each holds up to ten times as many weights in a cell as the one before, or less."""
NAMED = 26
"""Most layers that are drawn with their names."""
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def scatter(row: ByKind, name: str) -> str:
    """Draw how many weights of a kind have which learnability (right) and vulnerability (up), on logarithmic axes."""
    given = row.density
    assert given is not None
    counts = np.asarray(given.counts, dtype=np.float64)
    across, up = (np.linspace(*ends, len(counts) + 1) for ends in (given.x, given.y))
    with drawing():
        figure, axes = canvas(290, 304)
        shades = _shades(counts)
        for shade in range(1, LEVELS + 1):
            cells = np.argwhere(shades == shade)
            if len(cells):
                path = _cells(cells, across, up)
                axes.add_patch(PathPatch(path, facecolor=SERIES[0], alpha=0.12 + 0.88 * shade / LEVELS, linewidth=0))
        axes.set_xlim(across[0], across[-1])
        axes.set_ylim(up[0], up[-1])
        axes.set(xlabel="learnability", ylabel="vulnerability")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(5, integer=True))
            axis.set_major_formatter(FuncFormatter(lambda power, _: f"10{str(round(power)).translate(SUPERSCRIPTS)}"))
        title = f"{row.kind}: {count(row.entries)} weights"
        axes.set_title(title, fontsize=11)
        numbers = ", ".join(
            f"{label} {number(value, 2)}"
            for label, value in (
                ("Pearson", row.pearson),
                ("of logarithms", row.log_pearson),
                ("Spearman", row.spearman),
            )
        )
        heading = f"Vulnerability against learnability of the weights: {title}"
        return render(figure, name, heading, f"{heading}. Correlations: {numbers}.")


def layers(rows: Sequence[ByLayer], name: str = "layer-shares") -> str:
    """Draw which share of the vulnerability and of the weights each layer holds, in the order of the network."""
    held = np.asarray([row.vulnerability for row in rows], dtype=np.float64)
    entries = np.asarray([row.share for row in rows], dtype=np.float64)
    with drawing():
        if len(rows) <= NAMED:
            figure, axes = canvas(74 + 19 * len(rows), 620)
            place = np.arange(len(rows))
            axes.hlines(place, np.minimum(held, entries), np.maximum(held, entries), color=MUTED, linewidth=1)
            axes.plot(entries, place, "s", color=SERIES[1], markerfacecolor="none", label="of the weights")
            axes.plot(held, place, "o", color=SERIES[0], label="of the vulnerability")
            axes.set_yticks(place, [short(row.layer or "(network)", 34) for row in rows])
            axes.set_ylim(len(rows) - 0.4, -0.6)
            axes.set_xlabel("share held by the layer")
            axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: level(round(x, 9))))
            axes.set_xlim(left=0)
            axes.grid(axis="x")
        else:
            figure, axes = canvas(250, 620)
            place = np.arange(1, len(rows) + 1)
            axes.plot(place, entries, color=SERIES[1], linestyle=DASHES[1], label="of the weights")
            axes.plot(place, held, color=SERIES[0], label="of the vulnerability")
            axes.set(xlabel="layer, from the input to the output", ylabel="share held")
            axes.yaxis.set_major_formatter(FuncFormatter(lambda x, _: level(round(x, 9))))
            axes.set_xlim(1, len(rows))
            axes.set_ylim(bottom=0)
            axes.grid(axis="y")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2)
        most = sorted(rows, key=lambda row: -(row.vulnerability or 0))[:3]
        parts = [
            f"{row.layer or 'the network itself'} {percent(row.vulnerability)} with {percent(row.share, 2)} "
            "of the weights"
            for row in most
        ]
        heading = "Share of the vulnerability that each layer holds, beside its share of the weights"
        return render(figure, name, heading, f"{heading}. Most: {'; '.join(parts)}.")


def steps(found: ScoringSteps, name: str = "course") -> str:
    """Draw what the working copy did while it was scored: the loss of members, the divergence of non-members."""
    first, plain = found.vulnerability[0], found.learnability
    lines = [
        ("loss of members", first.member_loss, 0),
        ("divergence of non-members from the initial model", first.divergence, 1),
        ("loss of members, learnability alone", plain.member_loss, 2),
    ]
    with drawing():
        figure, axes = canvas(250, 620)
        for label, values, i in lines:
            if values:
                marker = "o" if len(values) == 1 else None
                axes.plot(
                    range(1, len(values) + 1), values, color=SERIES[i], linestyle=DASHES[i], marker=marker, label=label
                )
        axes.set(xlabel="step", ylabel="nats")
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.grid(axis="y")
        axes.legend(loc="best")
        parts = [f"{label}: from {number(v[0])} to {number(v[-1])}" for label, v, _ in lines if v]
        heading = "What the working copy did in the steps of scoring"
        return render(figure, name, heading, f"{heading}. {'; '.join(parts)}.")


def _shades(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Give each cell a shade by the logarithm of its count; 0 where there is nothing."""
    most = np.log1p(counts.max())
    found: NDArray[np.int64] = np.ceil(np.log1p(counts) / most * LEVELS).astype(np.int64)
    return found


def _cells(cells: NDArray[np.int64], x: NDArray[np.float64], y: NDArray[np.float64]) -> Path:
    """Join cells, each ``(row, column)``, into one path."""
    rows, columns = cells[:, 0], cells[:, 1]
    left, right, low, high = x[columns], x[columns + 1], y[rows], y[rows + 1]
    corners = np.stack(
        [np.stack([left, right, right, left, left], axis=1), np.stack([low, low, high, high, low], axis=1)], axis=2
    )
    codes = np.tile([Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY], len(cells))
    return Path(corners.reshape(-1, 2), codes)
