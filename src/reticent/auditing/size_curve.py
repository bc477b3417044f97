"""How a leak falls with the number of training records: a power law through audits of some sizes, and beyond them.

An AUC A is brought to the distance of two normal laws that have it, ``d = sqrt(2) ndtri(A)``, which does not saturate
near 1 as A does. The law is ``d = c n^b`` for n training records, a line in logarithms. It is fitted by least squares
with the audits' own errors as weights; errors are widened where the points lie further from the line than these errors
explain. That the law holds beyond the sizes that were audited is an assumption, whose failure no interval covers.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from reticent.arrays import Floats
from reticent.findings.plan import LeakCurve, Predicted, SizePoint

CHANCE = 0.5
NEAREST = 1e-7
"""AUCs nearer to 1 tell no distance, and limits are taken as no nearer: it is infinite there."""


def leak_curve(attack: str, points: Sequence[SizePoint], members: int, confidence: float = 0.95) -> LeakCurve:
    """Fit the law, and judge it by the largest size.

    Of three audits and more, the smallest first. The largest size is predicted from the others, and `members` from all;
    both are None where some AUC does not resolve a leak, or is 1, since then there is no law to fit.
    """
    resolved = all(point.auc.interval[0] > CHANCE and point.auc.mean < 1 - NEAREST for point in points)
    return LeakCurve(
        attack=attack,
        confidence=confidence,
        points=tuple(points),
        held_out=predicted(points[:-1], points[-1].members, confidence) if resolved else None,
        beyond=predicted(points, members, confidence) if resolved else None,
    )


def predicted(points: Sequence[SizePoint], members: int, confidence: float) -> Predicted:
    """Predict the AUC of models of so many training records by the power law through two or more points."""
    z = float(ndtri(0.5 + confidence / 2))
    size = np.log([point.members for point in points])
    value = np.log(_distance([point.auc.mean for point in points]))
    low, high = (np.log(_distance([point.auc.interval[end] for point in points])) for end in (0, 1))
    error = np.maximum((high - low) / (2 * z), 1e-9)
    design = np.stack([np.ones_like(size), size], axis=1) / error[:, None]
    covariance = np.linalg.inv(design.T @ design)
    line = covariance @ design.T @ (value / error)
    freedom = len(points) - 2
    misfit = float((((value - line[0] - line[1] * size) / error) ** 2).sum())
    wider = max(1.0, misfit / freedom) if freedom else 1.0
    at = np.array([1.0, np.log(members)])
    middle, spread = float(at @ line), z * float(np.sqrt(wider * at @ covariance @ at))
    found = (float(ndtr(np.exp(end) / np.sqrt(2))) for end in (middle - spread, middle, middle + spread))
    least, mean, most = found
    return Predicted(members=members, auc=mean, interval=(least, most))


def _distance(areas: Sequence[float]) -> Floats:
    distance: Floats = np.sqrt(2) * ndtri(np.minimum(areas, 1 - NEAREST))
    return distance
