"""What the report draws of an attack: a mean ROC curve with a band, and histograms of the scores."""

import numpy as np

from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.intervals import clopper_pearson, percentile
from reticent.auditing.roc import Roc
from reticent.findings.attack import Histogram, RocCurve

POINTS = 100
BINS = 60
CLIPPED = 0.005
"""Share of the scores at each end that is drawn in the outermost bins."""
LARGEST = 1e150
"""Scores beyond it are drawn at it, so that no width overflows."""


def mean_roc(curves: list[Roc], confidence: float) -> RocCurve:
    """Average the targets' TPR on a logarithmic grid of FPR from one over the most non-members to 1.

    Args:
        curves: one a target. At each FPR a target gives its largest TPR at or below it, not interpolated.
        confidence: of the band.

    Returns:
        The curve; its band is "targets" (the middle share of the targets: how models differ, not the error of the
        mean), or "exact" for one target (pointwise Clopper-Pearson).
    """
    grid = np.geomspace(1 / max(curve.non_members for curve in curves), 1, POINTS)
    found = np.stack([_found(curve, grid) for curve in curves])
    rates = found / np.array([[curve.members] for curve in curves])
    if len(curves) == 1:
        low, high = clopper_pearson(found[0], curves[0].members, confidence)
    else:
        low, high = percentile(rates, confidence)
    return RocCurve(
        fpr=tuple(grid.tolist()),
        tpr=tuple(rates.mean(axis=0).tolist()),
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        band="exact" if len(curves) == 1 else "targets",
    )


def _found(curve: Roc, grid: Floats) -> Ints:
    limits = np.floor(grid * curve.non_members + 1e-9)
    return curve.true_positives[np.searchsorted(curve.false_positives, limits, side="right") - 1]


def histogram(scores: Floats, members: Bools) -> Histogram:
    """Count the scores of members and non-members, pooled over targets.

    Args:
        scores: ``(T, N)``.
        members: booleans ``(T, N)``.

    Returns:
        `BINS` bins of densities, each of the two with area 1.
    """
    values = np.clip(np.asarray(scores, dtype=np.float64), -LARGEST, LARGEST)
    low, high = np.quantile(values, [CLIPPED, 1 - CLIPPED])
    # Where nearly all scores are equal, the rest still need a width.
    if high - low <= 1e-9 * max(1.0, abs(low), abs(high)):
        low, high = values.min(), values.max()
    if high - low <= 1e-9 * max(1.0, abs(low), abs(high)):
        room = 0.5 * max(1.0, abs(low))
        low, high = low - room, high + room
    edges = np.linspace(low, high, BINS + 1)
    shown = np.clip(values, low, high)
    inside, outside = (np.histogram(shown[group], bins=edges, density=True)[0] for group in (members, ~members))
    return Histogram(edges=tuple(edges.tolist()), members=tuple(inside.tolist()), non_members=tuple(outside.tolist()))
