"""Epsilon from below at a threshold that was fixed before the scores were seen.

Assumes independent records given the model. A threshold that was tuned on these scores voids the bound: use `split` or
`all-thresholds` then.
"""

from typing import ClassVar

import numpy as np

from reticent.auditing.epsilon.base import Groups, at_fixed_threshold
from reticent.spec import Spec


class Given(Spec):
    """One threshold, chosen without these scores."""

    method: ClassVar[str] = "given"

    threshold: float
    """Scores at or above it are called members."""


def bound(spec: Given, groups: Groups, delta: float, alpha: float, rng: np.random.Generator) -> float:
    """Bound epsilon at the threshold; both directions rest on the same two limits, so the better one is free."""
    return at_fixed_threshold(spec.threshold, groups, delta, alpha)
