"""AUC and TPR inside each group of records, and the influence of every record on them; all groups in one pass.

Groups are a partition of the records, so one sort a target by group and score serves all of them. A record's influence
on its group's AUC is DeLong's structural component less the AUC, over the number of members or non-members (DeLong,
DeLong and Clarke-Pearson 1988); that of a member on its group's TPR is found or not, less the TPR. The threshold of the
TPR is the one that gives a false-positive rate over *all* records, so every non-member moves it, by the slope of the
group's ROC curve there.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reticent import scratch, threads
from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.crossed_variance import Moments
from reticent.auditing.ranked import Ranked
from reticent.auditing.roc import Point, curve


def sizes(members: Bools, codes: Ints, groups: int) -> tuple[Ints, Ints]:
    """Count each target's members and non-members in each group.

    By each record's group, from 0 to G - 1: ``(T, G)`` each.
    """
    inside = np.stack([np.bincount(codes[row], minlength=groups) for row in members])
    return inside, np.bincount(codes, minlength=groups) - inside


@dataclass(frozen=True, eq=False)
class Seen:
    """What is seen of each group.

    Attributes:
        area: its AUC, ties counted half.
        found: its TPR at the threshold that gives a false-positive rate over all records, or None without a rate.
        wrong: its own false-positive rate there.
        points: each target's point of the curve over all records at that rate.
    """

    area: Moments
    found: Moments | None
    wrong: Moments | None
    points: tuple[Point, ...]


def seen(scores: Floats, members: Bools, codes: Ints, groups: int, fpr: float | None = None) -> Seen:
    """Look into each group.

    By each record's group, from 0 to G - 1, and at a rate over all records. Moments mean nothing where a target has
    fewer than two members or non-members. Cost: T sorts.
    """
    sides = sizes(members, codes, groups)
    narrow = codes.astype(np.uint16) if groups <= 2**16 else codes  # 16 bits are sorted in one pass.
    records = np.bincount(codes, minlength=groups)
    area = _Pooled(sides[0].shape, len(codes))
    both = [_Thresholded(sides[0].shape, len(codes)) for _ in sides] if fpr is not None else []
    points = []

    def look(t: int) -> tuple[_Told, list[tuple[_Told, _Moved]], Point | None]:
        ranked, row, own = Ranked.of(scores[t], members[t]), np.asarray(scores[t]), members[t]
        told = _area(ranked, row, own, codes, narrow, sides[0][t], sides[1][t])
        rates: list[tuple[_Told, _Moved]] = []
        point = None
        if fpr is not None:
            point, called, near, width = _called(ranked, row, fpr)
            others = np.count_nonzero(~own)
            moved = np.where(own, 0.0, called - np.count_nonzero(called & ~own) / others) / others
            for kind, count in ((own, sides[0][t]), (~own, sides[1][t])):
                slope = np.bincount(codes, (near & kind) / width, groups) / np.maximum(count, 1)
                rates.append((_share(called, kind, codes, count), _Moved(moved, slope)))
        scratch.release(scores)
        return told, rates, point

    for t, (told, rates, point) in enumerate(threads.ordered(look, range(len(scores)), scores.size, step="targets")):
        area.add(t, told, codes)
        for one, rate in zip(both, rates, strict=True):
            one.add_moved(t, *rate, codes)
        if point is not None:
            points.append(point)
    found, wrong = (one.moments(codes, records) for one in both) if both else (None, None)
    return Seen(area.moments(codes, records), found, wrong, tuple(points))


class _Told(NamedTuple):
    """One target: each group's value ``(G,)``, and every record's influence on that of its group ``(N,)``."""

    observed: Floats
    influence: Floats


class _Moved(NamedTuple):
    """One target: how far each record moves the threshold's rate ``(N,)``, and a group's value with that ``(G,)``."""

    threshold: Floats
    slope: Floats


class _Pooled:
    """Values and influences of targets, added up one after the other."""

    def __init__(self, shape: tuple[int, ...], records: int) -> None:
        self.observed, self.each, self.total = np.zeros(shape), np.zeros(shape), np.zeros(records)

    def add(self, t: int, told: _Told, codes: Ints) -> None:
        self.observed[t] = told.observed
        self.each[t] = np.bincount(codes, told.influence**2, self.each.shape[1])
        self.total += told.influence

    def moments(self, codes: Ints, records: Ints) -> Moments:
        mean = np.bincount(codes, (self.total / len(self.each)) ** 2, self.each.shape[1]).astype(np.float64)
        return Moments(self.observed, self.each, mean, records)


class _Thresholded(_Pooled):
    """The same of shares beyond a threshold that all non-members move."""

    def __init__(self, shape: tuple[int, ...], records: int) -> None:
        super().__init__(shape, records)
        self.shared, self.together = np.zeros(shape[0]), np.zeros(shape)
        self.slope, self.threshold = np.zeros(shape[1]), np.zeros(records)

    def add_moved(self, t: int, told: _Told, moved: _Moved, codes: Ints) -> None:
        self.add(t, told, codes)
        self.slope += moved.slope / len(self.each)
        self.shared[t] = (moved.threshold**2).sum()
        self.together[t] = np.bincount(codes, told.influence * moved.threshold, self.each.shape[1])
        self.threshold += moved.threshold

    def moments(self, codes: Ints, records: Ints) -> Moments:
        total, threshold, slope = self.total / len(self.each), self.threshold / len(self.each), self.slope
        both = np.bincount(codes, total**2 - 2 * slope[codes] * total * threshold, self.each.shape[1])
        mean = np.maximum(0.0, both + slope**2 * (threshold**2).sum())
        each = self.each + self.shared[:, None] * slope**2 - 2 * slope * self.together
        return Moments(self.observed, np.maximum(0.0, each), mean, records)


def _per_record(count: Ints) -> Floats:
    """Return the weight of one of k records, with the factor that makes a variance of their mean unbiased."""
    return np.asarray(1 / np.sqrt(np.maximum(count, 1) * np.maximum(count - 1, 1)))


def _area(
    ranked: Ranked, scores: Floats, members: Bools, codes: Ints, narrow: NDArray[Any], inside: Ints, outside: Ints
) -> _Told:
    """Compute one target's AUC in each group."""
    rising = ranked.order[::-1]
    order = rising[np.argsort(narrow[rising], kind="stable")]
    grouped, hit = codes[order], members[order]
    part = _components(scores[order], hit, grouped, inside, outside)
    observed = np.bincount(grouped, np.where(hit, part, 0.0), len(inside)) / np.maximum(inside, 1)
    influence = np.empty(len(codes))
    influence[order] = (part - observed[grouped]) * np.where(
        hit, _per_record(inside)[grouped], _per_record(outside)[grouped]
    )
    return _Told(observed, influence)


