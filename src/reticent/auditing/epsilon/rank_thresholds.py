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

import numpy as np

from reticent.arrays import Floats, Ints
from reticent.auditing.epsilon.base import Groups
from reticent.auditing.intervals import lower, upper

RATIO = 2.0
"""Default step from one rank to the next."""


def ranks(count: int, ratio: float = RATIO) -> Ints:
    """Choose ranks from 1 to half of a group's size, each about `ratio` times the one before; at least one."""
    last = max(1, count // 2)
    steps = np.arange(int(np.log(last) / np.log(ratio)) + 1)
    return np.unique(np.ceil(ratio**steps - 1e-9).astype(np.int64).clip(1, last))


def rank_thresholds(groups: Groups, ratio: float, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Bound TPR and FPR at L thresholds that the data choose.

    Assumes that, given the model, the members' scores are independent draws from one distribution, and the non-members'
    from another. `ratio` is from one rank to the next, and all limits hold together with probability ``1 - alpha`` at
    least. Scores at or above a threshold are called members. Cost: O(log N) limits, one pass to count distinct scores.
    """
    m, n = len(groups.members), len(groups.non_members)
    high, low = ranks(n, ratio), ranks(m, ratio)
    count = len(high) + len(low)
    level = alpha / (2 * count)
    values = few_values(groups, count + 1)
    if values is not None:
        found, false = groups.at_least(values[1:])
        return values[1:], lower(found, m, level), upper(false, n, level)
    above, below = np.nextafter(groups.non_members[n - high], np.inf), groups.members[low - 1]
    found, _ = groups.at_least(above)
    _, false = groups.at_least(below)
    return (
        np.concatenate([above, below]),
        np.concatenate([lower(found, m, level), 1 - upper(low - 1, m, level)]),
        np.concatenate([upper(high - 1, n, level), 1 - lower(n - false, n, level)]),
    )


def few_values(groups: Groups, limit: int) -> Floats | None:
    """Return the distinct scores of both groups, ascending; None if they are more than a limit."""
    for own in (groups.members, groups.non_members):
        some = own[:: max(1, len(own) // (4 * limit))]  # Where these differ, all need not be looked at.
        if any(np.count_nonzero(np.diff(one)) >= limit for one in (some, own)):
            return None
    values = np.union1d(groups.members, groups.non_members)
    return values if len(values) <= limit else None
