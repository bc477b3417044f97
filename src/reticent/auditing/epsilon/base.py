"""What every bound works on: one target's scores in order, and the epsilon that follows from limits of its rates.

A training that is (epsilon, delta)-DP keeps every attack to ``TPR <= e^epsilon FPR + delta`` and, with the roles
exchanged, to ``TNR <= e^epsilon FNR + delta`` (Wasserman and Zhou 2010; Kairouz, Oh and Viswanath 2015). So a lower
limit of the TPR and an upper limit of the FPR that hold together bound epsilon from below, both ways at once, since
``TNR = 1 - FPR`` and ``FNR = 1 - TPR``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reticent import scratch
from reticent.arrays import Floats, Ints
from reticent.auditing.intervals import lower, upper
from reticent.auditing.roc import two_groups
from reticent.auditing.sorted_scores import parted
from reticent.errors import InputError


@dataclass(frozen=True, eq=False)
class Groups:
    """One target's scores, each group in ascending order."""

    members: Floats
    non_members: Floats

    def __len__(self) -> int:
        return len(self.members) + len(self.non_members)

    def at_least(self, thresholds: ArrayLike) -> tuple[Ints, Ints]:
        """Count the members and the non-members whose score is at or above each threshold."""
        inside = len(self.members) - np.searchsorted(self.members, thresholds, side="left")
        outside = len(self.non_members) - np.searchsorted(self.non_members, thresholds, side="left")
        return np.asarray(inside), np.asarray(outside)

    def split(self, share: float, rng: np.random.Generator) -> tuple["Groups", "Groups"]:
        """Divide the records at random, blind to who is a member."""
        m = len(self.members)
        drawn = rng.random(len(self)) < share
        (one, two), (three, four) = parted(self.members, drawn[:m]), parted(self.non_members, drawn[m:])
        return Groups(one, three), Groups(two, four)


def groups(scores: ArrayLike, members: ArrayLike) -> Iterator[Groups]:
    """Check the scores of T targets, ``(T, N)``, as `two_groups` does, and sort those of one after the other."""
    values, rows = two_groups(scores, members, ndim=2)
    return (Groups(*map(np.sort, parted(row, own))) for row, own in scratch.rows(values, rows))


def checked_delta(delta: float) -> float:
    """Refuse a delta outside [0, 1)."""
    if not 0 <= delta < 1:
        raise InputError(f"delta: expected a number from 0 up to, but not including, 1, such as 1e-5, got {delta}")
    return float(delta)


def log_ratios(tpr_low: Floats, fpr_high: Floats, delta: float) -> Floats:
    """Compute what limits say of epsilon, in both directions; negative, even infinitely, where it is nothing.

    From lower limits of the TPR ``(L,)`` and upper ones of the FPR, above 0: ``(2, L)``, ``ln((TPR - delta) / FPR)``
    and ``ln((TNR - delta) / FNR)``.
    """
    return np.stack([
        _log(tpr_low - delta) - np.log(fpr_high),
        _log(1 - fpr_high - delta) - np.log(1 - tpr_low),
    ])


def _log(values: Floats) -> Floats:
    return np.log(values, out=np.full(values.shape, -np.inf), where=values > 0)


def best(tpr_low: Floats, fpr_high: Floats, delta: float) -> float:
    """Take the largest bound of several pairs of limits that hold together; 0 where none says more."""
    return max(0.0, float(log_ratios(tpr_low, fpr_high, delta).max(initial=0.0)))


def at_fixed_threshold(threshold: float, groups: Groups, delta: float, alpha: float) -> float:
    """Bound epsilon at a threshold that was chosen without these scores: two limits, each at ``alpha / 2``."""
    found, false = groups.at_least([threshold])
    tpr_low, fpr_high = lower(found, len(groups.members), alpha / 2), upper(false, len(groups.non_members), alpha / 2)
    return best(tpr_low, fpr_high, delta)