def _components(scores: Floats, members: Bools, codes: Ints, inside: Ints, outside: Ints) -> Floats:
    """Return, of records sorted by group and score, the share of the other kind in the group that they are right of.

    For a member that is the share of its group's non-members below it, for a non-member that of the members above it.
    """
    new = np.append(np.True_, (codes[1:] != codes[:-1]) | (scores[1:] != scores[:-1]))
    first = np.flatnonzero(new)
    block = np.cumsum(new) - 1
    start, stop = first[block], np.append(first[1:], len(scores))[block]
    begin = (np.cumsum(inside + outside) - inside - outside)[codes]
    hits = np.concatenate([[0], np.cumsum(members)])
    misses = np.arange(len(hits)) - hits
    below = [(sums[start] + sums[stop]) / 2 - sums[begin] for sums in (hits, misses)]
    m, n = np.maximum(inside, 1)[codes], np.maximum(outside, 1)[codes]
    return np.asarray(np.where(members, below[1] / n, 1 - below[0] / m))


def _share(called: Bools, kind: Bools, codes: Ints, inside: Ints) -> _Told:
    """Compute the share of those of a kind that are called members, in each group."""
    observed = np.bincount(codes, called & kind, len(inside)) / np.maximum(inside, 1)
    return _Told(observed, np.where(kind, called - observed[codes], 0.0) * _per_record(inside)[codes])


def _called(ranked: Ranked, scores: Floats, fpr: float) -> tuple[Point, Bools, Bools, float]:
    """Say who is called a member, who would be within one standard error of the rate, and how wide that range is."""
    vertices = curve(ranked)
    error = (fpr * (1 - fpr) / vertices.non_members) ** 0.5
    point, low, high = (vertices.at_fpr(rate) for rate in (fpr, max(0.0, fpr - error), min(1.0, fpr + error)))
    near = (scores >= high.threshold) & (scores < low.threshold)
    width = max(high.realised_fpr - low.realised_fpr, 1 / vertices.non_members)
    return point, scores >= point.threshold, near, width
