"""Epsilon from below at the best of many thresholds, corrected exactly for having looked at them all.

Assumes independent records given the model; see `looks` for why the correction is exact.
"""

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt

from reticent.auditing.epsilon.base import Bound, Groups, best
from reticent.auditing.epsilon.rank_thresholds import RATIO, rank_thresholds
from reticent.spec import Spec


class AllThresholds(Spec):
    """The best threshold, corrected for the choice."""

    method: ClassVar[str] = "all-thresholds"

    ratio: Annotated[float, Gt(1)] = RATIO
    """Ranks of the thresholds grow by this factor: a smaller one looks at more thresholds and corrects for more."""


def bound(spec: AllThresholds, groups: Groups, delta: float, alpha: float, rng: np.random.Generator) -> Bound:
    """Bound epsilon at the best of about ``2 log2(N / 2)`` thresholds.

    Args:
        spec: the options.
        groups: one target's scores.
        delta: of the bound.
        alpha: probability that the bound is above the true epsilon, at most.
        rng: not used.

    Returns:
        The bound, and the threshold that gave it.
    """
    found = rank_thresholds(groups, spec.ratio, alpha)
    return best(found.thresholds, found.tpr_low, found.fpr_high, delta)
