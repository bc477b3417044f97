"""AUC and TPR inside each group of records, and the influence of every record on them; all groups in one pass.

Groups are a partition of the records, so one sort a target by group and score serves all of them. A record's influence
on its group's AUC is DeLong's structural component less the AUC, over the number of members or non-members (DeLong,
DeLong and Clarke-Pearson 1988); that of a member on its group's TPR is found or not, less the TPR. The threshold of the
TPR is the one that gives a false-positive rate over *all* records, so every non-member moves it, by the slope of the
group's ROC curve there.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reticent import scratch, threads
from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.moments import Moments
from reticent.auditing.roc import Point, curve
from reticent.auditing.sorted_scores import Ranked
from reticent.auditing.training_sets import TrainingSets


@dataclass(frozen=True, eq=False)
class Seen:
    """What is seen of each group.

    Attributes:
        inside: how many members each target has in it ``(T, G)``.
        outside: how many non-members.
        area: its AUC, ties counted half.
        found: its TPR at the threshold that gives a false-positive rate over all records, or None without a rate.
        wrong: its own false-positive rate there.
        points: each target's point of the curve over all records at that rate.
    """

    inside: Ints
    outside: Ints
    area: Moments
    found: Moments | None
    wrong: Moments | None
    points: tuple[Point, ...]


def seen(scores: Floats, members: Bools, codes: Ints, groups: int, fpr: float | None = None) -> Seen:
    """Look into each group.

    By each record's group, from 0 to G - 1, and at a rate over all records. Moments mean nothing where a target has
    fewer than two members or non-members. Cost: T sorts.
    """
    parts, shape, sets = _Parts(codes, groups), (len(scores), groups), TrainingSets.of(members)
    inside, area = np.empty(shape, dtype=np.int64), _Pooled(shape, len(codes))
    both = [_Thresholded(shape, len(codes)) for _ in range(2)] if fpr is not None else []
    points = []

    def look(t: int) -> tuple[_Told, list[tuple[_Told, _Moved]], Point | None]:
        ranked, row = Ranked.of(scores[t], members[t]), np.asarray(scores[t])
        inside[t] = np.bincount(codes.take(np.flatnonzero(members[t])), minlength=groups)
        told = _area(ranked, row, members[t], parts, inside[t])
        rates, point = ([], None) if fpr is None else _rates(ranked, row, members[t], parts, fpr)
        scratch.release(scores)
        return told, rates, point

    for t, (told, rates, point) in enumerate(threads.ordered(look, range(len(scores)), scores.size, step="targets")):
        area.add(t, told, codes)
        for one, rate in zip(both, rates, strict=True):
            one.add_moved(t, *rate, codes)
        if point is not None:
            points.append(point)
    records = parts.records
    found, wrong = (one.moments(codes, records, sets) for one in both) if both else (None, None)
    return Seen(inside, records - inside, area.moments(codes, records, sets), found, wrong, tuple(points))


class _Parts:
    """The groups of all records.

    Attributes:
        codes: each record's group ``(N,)``.
        narrow: the same in 16 bits where they suffice, which are sorted in one pass.
        grouped: the groups of records sorted by group ``(N,)``.
        begin: where each of these groups begins ``(N,)``.
    """

    def __init__(self, codes: Ints, groups: int) -> None:
        self.codes, self.count = codes, groups
        self.narrow = codes.astype(np.uint16) if groups <= 2**16 else codes
        self.records = np.bincount(codes, minlength=groups)
        self.grouped = np.repeat(np.arange(groups), self.records)
        self.begin = np.repeat(np.cumsum(self.records) - self.records, self.records)


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

    def moments(self, codes: Ints, records: Ints, sets: TrainingSets) -> Moments:
        mean = np.bincount(codes, (self.total / len(self.each)) ** 2, self.each.shape[1]).astype(np.float64)
        return Moments(self.observed, self.each, mean, records, sets)


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

    def moments(self, codes: Ints, records: Ints, sets: TrainingSets) -> Moments:
        total, threshold, slope = self.total / len(self.each), self.threshold / len(self.each), self.slope
        both = np.bincount(codes, total**2 - 2 * slope[codes] * total * threshold, self.each.shape[1])
        mean = np.maximum(0.0, both + slope**2 * (threshold**2).sum())
        each = self.each + self.shared[:, None] * slope**2 - 2 * slope * self.together
        return Moments(self.observed, np.maximum(0.0, each), mean, records, sets)


def _per_record(count: Ints) -> Floats:
    """Return the weight of one of k records, with the factor that makes a variance of their mean unbiased."""
    return np.asarray(1 / np.sqrt(np.maximum(count, 1) * np.maximum(count - 1, 1)))


def _area(ranked: Ranked, scores: Floats, members: Bools, parts: _Parts, inside: Ints) -> _Told:
    """Compute one target's AUC in each group, of which these are the members ``(G,)``."""
    rising = ranked.order[::-1]
    order = rising[np.argsort(parts.narrow[rising], kind="stable")]
    hit, outside, grouped = members[order], parts.records - inside, parts.grouped
    part = _components(scores[order], hit, parts, inside, outside)
    observed = np.bincount(grouped, np.where(hit, part, 0.0), len(inside)) / np.maximum(inside, 1)
    influence = np.empty(len(order))
    influence[order] = (part - np.repeat(observed, parts.records)) * np.where(
        hit, np.repeat(_per_record(inside), parts.records), np.repeat(_per_record(outside), parts.records)
    )
    return _Told(observed, influence)


