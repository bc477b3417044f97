"""Audit one attack: from the scores of T targets to numbers with intervals, and the counts behind them."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from reticent import checks
from reticent.auditing import plot_data, transferred_threshold
from reticent.auditing.bootstrap import bootstrap
from reticent.auditing.intervals import exact_interval, ranked_auc_interval, tail
from reticent.auditing.roc import Point, Roc, allowed, curve, records_needed, tied, two_groups
from reticent.auditing.sorted_scores import Ranked
from reticent.auditing.weighted_roc import FIXED
from reticent.errors import InputError
from reticent.findings.attack import Audit, BalancedAccuracy, Overall, Redrawn, TargetAccuracy, TargetAudit
from reticent.findings.base import Plain
from reticent.findings.numbers import Area, OverallRate, Rate, ShareEstimate
from reticent.spec import canonical

FPRS = (0.1, 0.01, 0.001, 0.0001)
"""False-positive rates that are reported by default."""


def audit_attack(
    name: str,
    spec_facts: Plain,
    scores: ArrayLike,
    members: ArrayLike,
    targets: ArrayLike,
    *,
    rng: np.random.Generator,
    access: str = "",
    strong: bool | None = None,
    fprs: Sequence[float] = FPRS,
    confidence: float = 0.95,
    replicates: int = 1000,
    reference_scores: tuple[ArrayLike, ArrayLike] | None = None,
) -> Audit:
    """Measure one attack on T models: AUC, TPR at low false-positive rates, balanced accuracy; each, and over targets.

    Scores and members are ``(T, N)``. A rate that allows not even one false positive is not measurable: it has no TPR,
    and says how many non-members it needs. The threshold of the transferred balanced accuracy is chosen on the other
    targets, or on `reference_scores`: scores ``(R, N')`` and membership of reference models. `rng` is for the
    bootstrap. Cost: T sorts of N scores and the bootstrap, ``O(replicates T N)``.

    Raises:
        ShapeError: the arrays do not fit each other.
        InputError: NaN scores, a target without members or non-members, or a bad option.
    """
    values, rows = two_groups(checks.array(scores=scores, ndim=2), members, ndim=2)
    numbers = checks.integers(targets=targets, ndim=1, low=0)
    checks.shape(targets=numbers, expected=(len(values),), meaning="(targets,), one a row of `scores`")
    rates = _options(fprs, confidence, replicates)
    reference = None if reference_scores is None else two_groups(*reference_scores, ndim=2)
    rising = transferred_threshold.pooled(values)
    thresholds = transferred_threshold.thresholds(values, rows, reference, rising)
    counts, fewest = rows.sum(axis=1), int(rows.sum(axis=1).min())
    grid, found = plot_data.grid(values.shape[1] - fewest), np.empty((len(values), plot_data.POINTS), dtype=np.int64)
    edges, bins = plot_data.edges(values, rising), np.empty((len(values), 2, plot_data.BINS), dtype=np.int64)
    made: dict[int, tuple[TargetAudit, list[Point]]] = {}
    del rising

    def one_target(t: int, ranked: Ranked) -> None:
        vertices = curve(ranked)
        found[t], bins[t] = plot_data.found_at(vertices, grid), plot_data.counted(ranked, edges)
        threshold = None if thresholds is None else float(thresholds[t])
        made[t] = _target(int(numbers[t]), ranked, vertices, rates, confidence, threshold)

    drawn = bootstrap(values, rows, rates, replicates, rng, thresholds, look=one_target)
    audited = tuple(made[t][0] for t in range(len(values)))
    inside, outside = (min(getattr(one, kind) for one in audited) for kind in ("members", "non_members"))

    def mean(statistic: int, observed: Sequence[float], pairs: int = min(inside, outside)) -> ShareEstimate:
        return drawn.estimate(statistic, np.asarray(observed), pairs, confidence)

    def overall(index: int, fpr: float) -> OverallRate:
        points = [made[t][1][index] for t in range(len(values))]
        rate = _overall(fpr, points, inside, outside)
        if not rate.measurable:
            return rate
        tpr = mean(len(FIXED) + index, [point.tpr for point in points], inside)
        return rate.with_(tpr=tpr.with_(tied=tied(points)))

    transferred = [one.balanced_accuracy.transferred for one in audited]
    return Audit(
        name=name,
        spec=canonical(dict(spec_facts)),
        access=access,
        strong=strong,
        confidence=confidence,
        overall=Overall(
            auc=mean(0, [one.auc.value for one in audited]),
            tpr_at_fpr=tuple(overall(i, fpr) for i, fpr in enumerate(rates)),
            balanced_accuracy=BalancedAccuracy(
                transferred=None if thresholds is None else mean(2, [one for one in transferred if one is not None]),
                oracle=mean(1, [one.balanced_accuracy.oracle for one in audited]),
            ),
        ),
        targets=audited,
        roc=plot_data.mean_roc(grid, found, counts, confidence),
        histogram=plot_data.histogram(edges, bins.sum(axis=0)),
        bootstrap=Redrawn(
            replicates=drawn.replicates,
            over=drawn.over,
            training_sets=None if drawn.training_sets.count == len(values) else drawn.training_sets.count,
        ),
    )


def _options(fprs: Sequence[float], confidence: float, replicates: int) -> tuple[float, ...]:
    tail(confidence)
    if replicates < 100:
        raise InputError(f"replicates: expected at least 100 for an interval, got {replicates}")
    rates = tuple(float(fpr) for fpr in fprs)
    for fpr in rates:
        records_needed(fpr)
    if len(set(rates)) != len(rates):
        raise InputError(f"fprs: expected distinct rates, got {list(rates)}")
    return rates


def _target(
    model: int, ranked: Ranked, vertices: Roc, fprs: tuple[float, ...], confidence: float, threshold: float | None
) -> tuple[TargetAudit, list[Point]]:
    points = [vertices.at_fpr(fpr) for fpr in fprs]
    members, non_members = ranked.sizes
    transferred = None
    if threshold is not None:
        called, wrong = ranked.at_least(threshold)
        transferred = (called / members + 1 - wrong / non_members) / 2
    audited = TargetAudit(
        model=model,
        members=members,
        non_members=non_members,
        auc=Area(value=ranked.auc(), interval=ranked_auc_interval(ranked, confidence)),
        tpr_at_fpr=tuple(_rate(fpr, point, confidence) for fpr, point in zip(fprs, points, strict=True)),
        balanced_accuracy=TargetAccuracy(
            transferred=transferred, oracle=vertices.balanced_accuracy()[0], threshold=threshold
        ),
    )
    return audited, points


def _overall(fpr: float, points: Sequence[Point], inside: int, outside: int) -> OverallRate:
    """Summarise one rate without what is found at it, if every target can measure it."""
    unresolved = OverallRate(
        fpr=fpr,
        records_needed=records_needed(fpr),
        members=inside,
        non_members=outside,
        false_positives_allowed=allowed(fpr, outside),
    )
    if not unresolved.false_positives_allowed:
        return unresolved
    return unresolved.with_(measurable=True, realised_fpr=float(np.mean([point.realised_fpr for point in points])))


def _rate(fpr: float, point: Point, confidence: float) -> Rate:
    unresolved = Rate(
        fpr=fpr, records_needed=records_needed(fpr), false_positives_allowed=point.false_positives_allowed
    )
    if not point.false_positives_allowed:
        return unresolved
    return unresolved.with_(
        measurable=True,
        realised_fpr=point.realised_fpr,
        realised_fpr_interval=exact_interval(point.false_positives, point.non_members, confidence),
        threshold=point.threshold if math.isfinite(point.threshold) else None,
        true_positives=point.true_positives,
        tpr=point.tpr,
        interval=exact_interval(point.true_positives, point.members, confidence),
    )
