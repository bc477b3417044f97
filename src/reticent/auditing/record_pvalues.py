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

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtr

from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.crossed_variance import Moments, share_interval
from reticent.auditing.exposure import Exposure, Masked
from reticent.auditing.intervals import clopper_pearson
from reticent.auditing.record_residuals import residuals
from reticent.findings.numbers import ShareEstimate
from reticent.findings.record_tests import RateOfTenth, RecordMethod, RecordRates
from reticent.signals.matrix import Signals

FPR = 0.01
"""The rate of each record."""
SURE = 0.99
"""Of the intervals of the calibration, all tenths together."""
NEAR = 0.2
"""Student's tail serves where it gives non-members a rate this near to the one asked for, relatively."""
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
    signals: Signals, membership: Bools, targets: Ints, references: Ints, rng: np.random.Generator, fpr: float = FPR
) -> RecordPValues | None:
    """Compute the p-value of every target and record.

    Args:
        signals: of M models on N records; the plain query is used.
        membership: booleans ``(M, N)``.
        targets: rows ``(T,)``.
        references: rows that may be compared with; a target is left out of its own.
        rng: draws which model is left out where one is too many.
        fpr: the rate that they are for.

    Returns:
        The p-values; None where no record has 3 references without it. Cost: one pass over the margins.
    """
    among = np.zeros(len(membership), dtype=np.bool_)
    among[references] = True
    counts = np.maximum((~membership & among[:, None]).sum(axis=0) - 1, 0)
    if counts.max() < 2:
        return None
    standard = np.empty((len(targets), signals.records))
    ranks = np.empty_like(standard) if counts.min() + 1 >= 1 / fpr else None
    for block in signals.blocks():
        margins = np.asarray(signals.margins[:, block], dtype=np.float64)[:, :, 0]
        eligible = ~membership[:, block] & among[:, None]
        standard[:, block] = residuals(margins, eligible, counts[block], targets, rng)
        if ranks is not None:
            ranks[:, block] = _ranks(margins, eligible, counts[block], targets, rng)
    if ranks is not None:
        return RecordPValues(RecordMethod.RANK, ranks, counts)
    others = ~membership[targets] & ~np.isnan(standard)
    # Where the models agree to the last digit there is no law of margins, but their number.
    student = np.where(np.isposinf(standard), 1 / (counts + 1), stdtr(np.maximum(counts - 1, 1), -standard))
    # An interval does not help here: it is wide where models differ as a whole, and then Student's tail is off.
    near = abs(share(student <= fpr, others, SURE).mean - fpr) <= NEAR * fpr
    if near or len(targets) < 2:
        return RecordPValues(RecordMethod.STUDENT, student, counts)
    return RecordPValues(RecordMethod.RESIDUAL, _by_residuals(standard, others), counts)


def _ranks(margins: Floats, eligible: Bools, counts: Ints, targets: Ints, rng: np.random.Generator) -> Floats:
    """Rank each target among k eligible models, one of which is left out where the target is not itself one."""
    drawn = np.argmax(np.where(eligible, rng.random(margins.shape), -1.0), axis=0)
    spare = np.take_along_axis(margins, drawn[None], axis=0)[0]
    found = np.empty((len(targets), margins.shape[1]))
    for at, target in enumerate(targets.tolist()):
        own = margins[target]
        above = (eligible & (margins >= own)).sum(axis=0)
        found[at] = (1 + above - np.where(eligible[target], 1, spare >= own)) / (counts + 1)
    return found


def _by_residuals(standard: Floats, others: Bools) -> Floats:
    """Compare with the standardized margins of non-members of the other targets."""
    pool = np.sort(standard[others])
    found = np.full(standard.shape, np.nan)
    for at, (row, outside) in enumerate(zip(standard, others, strict=True)):
        own, known = np.sort(row[outside]), ~np.isnan(row)
        above = (len(pool) - np.searchsorted(pool, row[known])) - (len(own) - np.searchsorted(own, row[known]))
        found[at, known] = (1 + above) / (1 + len(pool) - len(own))
    return found


