"""The numbers of a ROC curve for many weightings of the records at once: sort once, then only sums.

A replicate of the bootstrap gives each record a weight. With scores in order, every AUC and rate is a ratio of running
sums of weights, so a replicate costs ``O(N)`` and no sort.

Running sums are kept in two parts: the sum before each piece of `PIECE` records, and within each piece in single bytes,
which weights up to `HEAVIEST` cannot overflow. The records of a piece are dealt out over `PIECE` layers, so that a
layer is added to the next one as a whole: bytes side by side, many to an instruction.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from reticent.arrays import Floats
from reticent.auditing.roc import exact
from reticent.auditing.sorted_scores import Ranked, parted

Bytes = NDArray[np.uint8]
Rows = NDArray[np.int32]
Weights = Bytes
"""Whole numbers from 0 to `HEAVIEST`, ``(N, B)``: how often each of B replicates takes each of N records."""

FIXED = ("auc", "oracle", "transferred")
"""What `statistics` returns before the rates."""
PIECE = 32
"""Records whose weights are summed in bytes."""
HEAVIEST = 255 // PIECE
"""The largest weight: `PIECE` of them fit a byte."""
_CELLS = 2**16
"""Numbers that the search for the best threshold holds at once; they stay in the processor's cache."""
_ROUNDING = np.float32(1e-5)
"""More than shares in single precision are off."""
_exact = cache(exact)


@dataclass(frozen=True, eq=False)
class Ranking:
    """One target's records in order of score, highest first; positions count from the top.

    Attributes:
        counts: number of members m and of non-members n.
        members: ids of the members, dealt (see `_deal`).
        non_members: ids of the non-members, dealt.
        above: ``(n + 1,)``, members scoring above each non-member; m at the end.
        places: where that is found among the members' sums (see `_places`); where members and non-members tie, then
            also for the members at or above each non-member.
        corners: non-members with a member right above them: the only thresholds that can be the best one.
        cut: members and non-members at or above the transferred threshold, or None without one.
    """

    counts: tuple[int, int]
    members: Rows
    non_members: Rows
    above: Rows
    places: tuple[tuple[Rows, Rows], ...]
    corners: Rows
    cut: tuple[int, int] | None


@dataclass(frozen=True, eq=False)
class Sums:
    """Running sums of one group's weights.

    Attributes:
        within: ``uint8 ((PIECE + 1) P, B)``: layer i holds what the first i records of each of P pieces sum to.
        before: ``(P + 1, B)``, the sums before each piece, and the total.
    """

    within: Bytes
    before: Floats

    @property
    def total(self) -> Floats:
        """Sum of all weights ``(B,)``."""
        return np.asarray(self.before[-1])

    def first(self, positions: NDArray[np.int_] | Rows) -> Floats:
        """Sum the first records.

        Of K numbers of records ``(K, B)``.
        """
        pieces, layers = np.divmod(positions, PIECE)
        return self.before.take(pieces, axis=0) + self.within.take(layers * (len(self.before) - 1) + pieces, axis=0)

    def first_of_each(self, positions: NDArray[np.int_] | Rows) -> Floats:
        """Sum the first records, as many as each replicate says."""
        pieces, layers = np.divmod(positions, PIECE)
        each = np.arange(len(positions))
        return np.asarray(self.before[pieces, each] + self.within[layers * (len(self.before) - 1) + pieces, each])

    def reach(self, limits: Floats) -> NDArray[np.int_]:
        """Count how many records each replicate takes until the sum would exceed a limit.

        May count beyond the last record where the limit is not exceeded.
        """
        pieces = (self.before[:-1] <= limits).sum(axis=0) - 1
        each, count = np.arange(len(limits)), len(self.before) - 1
        layers = self.within.reshape(PIECE + 1, count, -1)[:PIECE, pieces, each]
        return np.asarray(pieces * PIECE + (layers <= limits - self.before[pieces, each]).sum(axis=0) - 1)


