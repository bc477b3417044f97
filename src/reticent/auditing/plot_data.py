"""What the report draws of an attack: a mean ROC curve with a band, and histograms of the scores."""

import numpy as np

from reticent import scratch
from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.intervals import clopper_pearson, percentile
from reticent.auditing.roc import Roc
from reticent.auditing.transferred_threshold import some
from reticent.findings.attack import Histogram, RocCurve

POINTS = 100
BINS = 60
CLIPPED = 0.005
"""Share of the scores at each end that is drawn in the outermost bins."""
LARGEST = 1e150
"""Scores beyond it are drawn at it, so that no width overflows."""


def grid(non_members: int) -> Floats:
    """Choose the FPRs of a mean curve: a logarithmic grid from one over the most non-members of a target to 1."""
    return np.geomspace(1 / non_members, 1, POINTS)


def mean_roc(grid: Floats, found: Ints, members: Ints, confidence: float) -> RocCurve:
    """Average the targets' TPR.

    At FPRs ``(K,)``, from how many members each target's curve has found there, as `found_at` counts them ``(T, K)``.
    The band is "targets" (the middle share of the targets: how models differ, not the error of the mean), or "exact"
    for one target (pointwise Clopper-Pearson).
    """
    rates = found / members[:, None]
    if len(found) == 1:
        low, high = clopper_pearson(found[0], members[0], confidence)
    else:
        low, high = percentile(rates, confidence)
    return RocCurve(
        fpr=tuple(grid.tolist()),
        tpr=tuple(rates.mean(axis=0).tolist()),
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        band="exact" if len(found) == 1 else "targets",
    )


def found_at(curve: Roc, grid: Floats) -> Ints:
    """Count the members that are found at the largest TPR at or below each FPR, not interpolated ``(K,)``."""
    limits = np.floor(grid * curve.non_members + 1e-9)
    return curve.true_positives[np.searchsorted(curve.false_positives, limits, side="right") - 1]


def histogram(scores: Floats, members: Bools) -> Histogram:
    """Count the scores of members and non-members, pooled over targets.

    `BINS` bins of densities, each of the two with area 1.
    """
    low, high = np.quantile(np.clip(some(scores), -LARGEST, LARGEST), [CLIPPED, 1 - CLIPPED])
    # Where nearly all scores are equal, the rest still need a width.
    if high - low <= 1e-9 * max(1.0, abs(low), abs(high)):
        ends = [(row.min(), row.max()) for (row,) in scratch.rows(scores)]
        low, high = np.clip((min(one for one, _ in ends), max(one for _, one in ends)), -LARGEST, LARGEST)
    if high - low <= 1e-9 * max(1.0, abs(low), abs(high)):
        room = 0.5 * max(1.0, abs(low))
        low, high = low - room, high + room
    edges = np.linspace(low, high, BINS + 1)
    counts = np.zeros((2, BINS))
    for row, own in scratch.rows(scores, members):
        for kind, group in enumerate((own, ~own)):
            below = np.searchsorted(np.sort(row[group]), edges[1:-1], side="left")
            counts[kind] += np.diff(below, prepend=0, append=np.count_nonzero(group))
    inside, outside = (one / np.diff(edges) / one.sum() for one in counts)
    return Histogram(edges=tuple(edges.tolist()), members=tuple(inside.tolist()), non_members=tuple(outside.tolist()))
