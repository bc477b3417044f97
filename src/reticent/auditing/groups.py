"""Which groups of records give themselves away more than the others, and whether that is more than chance.

Each number has an interval of its own, at the audit's confidence, so that it can be read, and held against a limit, by
itself. Looking through a table of groups for the highest one is another matter: that is corrected where it is done. A
group stands out only if its difference from the others has a p-value below the level after Holm's correction for all
groups, and only then is one called the most exposed.

The difference is that of AUCs *inside* groups: a group's own, less the mean of the other groups' own (weighted by their
records). Scores of different groups are never compared, since an attack that scores one class higher than another tells
members from non-members worse over all classes than within each: each class would stand out against all others pooled.
The variance of a group's AUC is taken to be no smaller than what records of the other groups have, so that a small
group whose members happen to be told apart perfectly is not beyond doubt.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.special import bdtr, stdtr, stdtrit

from reticent import checks
from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.comparison.multiple import holm
from reticent.auditing.exposure import Exposure, Masked
from reticent.auditing.group_rates import Seen, seen
from reticent.auditing.intervals import area_interval, tail
from reticent.auditing.moments import Moments, share_interval
from reticent.auditing.partition import Partition
from reticent.auditing.roc import tied, two_groups
from reticent.findings.audit import Group, GroupDifference, Grouping
from reticent.findings.base import Interval
from reticent.findings.numbers import Estimate, ShareEstimate
from reticent.findings.population import Population

FEWEST = 5
"""Members, and non-members, that every target must have in a group for it to be measurable."""


def groups(
    partition: Partition,
    scores: Floats,
    members: Bools,
    exposure: Exposure,
    *,
    attack: str,
    fpr: float | None = None,
    confidence: float = 0.95,
    told: Seen | None = None,
) -> Grouping:
    """Audit every group of records, and say whether one stands out.

    `fpr` is the rate over all records whose threshold is used; None if none is measurable. The confidence is that of
    every interval, each by itself, and of the finding. Cost: a sort a target, whatever the number of groups.
    """
    values, rows = two_groups(checks.array(scores=scores, ndim=2), members, ndim=2)
    checks.shape(codes=partition.codes, expected=(values.shape[1],), meaning="(records,)")
    count = len(partition.names)
    told = seen(values, rows, partition.codes, count, fpr) if told is None else told
    inside, outside, area, rate = told.inside, told.outside, told.area, told.found
    measurable = (inside.min(axis=0) >= FEWEST) & (outside.min(axis=0) >= FEWEST)
    # One threshold serves all groups, so equal scores decide the rate of all or of none.
    ties = tied(told.points)
    pairs, trials = np.minimum(inside, outside).min(axis=0).tolist(), inside.sum(axis=0).tolist()
    aucs = _estimates(area, measurable, lambda g, found: area_interval(*found, pairs[g], confidence))
    if rate is None:
        tprs: list[ShareEstimate | None] = [None] * count
    else:
        tprs = _estimates(
            rate, measurable, lambda g, found: share_interval(*found, (int(area.records[g]), trials[g]), confidence)
        )
    entries = [
        Group(
            name=name,
            records=int(area.records[g]),
            members=float(inside[:, g].mean()),
            non_members=float(outside[:, g].mean()),
            auc=auc,
            tpr=None if tpr is None else tpr.with_(tied=ties),
            exposure=mean(exposure.exposure, exposure.exposure_error, partition.codes == g, confidence),
            memorisation=mean(
                exposure.memorisation, exposure.memorisation_error, partition.codes == g, confidence, limit=1.0
            ),
            difference=difference,
            stands_out=_stands_out(difference, confidence),
        )
        for g, (name, auc, tpr, difference) in enumerate(
            zip(partition.names, aucs, tprs, _differences(area, measurable, confidence), strict=True)
        )
    ]
    return Grouping(
        by=partition.by,
        attack=attack,
        fpr=fpr,
        confidence=confidence,
        records_needed=records_needed(len(values), float(rows.mean())),
        cut=partition.cut,
        groups=tuple(entries),
        most_exposed=_most(entries),
    )


def allow_for_unlearned(grouping: Grouping, population: Population) -> Grouping:
    """Name no group as standing out where most models did not learn; to be asked only where no leak is found."""
    if not population.mostly_unlearned or not any(group.stands_out for group in grouping.groups):
        return grouping
    told = tuple(group.with_(stands_out=None) for group in grouping.groups)
    return grouping.with_(groups=told, most_exposed=None, unlearned=True)


def records_needed(targets: int, share: float) -> int:
    """Say from how many records on a group is measurable in 19 of 20 draws of the membership.

    Then all of T targets have `FEWEST` members and non-members.
    """
    n = 2 * FEWEST
    while targets * (bdtr(FEWEST - 1, n, share) + bdtr(FEWEST - 1, n, 1 - share)) > 0.05 and n < 10**6:
        n += 1 + n // 100
    return n


def mean(
    values: Masked, errors: Masked, chosen: Bools, confidence: float, limit: float | None = None
) -> Estimate | None:
    """Average a number over the records of a group.

    Records are the sample: the interval is Student's over them, for these models. How other models would move all of a
    group's records together is not in it. It is no shorter than the records' own standard errors allow, so that equal
    values, such as no memorisation at all in few models, are not taken for certainty. Values ``(N,)`` lie from -limit
    to limit. The `std` is over records; None for fewer than two that are known.
    """
    known = values[chosen].compressed()
    if len(known) < 2:
        return None
    own = errors[chosen].compressed()
    variance = max(float(known.var(ddof=1)) / len(known), float((own**2).sum()) / len(known) ** 2)
    centre, arm = float(known.mean()), -float(stdtrit(len(known) - 1, tail(confidence))) * variance**0.5
    low, high = centre - arm, centre + arm
    if limit is not None:
        low, high = max(low, -limit), min(high, limit)
    return Estimate(mean=centre, std=float(known.std(ddof=1)), interval=(low, high))


def _estimates(
    moments: Moments, measurable: Bools, bound: Callable[[int, tuple[float, float, float]], Interval]
) -> list[ShareEstimate | None]:
    """Write each group's mean down, with the interval that its value, variance and degrees of freedom give."""
    variance, freedom = moments.variance()
    found: list[ShareEstimate | None] = [None] * len(variance)
    for g in np.flatnonzero(measurable).tolist():
        value, std = float(moments.value[g]), None if moments.std is None else float(moments.std[g])
        interval = bound(g, (value, float(variance[g]), float(freedom[g])))
        found[g] = ShareEstimate(mean=value, std=std, interval=interval, freedom=float(freedom[g]))
    return found