def record_rates(tests: RecordPValues, members: Bools, exposed: Exposure, confidence: float, fpr: float) -> RecordRates:
    """Say what is found at each record's own rate, and whether the rate is kept.

    Args:
        tests: p-values of T targets and N records.
        members: booleans ``(T, N)``.
        exposed: of the same records, for the calibration by tenths.
        confidence: of what is found, two-sided.
        fpr: the rate of each record.

    Returns:
        The finding. Cost: O(T N).
    """
    known = ~np.isnan(tests.p)
    called = known & (tests.p <= fpr)
    return RecordRates(
        method=tests.method,
        references=int(tests.references[tests.references > 1].min()),
        fpr=fpr,
        false_alarms=share(called, known & ~members, SURE),
        found=share(called, known & members, confidence),
        tenths=tuple(_tenths(called, known & ~members, exposed, fpr)),
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


def own_rates(tests: RecordPValues, members: Bools, confidence: float, fpr: float) -> OwnRates:
    """Say how often each record is found at its own rate, over the targets that were trained on it.

    Args:
        tests: p-values of T targets and N records.
        members: booleans ``(T, N)``.
        confidence: of the limits, two-sided, one record at a time.
        fpr: the rate.

    Returns:
        One entry a record.
    """
    known = members & ~np.isnan(tests.p)
    hits, trials = (known & (tests.p <= fpr)).sum(axis=0), known.sum(axis=0)
    some = np.maximum(trials, 1)
    ends = clopper_pearson(hits, some, confidence)
    return OwnRates(*(np.ma.MaskedArray(np.where(trials, one, 0.0), mask=trials == 0) for one in (hits / some, *ends)))


def _tenths(called: Bools, counted: Bools, exposed: Exposure, fpr: float) -> list[RateOfTenth]:
    found = []
    ordered: tuple[tuple[Literal["exposure", "scale"], Masked], ...]
    ordered = ("exposure", exposed.exposure), ("scale", exposed.std_out)
    for by, values in ordered:
        known = np.flatnonzero(~np.ma.getmaskarray(values))
        if len(known) < FEWEST_RECORDS:
            continue
        order = known[np.argsort(values.data[known], kind="stable")]
        for tenth, records in enumerate(np.array_split(order, 10), start=1):
            rate = share(called[:, records], counted[:, records], 1 - (1 - SURE) / 20)
            off = not rate.interval[0] <= fpr <= rate.interval[1]
            found.append(RateOfTenth(by=by, tenth=tenth, rate=rate, off=off))
    return found


def share(called: Bools, counted: Bools, confidence: float) -> ShareEstimate:
    """Average over T targets the share of those counted that are called, with an interval over models and records.

    Args:
        called: booleans ``(T, N)``.
        counted: booleans ``(T, N)``: whose share it is; each target counts some.
        confidence: two-sided.

    Returns:
        The mean share. The variance is that of a crossed design (`crossed_variance`).
    """
    sizes = counted.sum(axis=1)
    weight = 1 / np.sqrt(np.maximum(sizes, 1) * np.maximum(sizes - 1, 1))[:, None]
    observed = (called & counted).sum(axis=1) / np.maximum(sizes, 1)
    influence = np.where(counted, called - observed[:, None], 0.0) * weight
    each, mean = (influence**2).sum(axis=1), (influence.mean(axis=0) ** 2).sum()
    records = np.array([int(counted.any(axis=0).sum())])
    moments = Moments(observed[:, None], each[:, None], np.array([mean]), records)
    variance, free = moments.variance()
    value = float(moments.value[0])
    ends = share_interval(
        value, float(variance[0]), float(free[0]), (int(max(1, records[0])), int(max(1, sizes.sum()))), confidence
    )
    return ShareEstimate(mean=value, std=None if moments.std is None else float(moments.std[0]), interval=ends)
