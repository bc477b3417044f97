"""Epsilon from below at a threshold that is chosen on some of the records and judged on the others.

Assumes independent records given the model. The judged records see a threshold that was fixed without them, so nothing
is corrected; the price is the records that chose it.
"""

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt, Lt

from reticent.arrays import Floats
from reticent.auditing.epsilon.base import Groups, at_fixed_threshold, log_ratios
from reticent.auditing.epsilon.rank_thresholds import few_values, ranks
from reticent.auditing.intervals import lower, upper
from reticent.spec import Spec

STEP = 1.1
"""From one rank to the next among the thresholds that are tried; trying costs nothing here."""
FEW = 256
"""Distinct scores up to which each is tried."""


class Split(Spec):
    """The threshold is chosen on a random part of the records."""

    method: ClassVar[str] = "split"

    share: Annotated[float, Gt(0), Lt(1)] = 0.5
    """Share of the records that choose the threshold; the bound is measured on the rest."""


def bound(spec: Split, groups: Groups, delta: float, alpha: float, rng: np.random.Generator) -> float:
    """Choose the threshold with the best bound on one part, and bound epsilon at it on the other.

    0 if a part has no members or no non-members.
    """
    chooses, judged = groups.split(spec.share, rng)
    if not all(len(kind) for part in (chooses, judged) for kind in (part.members, part.non_members)):
        return 0.0
    return at_fixed_threshold(_choose(chooses, judged, delta, alpha), judged, delta, alpha)


def _choose(chooses: Groups, judged: Groups, delta: float, alpha: float) -> float:
    """Find the threshold whose rates would bound epsilon best with as many records as will judge it."""
    thresholds = _candidates(chooses)
    found, false = chooses.at_least(thresholds)
    m, n = len(judged.members), len(judged.non_members)
    tpr_low = lower(found * (m / len(chooses.members)), m, alpha / 2)
    fpr_high = upper(false * (n / len(chooses.non_members)), n, alpha / 2)
    return float(thresholds[np.argmax(log_ratios(tpr_low, fpr_high, delta).max(axis=0))])


def _candidates(groups: Groups) -> Floats:
    values = few_values(groups, FEW)
    if values is not None:
        return values
    n = len(groups.non_members)
    high, low = ranks(n, STEP), ranks(len(groups.members), STEP)
    return np.concatenate([
        groups.non_members[n - high],
        np.nextafter(groups.non_members[n - high], np.inf),
        groups.members[low - 1],
    ])
