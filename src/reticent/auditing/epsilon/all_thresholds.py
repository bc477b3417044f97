"""Epsilon from below at the best of about ``2 log2(N / 2)`` thresholds, corrected exactly for having tried them all.

Assumes independent records given the model; see `rank_thresholds` for why the correction is exact.
"""

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt

from reticent.auditing.epsilon.base import Groups, best
from reticent.auditing.epsilon.rank_thresholds import RATIO, rank_thresholds
from reticent.spec import Spec


class AllThresholds(Spec):
    """The best threshold, corrected for the choice."""

    method: ClassVar[str] = "all-thresholds"

    ratio: Annotated[float, Gt(1)] = RATIO
    """Ranks of the thresholds grow by this factor: a smaller one looks at more thresholds and corrects for more."""


def bound(spec: AllThresholds, groups: Groups, delta: float, alpha: float, rng: np.random.Generator) -> float:
    """Bound epsilon at the best threshold; nothing is drawn."""
    _, tpr_low, fpr_high = rank_thresholds(groups, spec.ratio, alpha)
    return best(tpr_low, fpr_high, delta)
