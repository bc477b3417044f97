"""The numbers of a ROC curve for many weightings of the records at once: sort once, then only sums.

A replicate of the bootstrap gives each record a weight. With scores in order, every AUC and rate is a ratio of running
sums of weights, so a replicate costs ``O(N)`` and no sort, and a block of replicates is a few passes over an array
``(N, B)``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.auditing.roc import exact

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Weights = NDArray[np.float32]
"""Whole numbers ``(N, B)``: how often each of B replicates takes each of N records. Sums are exact below 2**24."""

FIXED = ("auc", "oracle", "transferred")
"""What `statistics` returns before the rates."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """One target's records in order of score, highest first.

    Attributes:
        members: ``int32 (m,)``, ids of the members in order.
        non_members: ``int32 (n,)``, ids of the non-members in order.
        members_above: ``int32 (n + 1,)``, members scoring above each non-member; m at the end.
        members_level: ``int32 (n,)``, members scoring at or above each non-member.
        non_members_above: ``int32 (n + 1,)``, non-members scoring above each non-member; n at the end.
        cut: members and non-members at or above the transferred threshold, or None without one.
    """

    members: NDArray[np.int32]
    non_members: NDArray[np.int32]
    members_above: NDArray[np.int32]
    members_level: NDArray[np.int32]
    non_members_above: NDArray[np.int32]
    cut: tuple[int, int] | None


def rank(scores: Floats, members: Bools, threshold: float | None = None) -> Ranking:
    """Sort one target's records.

    Args:
        scores: ``(N,)``, checked.
        members: ``(N,)``.
        threshold: one chosen elsewhere, if there is one.

    Returns:
        The order, and how members and non-members interleave.
    """
    order = np.argsort(-scores, kind="stable").astype(np.int32)
    inside, outside = order[members[order]], order[~members[order]]
    # Ascending in the negated score, so that "above" is the number of smaller ones.
    high, low = -scores[inside], -scores[outside]
    return Ranking(
        members=inside,
        non_members=outside,
        members_above=np.append(np.searchsorted(high, low, side="left"), len(high)).astype(np.int32),
        members_level=np.searchsorted(high, low, side="right").astype(np.int32),
        non_members_above=np.append(np.searchsorted(low, low, side="left"), len(low)).astype(np.int32),
        cut=None
        if threshold is None
        else (
            int(np.searchsorted(high, -threshold, side="right")),
            int(np.searchsorted(low, -threshold, side="right")),
        ),
    )


def statistics(ranking: Ranking, weights: Weights, fprs: tuple[float, ...]) -> Floats:
    """Evaluate AUC, balanced accuracies and rates of one target under B weightings.

    Args:
        ranking: the target's order.
        weights: ``float32 (N, B)``.
        fprs: false-positive rates.

    Returns:
        ``(3 + len(fprs), B)``: as `FIXED` (the transferred one is 0 without a threshold), then the TPR at each rate.
        NaN in a column that leaves no member or no non-member.
    """
    found = running(weights.take(ranking.members, axis=0))
    drawn = weights.take(ranking.non_members, axis=0)
    false = running(drawn)
    with np.errstate(invalid="ignore", divide="ignore"):
        per_member, per_non_member = 1 / found[-1].astype(np.float64), 1 / false[-1].astype(np.float64)
    per_member[np.isinf(per_member)] = np.nan
    per_non_member[np.isinf(per_non_member)] = np.nan
    above = found.take(ranking.members_above, axis=0)
    rows = [
        _auc(ranking, found, above, drawn) * per_member * per_non_member,
        _oracle(ranking, above, false, per_member, per_non_member),
        _at_cut(ranking.cut, found, false, per_member, per_non_member),
    ]
    rows += [_tpr(above, false, fpr) * per_member for fpr in fprs]
    return np.stack(rows)


def running(weights: Weights) -> Weights:
    """Sum down the first axis, from zero: ``(n, B)`` to ``(n + 1, B)``.

    In about sqrt(n) pieces that are summed side by side, which is a few times faster than `numpy.cumsum` along this
    axis.

    Args:
        weights: whole numbers ``(n, B)``.

    Returns:
        The sums before each row, and the total.
    """
    count, columns = weights.shape
    length = max(1, int(count**0.5))
    pieces = count // length
    total = np.empty((count + 1, columns), dtype=np.float32)
    total[0] = 0
    source = weights[: pieces * length].reshape(pieces, length, columns)
    sums = total[1 : 1 + pieces * length].reshape(pieces, length, columns)
    sums[:, 0] = source[:, 0]
    for i in range(1, length):
        np.add(sums[:, i - 1], source[:, i], out=sums[:, i])
    for piece in range(1, pieces):
        sums[piece] += sums[piece - 1, -1]
    for i in range(pieces * length, count):
        np.add(total[i], weights[i], out=total[i + 1])
    return total


def _auc(ranking: Ranking, found: Weights, above: Weights, drawn: Weights) -> Floats:
    """Sum, over non-members, their weight times the weight of the members above, and half of those level with them."""
    wins: Floats = np.einsum("nb,nb->b", above[:-1], drawn, dtype=np.float64)
    if np.array_equal(ranking.members_above[:-1], ranking.members_level):
        return wins
    level = found.take(ranking.members_level, axis=0)
    at_least: Floats = np.einsum("nb,nb->b", level, drawn, dtype=np.float64)
    return (wins + at_least) / 2


def _oracle(ranking: Ranking, above: Weights, false: Weights, per_member: Floats, per_non_member: Floats) -> Floats:
    """Take the best of the thresholds just above each non-member's score; no other vertex can be better."""
    distinct = np.array_equal(ranking.non_members_above, np.arange(len(false)))
    level = false if distinct else false.take(ranking.non_members_above, axis=0)
    gap = above * per_member.astype(np.float32) - level * per_non_member.astype(np.float32)
    return np.asarray((1 + gap.max(axis=0).astype(np.float64)) / 2)


def _at_cut(
    cut: tuple[int, int] | None, found: Weights, false: Weights, per_member: Floats, per_non_member: Floats
) -> Floats:
    if cut is None:
        return np.zeros(found.shape[1])
    return np.asarray((1 + found[cut[0]] * per_member - false[cut[1]] * per_non_member) / 2)


def _tpr(above: Weights, false: Weights, fpr: float) -> Floats:
    """Find the first non-member that is one too many; the members above it are found."""
    fraction = exact(fpr)
    total = false[-1].astype(np.int64)
    limit = total * fraction.numerator // fraction.denominator
    # Running sums exceed the limit soon after the same share of the records; look further only if they do not.
    share = int(fpr * len(false))
    reach = min(len(false), int(share + 8 * share**0.5 + 64))
    if np.any(false[reach - 1] <= limit):
        reach = len(false)
    first = (false[1:reach] <= limit.astype(np.float32)).sum(axis=0)
    hits: Floats = above[first, np.arange(len(first))].astype(np.float64)
    return hits
