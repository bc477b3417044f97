"""What every bound works on: one target's scores in order, and what it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent.auditing.epsilon.limits import MEMBERS, NON_MEMBERS, log_ratios
from reticent.auditing.roc import two_groups

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """One target's scores, each group in ascending order.

    Attributes:
        members: ``(m,)``.
        non_members: ``(n,)``.
    """

    members: Floats
    non_members: Floats

    def at_least(self, thresholds: ArrayLike) -> tuple[Counts, Counts]:
        """Count the members and the non-members whose score is at or above each threshold."""
        inside = len(self.members) - np.searchsorted(self.members, thresholds, side="left")
        outside = len(self.non_members) - np.searchsorted(self.non_members, thresholds, side="left")
        return np.asarray(inside), np.asarray(outside)

    def split(self, share: float, rng: np.random.Generator) -> tuple["Groups", "Groups"]:
        """Divide the records at random, blind to who is a member."""
        m, total = len(self.members), len(self.members) + len(self.non_members)
        drawn = rng.random(total) < share
        first = Groups(self.members[drawn[:m]], self.non_members[drawn[m:]])
        return first, Groups(self.members[~drawn[:m]], self.non_members[~drawn[m:]])

    @property
    def empty(self) -> bool:
        """Whether it has no members or no non-members."""
        return not (len(self.members) and len(self.non_members))


@dataclass(frozen=True)
class Bound:
    """A lower confidence limit of epsilon for one target.

    Attributes:
        epsilon: the limit, at least 0 and finite; 0 says nothing.
        evidence: what it rests on, by name, such as the threshold and the counts.
    """

    epsilon: float
    evidence: Mapping[str, float | int | str] = field(default_factory=dict)


def groups(scores: ArrayLike, members: ArrayLike) -> list[Groups]:
    """Sort the scores of T targets.

    Args:
        scores: ``(T, N)``; higher means member.
        members: booleans ``(T, N)``.

    Returns:
        One a target. Cost: T sorts.

    Raises:
        ShapeError: the shapes differ, or `members` is not boolean.
        InputError: a score is NaN or infinite, or a row has no members or no non-members.
    """
    values, rows = two_groups(scores, members, ndim=2)
    return [Groups(np.sort(row[own]), np.sort(row[~own])) for row, own in zip(values, rows, strict=True)]


def best(thresholds: Floats, tpr_low: Floats, fpr_high: Floats, delta: float) -> Bound:
    """Take the largest bound of several pairs of limits that hold together.

    Args:
        thresholds: ``(L,)``; scores at or above are called members.
        tpr_low: ``(L,)``, lower limits of the TPR.
        fpr_high: ``(L,)``, upper limits of the FPR.
        delta: of the bound.

    Returns:
        The bound; 0 where no pair says more, or there is none.
    """
    if not len(thresholds):
        return Bound(0.0)
    found = log_ratios(tpr_low, fpr_high, delta)
    direction, look = np.unravel_index(int(np.argmax(found)), found.shape)
    evidence: dict[str, float | int | str] = {
        "threshold": float(thresholds[look]),
        "direction": (MEMBERS, NON_MEMBERS)[int(direction)],
        "tpr_low": float(tpr_low[look]),
        "fpr_high": float(fpr_high[look]),
    }
    return Bound(max(0.0, float(found[direction, look])), evidence)
