"""Epsilon from below at a threshold that was fixed before the scores were seen.

Assumes independent records given the model. A threshold that was tuned on these scores voids the bound: use `split` or
`all-thresholds` then.
"""

from typing import ClassVar

import numpy as np

from reticent.auditing.epsilon.base import Bound, Groups, best
from reticent.auditing.intervals import lower, upper
from reticent.spec import Spec


class Given(Spec):
    """One threshold, chosen without these scores."""

    method: ClassVar[str] = "given"

    threshold: float
    """Scores at or above it are called members."""


def bound(spec: Given, groups: Groups, delta: float, alpha: float, rng: np.random.Generator) -> Bound:
    """Bound epsilon at one threshold: two Clopper-Pearson limits, each at ``alpha / 2``.

    Args:
        spec: the options.
        groups: one target's scores.
        delta: of the bound.
        alpha: probability that the bound is above the true epsilon, at most.
        rng: not used.

    Returns:
        The bound; both directions rest on the same two limits, so the better one is free.
    """
    return at(np.array([spec.threshold]), groups, delta, alpha)


def at(threshold: np.ndarray, groups: Groups, delta: float, alpha: float) -> Bound:
    """Bound epsilon at one fixed threshold.

    Args:
        threshold: ``(1,)``.
        groups: one target's scores, both groups not empty.
        delta: of the bound.
        alpha: probability that the bound is above the true epsilon, at most.

    Returns:
        The bound.
    """
    found, false = groups.at_least(threshold)
    tpr_low, fpr_high = lower(found, len(groups.members), alpha / 2), upper(false, len(groups.non_members), alpha / 2)
    return best(threshold, tpr_low, fpr_high, delta)
