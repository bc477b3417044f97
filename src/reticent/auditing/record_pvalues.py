"""A p-value for every target and record, so that each record has its own rate of false alarms.

One threshold over all records does not give each of them its rate: a likelihood ratio spends false alarms where it
finds most. Here a record is called a member where its own p-value is at most the rate. The p-values are, in this order:

* `rank`, where each record has enough models without it (99 for 1 %): ``(1 + #{of these at or above}) / (k + 1)``,
  exact by exchangeability, whatever the law of margins;
* `student`, where it gives non-members their rate: Student's tail with k - 1 degrees of freedom, exact if a record's
  margins are normal;
* `residual`: the share of standardized margins of non-members of *other* models that are as high, exact on average.

Paper: "Reliability of LiRA over records" (arXiv 2605.25819), whose signed variant is left out: its sign is taken from
the same models and lifts the rate.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from reticent import scratch, threads
from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.draws import Draws
from reticent.auditing.exposure import Exposure, Masked
from reticent.auditing.intervals import clopper_pearson
from reticent.auditing.moments import Moments, share_interval
from reticent.auditing.record_residuals import residuals
from reticent.auditing.training_sets import TrainingSets
from reticent.findings.numbers import ShareEstimate
from reticent.findings.record_tests import RateOfTenth, RecordMethod, RecordRates
from reticent.signals.matrix import Signals

FPR = 0.01
"""The rate of each record."""
SURE = 0.99
"""Of the intervals of the calibration, all tenths together."""
NEAR = 0.2
"""Student's tail serves where it gives non-members a rate this near to the one asked for, relatively."""
CELLS = 2**18
"""Margins that are compared at once, a core each."""
FEWEST_RECORDS = 200
"""Records from which there is a calibration by tenths."""


@dataclass(frozen=True, eq=False)
class RecordPValues:
    """One p-value a target and record.

    Attributes:
        method: how they are made.
        p: ``(T, N)``; NaN where fewer than 2 models are there to compare with.
        references: k of each record, ``(N,)``.
    """

    method: RecordMethod
    p: Floats
    references: Ints


