"""Whether records that models find easier, or harder, are members more often.

Where each model's members are drawn at random, what one model says of the records that it was not trained on has
nothing to do with which of them another model was trained on. Where it does, membership depends on what a record is:
attacks that ask one model alone take easy records for members, and those that compare models do so where these are few.
"""

from collections.abc import Callable

import numpy as np
from scipy.stats import rankdata

from reticent.arrays import Bools, Floats

SOME = 16
"""Models whose answers are looked at."""
FAR = 3.0
"""Standard errors from one half beyond which an AUC is not chance."""


def difficulty(margins: Callable[[int], Floats], membership: Bools) -> float | None:
    """Compute how well what a model says of its non-members tells the members of other models: an AUC.

    Args:
        margins: log-odds of the true label by one model, given its row ``(N,)``.
        membership: booleans ``(M, N)``.

    Returns:
        The mean over pairs of models, or None where chance explains it.

    Cost: at most 16 sorts of N margins, and as many passes over the membership.
    """
    models = len(membership)
    areas = np.full((min(models, SOME), models), np.nan)
    for asked, row in enumerate(areas):
        outside = np.flatnonzero(~membership[asked])
        ranks = rankdata(margins(asked)[outside])
        for model in np.delete(np.arange(models), asked):
            inside = membership[model, outside]
            row[model] = _area(ranks[inside], len(inside))
    told = ~np.isnan(areas).all(axis=0)
    if not told.any():
        return None
    each = np.nanmean(areas[:, told], axis=0)
    # Mann and Whitney's variance of one model's AUC over all records; more where records are seen to belong together.
    m = membership[told].sum(axis=1)
    n = membership.shape[1] - m
    variance = max(((m + n + 1) / (12 * m * n)).mean(), each.var(ddof=1) if len(each) > 1 else 0.0)
    far = FAR * (variance / len(each)) ** 0.5
    return float(each.mean()) if abs(each.mean() - 0.5) > far else None


def _area(inside: Floats, count: int) -> float:
    """Compute an AUC from the ranks of the members among so many records; NaN where there are none of one kind."""
    m = len(inside)
    n = count - m
    return (inside.sum() - m * (m + 1) / 2) / (m * n) if m and n else np.nan
