"""Whether records that models find easier, or harder, are members more often.

Where each model's members are drawn at random, what one model says of the records that it was not trained on has
nothing to do with which of them another model was trained on. Where it does, membership depends on what a record is:
attacks that ask one model alone take easy records for members, and those that compare models do so where these are few.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr, stdtrit
from scipy.stats import rankdata

from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.training_sets import training_sets

SOME = 16
"""Models whose answers are looked at."""
FAR = 3.0
"""Standard errors from one half beyond which an AUC is not chance."""
BLOCK = 2**14
"""Records whose membership is turned into numbers at once."""


def difficulty(margins: Callable[[int], Floats], membership: Bools, targets: Ints) -> float | None:
    """Compute how well what a model says of its non-members tells the members of audited ones: an AUC.

    `margins` gives one model's, ``(N,)``, by its row. A mean over pairs of models, of which those of nearly the same
    members count as one; None where chance explains it. Cost: at most 16 sorts of N margins, and as many passes over
    the targets' membership.
    """
    sets = training_sets(membership)
    first = np.unique(sets, return_index=True)[1]
    rows, judged = first[:SOME], np.unique(sets[targets])
    areas, variances = np.full((2, len(rows), len(judged)), np.nan)
    for at, row in enumerate(rows):
        outside = np.flatnonzero(~membership[row])
        above, m = _ranks_of_members(rankdata(margins(int(row))[outside]), membership, first[judged], outside)
        n = len(outside) - m
        told = (m > 0) & (n > 0) & (judged != at)
        pairs = (m * n)[told]
        areas[at, told] = (above[told] - (m * (m + 1) / 2)[told]) / pairs
        variances[at, told] = (len(outside) + 1) / (12 * pairs)  # Mann and Whitney's
    told = ~np.isnan(areas).all(axis=0)
    count = int(told.sum())
    if not count:
        return None
    # The pairs of one target share its members, so that their mean varies by as much as one of them at most; but no
    # less than the targets are seen to, where records belong together.
    each = np.nanmean(areas[:, told], axis=0)
    far = FAR * float(np.nanmean(variances[:, told])) ** 0.5
    if count > 1:
        far = max(far, float(each.std(ddof=1) * stdtrit(count - 1, ndtr(FAR))))
    return float(each.mean()) if abs(each.mean() - 0.5) > far / count**0.5 else None


def _ranks_of_members(ranks: Floats, membership: Bools, rows: Ints, records: Ints) -> tuple[Floats, Floats]:
    """Sum the ranks of some models' members among some records, and count these."""
    total, count = np.zeros((2, len(rows)))
    for start in range(0, len(records), BLOCK):
        part = slice(start, start + BLOCK)
        inside = membership[np.ix_(rows, records[part])].astype(np.float64)
        total += inside @ ranks[part]
        count += inside.sum(axis=1)
    return total, count
