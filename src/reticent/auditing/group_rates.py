"""AUC and TPR inside each group of records, and the influence of every record on them; all groups in one pass.

Groups are a partition of the records, so one sort a target by group and score serves all of them. A record's influence
on its group's AUC is DeLong's structural component less the AUC, over the number of members or non-members (DeLong,
DeLong and Clarke-Pearson 1988); that of a member on its group's TPR is found or not, less the TPR. The threshold of the
TPR is the one that gives a false-positive rate over *all* records, so every non-member moves it, by the slope of the
group's ROC curve there.
"""

import numpy as np

from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.crossed_variance import Moments
from reticent.auditing.roc import roc


def sizes(members: Bools, codes: Ints, groups: int) -> tuple[Ints, Ints]:
    """Count each target's members and non-members in each group.

    Args:
        members: booleans ``(T, N)``.
        codes: each record's group ``(N,)``, from 0 to G - 1.
        groups: G.

    Returns:
        Members and non-members, ``(T, G)`` each.
    """
    inside = np.stack([np.bincount(codes[row], minlength=groups) for row in members])
    return inside, np.bincount(codes, minlength=groups) - inside


def areas(scores: Floats, members: Bools, codes: Ints, groups: int) -> Moments:
    """Compute the AUC inside each group, ties counted half.

    Args:
        scores: ``(T, N)``, checked; higher means member.
        members: booleans ``(T, N)``.
        codes: each record's group ``(N,)``, from 0 to G - 1.
        groups: G.

    Returns:
        Its moments; they mean nothing where a target has fewer than two members or non-members. Cost: T sorts.
    """
    inside, outside = sizes(members, codes, groups)
    observed, each = np.zeros(inside.shape), np.zeros(inside.shape)
    total = np.zeros(scores.shape[1])
    for t, (row, own) in enumerate(zip(scores, members, strict=True)):
        order = np.lexsort((row, codes))
        ranked, hit = codes[order], own[order]
        part = _components(row[order], hit, ranked, inside[t], outside[t])
        observed[t] = np.bincount(ranked, np.where(hit, part, 0.0), groups) / np.maximum(inside[t], 1)
        influence = np.empty(len(row))
        influence[order] = (part - observed[t, ranked]) * np.where(
            hit, _per_record(inside[t])[ranked], _per_record(outside[t])[ranked]
        )
        each[t] = np.bincount(codes, influence**2, groups)
        total += influence
    mean = np.bincount(codes, (total / len(scores)) ** 2, groups).astype(np.float64)
    return Moments(observed, each, mean, np.bincount(codes, minlength=groups))


def _per_record(count: Ints) -> Floats:
    """Return the weight of one of k records, with the factor that makes a variance of their mean unbiased."""
    return np.asarray(1 / np.sqrt(np.maximum(count, 1) * np.maximum(count - 1, 1)))


def _components(scores: Floats, members: Bools, codes: Ints, inside: Ints, outside: Ints) -> Floats:
    """Return, of records sorted by group and score, the share of the other kind in the group that they are right of.

    For a member that is the share of its group's non-members below it, for a non-member that of the members above it.
    """
    new = np.append(np.True_, (codes[1:] != codes[:-1]) | (scores[1:] != scores[:-1]))
    first = np.flatnonzero(new)
    block = np.cumsum(new) - 1
    start, stop = first[block], np.append(first[1:], len(scores))[block]
    begin = np.searchsorted(codes, codes, side="left")
    hits = np.concatenate([[0], np.cumsum(members)])
    misses = np.arange(len(hits)) - hits
    below = [(sums[start] + sums[stop]) / 2 - sums[begin] for sums in (hits, misses)]
    m, n = np.maximum(inside, 1)[codes], np.maximum(outside, 1)[codes]
    return np.asarray(np.where(members, below[1] / n, 1 - below[0] / m))


def rates(
    scores: Floats, members: Bools, codes: Ints, groups: int, fpr: float, counted: Bools | None = None
) -> Moments:
    """Compute each group's TPR at the threshold that gives a false-positive rate over all records.

    Args:
        scores: ``(T, N)``, checked; higher means member.
        members: booleans ``(T, N)``.
        codes: each record's group ``(N,)``, from 0 to G - 1.
        groups: G.
        fpr: the rate, above 0.
        counted: booleans ``(T, N)``: whose share is computed, by default the members'; `~members` gives the groups' own
            false-positive rates.

    Returns:
        Its moments; they mean nothing where a target has fewer than two of those counted. Cost: T sorts.
    """
    kinds = members if counted is None else counted
    inside, _ = sizes(kinds, codes, groups)
    observed, own, shared = np.zeros(inside.shape), np.zeros(inside.shape), np.zeros(len(scores))
    slope, total, threshold = np.zeros(groups), np.zeros(scores.shape[1]), np.zeros(scores.shape[1])
    together = np.zeros(inside.shape)
    for t, (row, hit, kind) in enumerate(zip(scores, members, kinds, strict=True)):
        called, near, width = _called(row, hit, fpr)
        count = np.maximum(inside[t], 1)
        observed[t] = np.bincount(codes, called & kind, groups) / count
        slope += np.bincount(codes, (near & kind) / width, groups) / count / len(scores)
        influence = np.where(kind, called - observed[t, codes], 0.0) * _per_record(inside[t])[codes]
        own[t] = np.bincount(codes, influence**2, groups)
        total += influence
        moved = np.where(hit, 0.0, called - called[~hit].mean()) / np.count_nonzero(~hit)
        shared[t] = (moved**2).sum()
        together[t] = np.bincount(codes, influence * moved, groups)
        threshold += moved
    total, threshold = total / len(scores), threshold / len(scores)
    both = np.bincount(codes, total**2 - 2 * slope[codes] * total * threshold, groups)
    mean = np.maximum(0.0, both + slope**2 * (threshold**2).sum())
    each = own + shared[:, None] * slope**2 - 2 * slope * together
    return Moments(observed, np.maximum(0.0, each), mean, np.bincount(codes, minlength=groups))


def _called(scores: Floats, members: Bools, fpr: float) -> tuple[Bools, Bools, float]:
    """Say who is called a member, who would be within one standard error of the rate, and how wide that range is."""
    curve = roc(scores, members)
    error = (fpr * (1 - fpr) / curve.non_members) ** 0.5
    point, low, high = (curve.at_fpr(rate) for rate in (fpr, max(0.0, fpr - error), min(1.0, fpr + error)))
    near = (scores >= high.threshold) & (scores < low.threshold)
    return scores >= point.threshold, near, max(high.realised_fpr - low.realised_fpr, 1 / curve.non_members)