def record_pvalues(
    signals: Signals, draws: Draws, targets: Ints, references: Ints, rng: np.random.Generator, fpr: float = FPR
) -> RecordPValues | None:
    """Compute the p-value of every target and record.

    By the plain query; a target is left out of its own references, and `rng` draws which model is left out where one is
    too many. Of models of nearly the same members, each is compared with one of others (`Draws.apart`). None where no
    record has 3 references without it, or where a target that is no reference has a copy among them. Cost: one pass
    over the margins.
    """
    membership, parts = draws.by_draw, draws.apart(targets, references)
    counts = _without(membership, parts[0][1]) if parts else np.zeros(signals.records, dtype=np.int64)
    if counts.max() < 2:
        return None
    found, ranked = scratch.zeros((len(targets), signals.records)), bool(counts.min() + 1 >= 1 / fpr)
    told = _ranks if ranked else residuals

    def compare(start: int, margins: NDArray[Any], drawn: Floats) -> None:
        def some(part: slice) -> None:
            here = slice(start + part.start, start + part.stop)
            outside, own = ~membership[:, here], margins[:, part].astype(np.float64)
            for at, among in parts:
                rows = np.union1d(np.flatnonzero(among), targets[at])
                eligible, places = (outside & among[:, None])[rows], np.searchsorted(rows, targets[at])
                found[at, here] = told(own[rows], eligible, counts[here], places, drawn[rows, part])

        ends = np.linspace(0, margins.shape[1], 1 + -(-margins.size // CELLS)).astype(np.int64).tolist()
        threads.each(some, map(slice, ends, ends[1:]), found.size)
        scratch.release(found, membership)

    for block in signals.blocks():
        margins = signals.plain(block)
        compare(block.start, margins, rng.random(margins.shape))
    if ranked:
        return RecordPValues(RecordMethod.RANK, found, counts)
    student, rate = scratch.zeros(found.shape), _Share(TrainingSets.apart(len(targets)))

    def students(at: int) -> tuple[Bools, Bools]:
        # Where the models agree to the last digit there is no law of margins, but their number.
        standard = np.asarray(found[at])
        p = np.where(np.isposinf(standard), 1 / (counts + 1), stdtr(np.maximum(counts - 1, 1), -standard))
        student[at] = p
        outside = ~draws.matrix[targets[at]] & ~np.isnan(standard)
        scratch.release(found, student)
        return p <= fpr, outside

    for called, counted in threads.ordered(students, range(len(targets)), found.size, step="p-values"):
        rate.add(called, counted)
    # An interval does not help here: it is wide where models differ as a whole, and then Student's tail is off.
    near = abs(rate.estimate(SURE).mean - fpr) <= NEAR * fpr
    if near or len(targets) < 2:
        return RecordPValues(RecordMethod.STUDENT, student, counts)
    return RecordPValues(RecordMethod.RESIDUAL, _by_residuals(found, draws.matrix[targets]), counts)


def _without(membership: Bools, among: Bools) -> Ints:
    """Count the models without each record among some, itself left out."""
    counts = np.zeros(membership.shape[1], dtype=np.int64)
    for model, (row,) in enumerate(scratch.rows(membership)):
        counts += ~row & among[model]
    return np.maximum(counts - 1, 0)


def _ranks(margins: Floats, eligible: Bools, counts: Ints, targets: Ints, drawn: Floats) -> Floats:
    """Rank each target among k eligible models, one of which is left out where the target is not itself one."""
    left_out = np.argmax(np.where(eligible, drawn, -1.0), axis=0)
    spare = np.take_along_axis(margins, left_out[None], axis=0)[0]
    above, own = _at_or_above(margins, eligible)[targets], margins[targets]
    return np.asarray((1 + above - np.where(eligible[targets], 1, spare >= own)) / (counts + 1))


def _at_or_above(margins: Floats, eligible: Bools) -> Ints:
    """Count the eligible models whose margin of a record is at or above each model's ``(M, n)``."""
    order = np.argsort(-margins.T, axis=1)
    ordered = np.take_along_axis(margins.T, order, axis=1)
    counted = np.take_along_axis(eligible.T, order, axis=1).cumsum(axis=1, dtype=np.int32)
    last = np.ones(order.shape, dtype=np.bool_)
    last[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
    # Of equal margins, all have what is counted at the last of them.
    counted = np.minimum.accumulate(np.where(last, counted, len(margins))[:, ::-1], axis=1)[:, ::-1]
    found = np.empty(order.shape, dtype=np.int64)
    np.put_along_axis(found, order, counted, axis=1)
    return found.T


def _by_residuals(standard: Floats, members: Bools) -> Floats:
    """Compare with the standardized margins of non-members of the other targets."""
    pool = np.sort(np.concatenate([row[~own & ~np.isnan(row)] for row, own in scratch.rows(standard, members)]))
    found = scratch.zeros(standard.shape)
    for row, inside, p in scratch.rows(standard, members, found):
        known = ~np.isnan(row)
        own = np.sort(row[~inside & known])
        above = (len(pool) - np.searchsorted(pool, row[known])) - (len(own) - np.searchsorted(own, row[known]))
        p[:] = np.nan
        p[known] = (1 + above) / (1 + len(pool) - len(own))
    return found


def record_rates(tests: RecordPValues, members: Bools, exposed: Exposure, confidence: float, fpr: float) -> RecordRates:
    """Say what is found at each record's own rate, and whether the rate is kept.

    `exposed` is for the calibration by tenths. Cost: O(T N).
    """
    sets = TrainingSets.of(members)
    alarms, found, tenths = _Share(sets), _Share(sets), list(_tenths(exposed, sets))
    for p, own in scratch.rows(tests.p, members):
        known, called = ~np.isnan(p), p <= fpr
        outside = known & ~own
        alarms.add(called, outside)
        found.add(called, known & own)
        for one in tenths:
            one.rate.add(called[one.records], outside[one.records])
    return RecordRates(
        method=tests.method,
        references=int(tests.references[tests.references > 1].min()),
        fpr=fpr,
        false_alarms=alarms.estimate(SURE),
        found=found.estimate(confidence),
        tenths=tuple(one.finding(fpr) for one in tenths),
    )


@dataclass(frozen=True, eq=False)
class OwnRates:
    """What is found of each record at its own false-positive rate.

    Attributes:
        found: share of the targets trained on it whose p-value is at most the rate, ``(N,)``; masked without one.
        low: Clopper and Pearson's lower limit; targets share references, which it does not see.
        high: the upper one.
    """

    found: Masked
    low: Masked
    high: Masked


def own_rates(tests: RecordPValues, members: Bools, draws: Ints, confidence: float, fpr: float) -> OwnRates:
    """Say how often each record is found at its own rate, over the targets that were trained on it.

    Limits are two-sided, one record at a time; targets of one draw, `draws` ``(T,)``, are one trial.
    """
    hits, models, trials = np.zeros((3, members.shape[1]), dtype=np.int64)
    for draw in np.unique(draws):
        seen = np.zeros(members.shape[1], dtype=np.bool_)
        for target in np.flatnonzero(draws == draw):
            known = members[target] & ~np.isnan(tests.p[target])
            hits += known & (tests.p[target] <= fpr)
            models += known
            seen |= known
            scratch.release(tests.p, members)
        trials += seen
    share = hits / np.maximum(models, 1)
    ends = clopper_pearson(share * trials, np.maximum(trials, 1), confidence)
    return OwnRates(*(np.ma.MaskedArray(np.where(trials, one, 0.0), mask=trials == 0) for one in (share, *ends)))


@dataclass(frozen=True, eq=False)
class _Tenth:
    """A tenth of the records, and the rate of false alarms among them."""

    by: Literal["exposure", "scale"]
    tenth: int
    records: Ints
    rate: "_Share"

    def finding(self, fpr: float) -> RateOfTenth:
        rate = self.rate.estimate(1 - (1 - SURE) / 20)
        off = not rate.interval[0] <= fpr <= rate.interval[1]
        return RateOfTenth(by=self.by, tenth=self.tenth, rate=rate, off=off)


def _tenths(exposed: Exposure, sets: TrainingSets) -> Iterator[_Tenth]:
    ordered: tuple[tuple[Literal["exposure", "scale"], Masked], ...]
    ordered = ("exposure", exposed.exposure), ("scale", exposed.std_out)
    for by, values in ordered:
        known = np.flatnonzero(~np.ma.getmaskarray(values))
        if len(known) < FEWEST_RECORDS:
            continue
        order = known[np.argsort(values.data[known], kind="stable")]
        for tenth, records in enumerate(np.array_split(order, 10), start=1):
            yield _Tenth(by, tenth, records, _Share(sets))


class _Share:
    """A share and its moments, one target after the other."""

    def __init__(self, sets: TrainingSets) -> None:
        self._sets = sets
        self._observed: list[float] = []
        self._each: list[float] = []
        self._size = 0
        self._total: Floats | float = 0.0
        self._counted: Bools | bool = False

    def add(self, called: Bools, counted: Bools) -> None:
        """Take a target's records ``(N,)`` in."""
        size = int(counted.sum())
        observed = (called & counted).sum() / max(size, 1)
        influence = np.where(counted, called - observed, 0.0) * (1 / np.sqrt(max(size, 1) * max(size - 1, 1)))
        self._observed.append(float(observed))
        self._each.append(float((influence**2).sum()))
        self._size += size
        self._total = self._total + influence
        self._counted = self._counted | counted

    def estimate(self, confidence: float) -> ShareEstimate:
        """Average over the targets; see `share`."""
        observed, each = np.array([self._observed]).T, np.array([self._each]).T
        mean = np.array([np.sum((self._total / len(observed)) ** 2)])
        records = np.array([int(np.sum(self._counted))])
        moments = Moments(observed, each, mean, records, self._sets)
        variance, free = moments.variance()
        value, sizes = float(moments.value[0]), (int(max(1, records[0])), max(1, self._size))
        ends = share_interval(value, float(variance[0]), float(free[0]), sizes, confidence)
        return ShareEstimate(mean=value, std=None if moments.std is None else float(moments.std[0]), interval=ends)