def rank(ranked: Ranked, threshold: float | None = None) -> Ranking:
    """Tell how members and non-members of one target interleave."""
    inside, outside = parted(ranked.order, ranked.members)
    found, ends, places = ranked.found, ranked.ends, np.flatnonzero(~ranked.members)
    above = level = found[places]
    if len(ends) < len(ranked.scores):
        group = np.searchsorted(ends, places, side="right")
        above, level = found[np.concatenate([[0], ends])[group]], found[ends[group]]
    ways = (above,) if np.array_equal(above, level) else (above, level)
    return Ranking(
        counts=(len(inside), len(outside)),
        members=_deal(inside),
        non_members=_deal(outside),
        above=np.append(above, len(inside)).astype(np.int32),
        places=tuple(_places(way, len(inside)) for way in ways),
        corners=np.flatnonzero(np.diff(above, prepend=-1)).astype(np.int32),
        cut=None if threshold is None else ranked.at_least(threshold),
    )


def _pieces(count: int) -> int:
    """Return the number of pieces; the last one is never full, so that every sum of the first records has its place."""
    return count // PIECE + 1


def _deal(values: NDArray[np.int_]) -> Rows:
    """Put the i-th record of every piece into layer i, all pieces side by side; what is missing at the end is 0."""
    padded = np.zeros(_pieces(len(values)) * PIECE, dtype=np.int32)
    padded[: len(values)] = values
    return np.ascontiguousarray(padded.reshape(-1, PIECE).T).ravel()