def _components(scores: Floats, members: Bools, parts: _Parts, inside: Ints, outside: Ints) -> Floats:
    """Return, of records sorted by group and score, the share of the other kind in the group that they are right of.

    For a member that is the share of its group's non-members below it, for a non-member that of the members above it.
    """
    new = np.append(np.True_, (parts.grouped[1:] != parts.grouped[:-1]) | (scores[1:] != scores[:-1]))
    start: Ints | slice = slice(None, -1)
    stop: Ints | slice = slice(1, None)
    if not new.all():
        first = np.flatnonzero(new)
        block = np.cumsum(new) - 1
        start, stop = first[block], np.append(first[1:], len(scores))[block]
    hits = np.concatenate([[0], np.cumsum(members)])
    misses = np.arange(len(hits)) - hits
    below = [(sums[start] + sums[stop]) / 2 - sums[parts.begin] for sums in (hits, misses)]
    m, n = (np.repeat(np.maximum(one, 1), parts.records) for one in (inside, outside))
    return np.asarray(np.where(members, below[1] / n, 1 - below[0] / m))


def _rates(
    ranked: Ranked, scores: Floats, members: Bools, parts: _Parts, fpr: float
) -> tuple[list[tuple[_Told, _Moved]], Point]:
    """Compute one target's shares of members, and of non-members, that are called members, in each group.

    What a record adds follows from its group, from whether it is a member, and from whether it is called one.
    """
    point, called, near, width = _called(ranked, scores, fpr)
    state = parts.codes + parts.count * (called + 2 * members)
    tally = np.bincount(state, minlength=4 * parts.count).reshape(2, 2, -1)
    others = int(tally[0].sum())
    moved = np.zeros(tally.shape)
    moved[0] = ((np.arange(2) - tally[0, 1].sum() / others) / others)[:, None]
    threshold, told = moved.ravel()[state], list[tuple[_Told, _Moved]]()
    for kind in (1, 0):
        count = tally[kind].sum(axis=0)
        observed = tally[kind, 1] / np.maximum(count, 1)
        influence = np.zeros(tally.shape)
        influence[kind] = (np.arange(2)[:, None] - observed) * _per_record(count)
        close = parts.codes.take(np.flatnonzero(near & (members == kind)))
        slope = np.bincount(close, np.full(len(close), 1 / width), parts.count) / np.maximum(count, 1)
        told.append((_Told(observed, influence.ravel()[state]), _Moved(threshold, slope)))
    return told, point


def _called(ranked: Ranked, scores: Floats, fpr: float) -> tuple[Point, Bools, Bools, float]:
    """Say who is called a member, who would be within one standard error of the rate, and how wide that range is."""
    vertices = curve(ranked)
    error = (fpr * (1 - fpr) / vertices.non_members) ** 0.5
    point, low, high = (vertices.at_fpr(rate) for rate in (fpr, max(0.0, fpr - error), min(1.0, fpr + error)))
    near = (scores >= high.threshold) & (scores < low.threshold)
    width = max(high.realised_fpr - low.realised_fpr, 1 / vertices.non_members)
    return point, scores >= point.threshold, near, width
