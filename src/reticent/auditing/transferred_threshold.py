"""A threshold that an attacker can really choose: on other models' scores, never on the audited ones.

For one target, the threshold is the one with the best balanced accuracy, averaged over the other targets
(leave-one-out), or over reference models if their scores are given. The attacker knows those models' membership, since
they are its own.
"""

import numpy as np

from reticent import scratch, threads
from reticent.arrays import Bools, Floats
from reticent.auditing.sorted_scores import parted

GRID = 1001
"""Candidate thresholds: this many quantiles of the pooled scores, or all distinct scores if there are no more."""
POOLED = 2**24
"""Scores of which these are quantiles, at most."""


def thresholds(
    scores: Floats,
    members: Bools,
    reference: tuple[Floats, Bools] | None = None,
    rising: Floats | None = None,
) -> Floats | None:
    """Choose a threshold for each target on scores of other models.

    Scores of reference models ``(R, N')`` and their membership serve in place of the other targets. None if there is
    one target and no reference. `rising` are the targets' scores as `pooled` gives them, where these are at hand. Cost:
    T sorts and O(T GRID log N).
    """
    targets = len(scores)
    if reference is not None:
        grid = candidates(pooled(reference[0]))
        return np.full(targets, _best(grid, gaps(*reference, grid).mean(axis=0)))
    if targets == 1:
        return None
    grid = candidates(pooled(scores) if rising is None else rising)
    each = gaps(scores, members, grid)
    others = each.sum(axis=0) - each
    return np.array([_best(grid, row / (targets - 1)) for row in others])


def pooled(scores: Floats) -> Floats:
    """Put evenly many of every target's scores ``(T, N)`` in order, all where they are at most `POOLED`."""
    step = -(-scores.size // POOLED)
    found = np.empty((len(scores), len(range(0, scores.shape[1], step))), scores.dtype)
    for some, (row,) in zip(found, scratch.rows(scores), strict=True):
        some[:] = row[::step]
    rising = found.ravel()
    rising.sort()
    return rising


def candidates(rising: Floats) -> Floats:
    """Return the thresholds that are tried, of scores in order.

    Increasing and distinct, at most `GRID`.
    """
    new = np.append(np.True_, rising[1:] != rising[:-1])
    if np.count_nonzero(new) <= GRID:
        return np.asarray(rising[new], dtype=np.float64)
    places = np.floor((len(rising) - 1) * np.linspace(0, 1, GRID)).astype(np.int64)  # of the quantiles, as "lower" ones
    return np.asarray(np.unique(rising[places].astype(np.float64)))


def gaps(scores: Floats, members: Bools, grid: Floats) -> Floats:
    """Compute ``TPR - FPR`` of each model at each threshold.

    Of R models and G thresholds ``(R, G)``.
    """

    def gap(t: int) -> Floats:
        inside, outside = parted(np.asarray(scores[t]), members[t])
        scratch.release(scores)
        return _above(inside, grid) - _above(outside, grid)

    return np.stack(list(threads.ordered(gap, range(len(scores)), scores.size)))


def _above(scores: Floats, grid: Floats) -> Floats:
    """Return the share of scores at or above each threshold."""
    return 1 - np.searchsorted(np.sort(scores), grid, side="left") / len(scores)


def _best(grid: Floats, gap: Floats) -> float:
    """Take the middle one of the equally best thresholds."""
    best = np.flatnonzero(gap >= gap.max() - 1e-12)
    return float(grid[best[len(best) // 2]])