def _places(above: NDArray[np.int_], members: int) -> tuple[Rows, Rows]:
    """Return the place of each non-member's sum, dealt; and the first non-member below each whole piece of members."""
    count = _pieces(members)
    begins = np.searchsorted(above, PIECE * np.arange(1, count), side="left")
    return _deal(above % PIECE * count + above // PIECE), begins.astype(np.int32)


def statistics(ranking: Ranking, weights: Weights, fprs: tuple[float, ...], *, oracle: bool = True) -> Floats:
    """Evaluate AUC, balanced accuracies and rates of one target under B weightings.

    Weights are ``uint8 (N, B)``, at most `HEAVIEST`; the `oracle`, the best threshold, takes a third of the time. The
    rows are as `FIXED` (0 without a threshold, or where the oracle is not asked for), then the TPR at each rate ``(3 +
    len(fprs), B)``. NaN in a column that leaves no member or no non-member.
    """
    members, non_members = ranking.counts
    inside = _running(_layers(weights, ranking.members, members))
    layers = _layers(weights, ranking.non_members, non_members)
    # The products need the weights themselves, which their running sums then replace.
    products = [_products(inside, layers[1:], dealt) for dealt, _ in ranking.places]
    outside = _running(layers)
    products += [_whole_pieces(inside, outside, begins) for _, begins in ranking.places]
    pairs = np.sum(products, axis=0) / len(ranking.places)
    with np.errstate(invalid="ignore", divide="ignore"):
        per_member, per_non_member = 1 / inside.total, 1 / outside.total
    per_member[np.isinf(per_member)] = np.nan
    per_non_member[np.isinf(per_non_member)] = np.nan
    nothing = np.zeros(weights.shape[1])
    rows = [
        pairs * per_member * per_non_member,
        _oracle(ranking, inside, outside, per_member, per_non_member) if oracle else nothing,
        nothing if ranking.cut is None else _at(ranking.cut, inside, outside, per_member, per_non_member),
    ]
    rows += [_hits(ranking, inside, outside, fpr) * per_member for fpr in fprs]
    return np.stack(rows)


def _layers(weights: Weights, dealt: Rows, count: int) -> Bytes:
    """Gather weights into layers ``(PIECE + 1, P, B)``, the first one empty."""
    pieces, columns = _pieces(count), weights.shape[1]
    layers = np.empty((PIECE + 1, pieces, columns), dtype=np.uint8)
    layers[0] = 0
    weights.take(dealt, axis=0, out=layers[1:].reshape(-1, columns), mode="clip")
    layers[1 + count % PIECE :, -1] = 0
    return layers


def _running(layers: Bytes) -> Sums:
    """Add each layer to the next one, in place."""
    for i in range(2, len(layers)):
        np.add(layers[i - 1], layers[i], out=layers[i])
    before = np.zeros((layers.shape[1] + 1, layers.shape[2]))
    np.cumsum(layers[-1], axis=0, dtype=np.float64, out=before[1:])
    return Sums(layers.reshape(-1, layers.shape[2]), before)


def _products(inside: Sums, weights: Bytes, places: Rows) -> Floats:
    """Sum, over non-members, their weight times what the members above weigh within their piece."""
    found = inside.within.take(places, axis=0, mode="clip").reshape(PIECE, -1)
    each = np.multiply(weights.reshape(PIECE, -1), found, dtype=np.uint16)
    # At most PIECE * HEAVIEST * 31 * HEAVIEST = 48,608 a column.
    layers = np.add.reduce(each, axis=0, dtype=np.uint16)
    return np.asarray(layers.reshape(weights.shape[1:]).sum(axis=0, dtype=np.float64))


def _whole_pieces(inside: Sums, outside: Sums, begins: Rows) -> Floats:
    """Sum, over pieces of members that are above a non-member as a whole, their weight times the non-members'."""
    below = outside.total - outside.first(begins)
    return np.asarray(np.einsum("pb,pb->b", np.diff(inside.before[:-1], axis=0), below))


def _oracle(ranking: Ranking, inside: Sums, outside: Sums, per_member: Floats, per_non_member: Floats) -> Floats:
    """Take the best of the thresholds just above each corner; no other vertex of the curve can be better.

    Nor can a corner be better than the members above the last one of its part, less the non-members above the first.
    """
    columns = len(per_member)
    best = np.zeros(columns, dtype=np.float32)
    best[np.isnan(per_member + per_non_member)] = np.nan
    high, low = _Scaled(inside, per_member), _Scaled(outside, per_non_member)
    step = max(1, _CELLS // columns)
    parts = np.arange(0, len(ranking.corners), step)
    ends = np.minimum(parts + step, len(ranking.corners)) - 1
    most = high.first(ranking.above[ranking.corners[ends]]) - low.first(ranking.corners[parts]) + _ROUNDING
    for part in np.argsort(-np.fmax.reduce(most, axis=1)):
        if not (most[part] > best).any():
            continue
        corners = ranking.corners[parts[part] : parts[part] + step]
        gap = high.first(ranking.above[corners])
        gap -= low.first(corners)
        np.maximum(best, gap.max(axis=0), out=best)
    return (1 + best.astype(np.float64)) / 2


class _Scaled:
    """Running sums as shares of the total, in single precision."""

    def __init__(self, sums: Sums, per_record: Floats) -> None:
        self._within, self._pieces = sums.within, len(sums.before) - 1
        self._before = (sums.before * per_record).astype(np.float32)
        self._per_record = per_record.astype(np.float32)

    def first(self, positions: Rows) -> NDArray[np.float32]:
        """Return the share of the first records, ``(K, B)``."""
        pieces, layers = np.divmod(positions, PIECE)
        share = self._within.take(layers * self._pieces + pieces, axis=0, mode="clip") * self._per_record
        share += self._before.take(pieces, axis=0, mode="clip")
        return share


def _at(cut: tuple[int, int], inside: Sums, outside: Sums, per_member: Floats, per_non_member: Floats) -> Floats:
    """Compute the balanced accuracy at the transferred threshold."""
    found, false = inside.first(np.array([cut[0]]))[0], outside.first(np.array([cut[1]]))[0]
    return np.asarray((1 + found * per_member - false * per_non_member) / 2)


def _hits(ranking: Ranking, inside: Sums, outside: Sums, fpr: float) -> Floats:
    """Find the first non-member that is one too many; the members above it are found."""
    fraction = _exact(fpr)
    limit = outside.total.astype(np.int64) * fraction.numerator // fraction.denominator
    first = np.minimum(outside.reach(limit.astype(np.float64)), ranking.counts[1])
    return inside.first_of_each(ranking.above[first])