def _differences(area: Moments, measurable: Bools, confidence: float) -> list[GroupDifference | None]:
    """Compare each measurable group with the other ones."""
    found: list[GroupDifference | None] = [None] * len(measurable)
    chosen = np.flatnonzero(measurable)
    if len(chosen) < 2:
        return found
    gap, variance, free = against_others(area, chosen)
    p = 2 * stdtr(free, -np.abs(gap) / np.sqrt(variance))
    # Two groups make one comparison, seen from either side.
    corrected = np.full(2, p.max()) if len(chosen) == 2 else holm(p)
    arms = -stdtrit(free, tail(confidence)) * np.sqrt(variance)
    for g, value, arm, one, own in zip(chosen, gap, arms, p, corrected, strict=True):
        low, high = max(-1.0, float(value - arm)), min(1.0, float(value + arm))
        found[g] = GroupDifference(mean=float(value), interval=(low, high), p=float(one), p_corrected=float(own))
    return found


def against_others(area: Moments, chosen: Ints) -> tuple[Floats, Floats, Floats]:
    """Return each chosen group's difference from the others, its variance and the degrees of freedom, ``(G,)`` each."""
    weight = area.records[chosen].astype(np.float64)
    others = weight.sum() - weight
    observed, each, mean = area.observed[:, chosen], area.each[:, chosen], area.mean[chosen]
    rest = _others(observed * weight) / others
    rest_each, rest_mean = _others(each * weight**2) / others**2, _others(mean * weight**2) / others**2
    records = area.records[chosen]
    moments = Moments(observed - rest, each + rest_each, mean + rest_mean, records, area.sets)
    variance = careful(area, chosen) + rest_mean + moments.by_models()
    return moments.value, variance, moments.freedom


def careful(area: Moments, chosen: Ints) -> Floats:
    """Return each chosen group's variance over records ``(G,)``, no smaller than the others' records would have."""
    weight, mean = area.records[chosen].astype(np.float64), area.mean[chosen]
    # What a record of the other groups adds to a variance, on average, over the number of records here.
    usual = _others(mean * weight**2) / np.maximum(_others(weight), 1) / weight
    # One record misplaced by half, where nothing varies.
    least = 1 / (weight**2 * len(area.observed))
    return np.asarray(np.max([mean, usual, least], axis=0))


def _others(values: Floats) -> Floats:
    """Sum over all groups but each one."""
    return np.asarray(values.sum(axis=-1, keepdims=True) - values)


def _stands_out(difference: GroupDifference | None, confidence: float) -> Literal["more", "less"] | None:
    if difference is None or difference.p_corrected > 2 * tail(confidence):
        return None
    return "more" if difference.mean > 0 else "less"


def _most(entries: list[Group]) -> str | None:
    """Find the group with the largest difference among those that stand out upwards."""
    more = [(group.difference.mean, group.name) for group in entries if group.stands_out == "more" and group.difference]
    return max(more, key=lambda one: one[0])[1] if more else None
