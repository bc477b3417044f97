"""RMIA's count: how many comparison records z does each record x dominate, ``ratio(x) / ratio(z) > gamma``?"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reticent.signals import matrix
from reticent.signals.matrix import Floats

Counts = NDArray[np.int64]


class Logs(NamedTuple):
    """Ratios as logarithms of their size ``(..., Q)``, and which are negative; None where none can be."""

    size: Floats
    negative: NDArray[np.bool_] | None

    def among(self, chosen: NDArray[np.bool_]) -> "Logs":
        """Keep some of one target's records."""
        return Logs(self.size[chosen], None if self.negative is None else self.negative[chosen])


def beaten(x: Logs, z: Logs, log_gamma: float) -> Counts:
    """Count the z that each x of one target dominates, ``(N,)``; a negative ratio dominates negative ones only."""
    if x.negative is None or z.negative is None:
        return dominated(x.size, z.size, log_gamma)
    counts = np.zeros(len(x.size), dtype=np.int64)
    for sign in (False, True):
        mine, theirs = x.negative[:, 0] == sign, z.negative[:, 0] == sign
        counts[mine] = dominated(x.size[mine], z.size[theirs], log_gamma)
    return counts


def dominated(log_x: Floats, log_z: Floats, log_gamma: float) -> Counts:
    """Count the z ``(Z, Q)`` that each x ``(N, Q)`` dominates, by a majority of the queries; equal votes do not count.

    For one query by sorts and a binary search, as exact as the dense comparison: ``log z < log x - log gamma``,
    strictly. For several queries the vote does not separate, and pairs are compared by chunks of records.
    """
    limits, queries = log_x - log_gamma, log_x.shape[1]
    counts = np.empty(len(log_x), dtype=np.int64)
    if queries == 1:
        order = _roughly(limits[:, 0])  # neighbours are looked up one after the other, which spares the cache
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


def _roughly(values: Floats) -> Counts:
    """Order values as float16 sees them ``(N,)``: 16 bits are sorted by radix, in a quarter of the time.

    Those of negative ones are turned over, since they grow with their size.
    """
    with np.errstate(over="ignore", under="ignore"):
        bits = values.astype(np.float16).view(np.int16)
    return np.argsort(np.where(bits < 0, bits ^ 0x7FFF, bits), kind="stable")


def auc(counts: Counts, members: NDArray[np.bool_], most: int) -> float:
    """Compute the area under the ROC curve of whole-number scores from 0 to `most`, ties half."""
    positive = np.bincount(counts[members], minlength=most + 1)
    negative = np.bincount(counts[~members], minlength=most + 1)
    below = np.cumsum(negative) - negative
    pairs = int(positive.sum()) * int(negative.sum())
    return float(positive @ (2 * below + negative)) / (2 * pairs)
