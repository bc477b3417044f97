"""Few thresholds that the data choose, and limits of the rates that hold at all of them together, exactly.

A threshold taken from the scores is not a fixed one: counting false positives above it and pretending that they are
binomial is wrong. But the k-th highest of n non-members leaves a share of the non-members' distribution above it that
is Beta(k, n - k + 1) whatever this distribution is, and given the non-members, it is a fixed threshold for the members,
of whom a binomial number lies above. So at thresholds whose *ranks* are chosen in advance both limits are exact, and
Bonferroni's correction for the number of ranks is all that is needed. Ranks grow geometrically (1, 2, 4, ...), from
the highest non-members down and from the lowest members up, since the two directions need few false positives and few
missed members. Steps are not lossy here: no limit is carried from one rank to the next.

Ties: a region is always "strictly beyond the score of that rank", so no tie is ever cut in two. With ties that share is
at most the Beta variable, and the limit stays valid. Where scores take only a few values (votes, right or wrong), ranks
would hit a value by luck only; there every value is a threshold, and the same correction covers them: exact if the
scores *can* take no more values than that.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.auditing.epsilon.base import Groups
from reticent.auditing.intervals import lower, upper

Floats = NDArray[np.float64]
RATIO = 2.0
"""Default step from one rank to the next."""


@dataclass(frozen=True, eq=False)
class Looks:
    """Limits at L thresholds.

    Attributes:
        thresholds: ``(L,)``; scores at or above are called members.
        tpr_low: ``(L,)``, lower limits of the TPR.
        fpr_high: ``(L,)``, upper limits of the FPR.
        corrected: how many looks the correction allows for, at least L.
    """

    thresholds: Floats
    tpr_low: Floats
    fpr_high: Floats
    corrected: int


def ranks(count: int, ratio: float = RATIO) -> NDArray[np.int64]:
    """Choose ranks 1 to ``count / 2``, each about `ratio` times the one before.

    Args:
        count: size of the group, at least 1.
        ratio: above 1.

    Returns:
        Increasing whole numbers; at least one.
    """
    last = max(1, count // 2)
    steps = np.arange(int(np.log(last) / np.log(ratio)) + 1)
    return np.unique(np.ceil(ratio**steps - 1e-9).astype(np.int64).clip(1, last))


def rank_thresholds(groups: Groups, ratio: float, alpha: float) -> Looks:
    """Bound TPR and FPR at thresholds that the data choose.

    Assumes that, given the model, the members' scores are independent draws from one distribution, and the
    non-members' from another.

    Args:
        groups: the scores, both groups not empty.
        ratio: from one rank to the next.
        alpha: all limits hold together with probability ``1 - alpha`` at least.

    Returns:
        The limits. Cost: O(log N) limits, one pass to count distinct scores.
    """
    high, low = ranks(len(groups.non_members), ratio), ranks(len(groups.members), ratio)
    count = len(high) + len(low)
    level = alpha / (2 * count)
    values = few_values(groups, count + 1)
    if values is not None:
        return _at_values(groups, values[1:], level, count)
    m, n = len(groups.members), len(groups.non_members)
    above = np.nextafter(groups.non_members[n - high], np.inf)
    found, _ = groups.at_least(above)
    below = groups.members[low - 1]
    _, false = groups.at_least(below)
    return Looks(
        thresholds=np.concatenate([above, below]),
        tpr_low=np.concatenate([lower(found, m, level), 1 - upper(low - 1, m, level)]),
        fpr_high=np.concatenate([upper(high - 1, n, level), 1 - lower(n - false, n, level)]),
        corrected=count,
    )


def few_values(groups: Groups, limit: int) -> Floats | None:
    """Find the distinct scores, if they are few.

    Args:
        groups: the scores.
        limit: the most that are few.

    Returns:
        Ascending distinct scores of both groups, or None if they are more.
    """
    if any(np.count_nonzero(np.diff(own)) >= limit for own in (groups.members, groups.non_members)):
        return None
    values = np.union1d(groups.members, groups.non_members)
    return values if len(values) <= limit else None


def _at_values(groups: Groups, thresholds: Floats, level: float, count: int) -> Looks:
    found, false = groups.at_least(thresholds)
    return Looks(
        thresholds=thresholds,
        tpr_low=lower(found, len(groups.members), level),
        fpr_high=upper(false, len(groups.non_members), level),
        corrected=count,
    )
