"""What the report draws of an attack: a mean ROC curve with a band, and histograms of the scores."""

import numpy as np

from reticent import scratch
from reticent.arrays import Floats, Ints
from reticent.auditing.intervals import clopper_pearson, percentile
from reticent.auditing.roc import Roc
from reticent.auditing.sorted_scores import Ranked
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


def edges(scores: Floats, rising: Floats) -> Floats:
    """Choose the bins of a histogram of the scores of all targets, which are also given `pooled`."""
    low, high = (_quantile(rising, share) for share in (CLIPPED, 1 - CLIPPED))
    # Where nearly all scores are equal, the rest still need a width.
    if high - low <= 1e-9 * max(1.0, abs(low), abs(high)):
        ends = [(row.min(), row.max()) for (row,) in scratch.rows(scores)]
        low, high = np.clip((min(one for one, _ in ends), max(one for _, one in ends)), -LARGEST, LARGEST)
    if high - low <= 1e-9 * max(1.0, abs(low), abs(high)):
        room = 0.5 * max(1.0, abs(low))
        low, high = low - room, high + room
    return np.linspace(low, high, BINS + 1)


def _quantile(rising: Floats, share: float) -> float:
    """Take a quantile, as `numpy.quantile` does, of scores that are in order."""
    place = (len(rising) - 1) * share
    two = rising[int(place) : int(place) + 2].clip(-LARGEST, LARGEST)
    return float(np.quantile(two, place - int(place) if len(two) > 1 else 0.0))


def counted(ranked: Ranked, edges: Floats) -> Ints:
    """Count one target's members and non-members in each bin ``(2, BINS)``; what lies beyond is in the outermost."""
    places = len(ranked.scores) - np.searchsorted(ranked.scores[::-1], edges[1:-1], side="left")
    found = ranked.found[places]
    both = zip((found, places - found), ranked.sizes, strict=True)
    return np.stack([-np.diff(above, prepend=size, append=0) for above, size in both])


def histogram(edges: Floats, counts: Ints) -> Histogram:
    """Draw how many members and non-members of all targets are in each bin: densities, each of the two with area 1."""
    inside, outside = (one / np.diff(edges) / one.sum() for one in counts)
    return Histogram(edges=tuple(edges.tolist()), members=tuple(inside.tolist()), non_members=tuple(outside.tolist()))
