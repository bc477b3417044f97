"""RMIA's count: how many comparison records z does each record x dominate, ``ratio(x) / ratio(z) > gamma``?"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reticent.signals import matrix
from reticent.signals.matrix import Floats

if TYPE_CHECKING:
    from reticent.attacks._rmia_ratio import Logs

Counts = NDArray[np.int64]


def beaten(x: "Logs", z: "Logs", log_gamma: float) -> Counts:
    """Count the z that each x dominates; where ratios may be negative, only z of x's own sign can be.

    Args:
        x: logarithms of N ratios of one target.
        z: those of Z ratios.
        log_gamma: zero or more.

    Returns:
        ``(N,)`` from 0 to Z.

    Cost: that of `dominated`.
    """
    if x.negative is None or z.negative is None:
        return dominated(x.size, z.size, log_gamma)
    counts = np.zeros(len(x.size), dtype=np.int64)
    for sign in (False, True):
        mine, theirs = x.negative[:, 0] == sign, z.negative[:, 0] == sign
        counts[mine] = dominated(x.size[mine], z.size[theirs], log_gamma)
    return counts


def dominated(log_x: Floats, log_z: Floats, log_gamma: float) -> Counts:
    """Count the z that each x dominates, by a majority of the queries.

    For one query by a sort and a binary search, as exact as the dense comparison: ``log z < log x - log gamma``,
    strictly. For several queries the vote does not separate, and pairs are compared by chunks of records.

    Args:
        log_x: log-ratios ``(N, Q)``.
        log_z: log-ratios ``(Z, Q)``.
        log_gamma: zero or more.

    Returns:
        ``(N,)`` from 0 to Z; equal votes count for nothing.

    Cost: O((N + Z) log(N + Z)) for one query, O(N Z Q) for several; memory O(N + Z) or one block.
    """
    limits, queries = log_x - log_gamma, log_x.shape[1]
    counts = np.empty(len(log_x), dtype=np.int64)
    if queries == 1:
        order = np.argsort(limits[:, 0])  # neighbours are looked up one after the other, which spares the cache
        counts[order] = np.searchsorted(np.sort(log_z[:, 0]), limits[order, 0], side="left")
        return counts
    columns = np.ascontiguousarray(log_z.T)
    step = max(1, matrix.BLOCK_BYTES // (16 * len(log_z)))
    for start in range(0, len(log_x), step):
        part = limits[start : start + step]
        votes: NDArray[Any] = np.zeros((len(part), len(log_z)), dtype=np.int16)
        for query in range(queries):
            votes += columns[query] < part[:, query, None]
        counts[start : start + step] = np.count_nonzero(2 * votes > queries, axis=1)
    return counts


def auc(counts: Counts, members: NDArray[np.bool_], most: int) -> float:
    """Compute the area under the ROC curve of whole-number scores, ties half.

    Args:
        counts: scores ``(N,)`` from 0 to `most`.
        members: ``(N,)``, with both kinds.
        most: the largest score possible.

    Returns:
        A number from 0 to 1.
    """
    positive = np.bincount(counts[members], minlength=most + 1)
    negative = np.bincount(counts[~members], minlength=most + 1)
    below = np.cumsum(negative) - negative
    pairs = int(positive.sum()) * int(negative.sum())
    return float(positive @ (2 * below + negative)) / (2 * pairs)
