"""What single groups are shown to leak, with limits that hold for all groups, of all groupings, under all attacks.

`groups` describes every group under the verdict's attack, each number by itself. Here the question is whether any
group leaks so much that it belongs into the verdict, or fails a limit: a search through G groups and K attacks. So
every limit stands at the confidence ``1 - (1 - c) / (G K)`` (Bonferroni), and p-values of differences are multiplied by
their number.

A group of few records may be told apart perfectly by accident, with no spread to show for it. The lower limit of its
AUC is therefore the lower one of two: that on the logit scale with the group's own variance, and that on the plain
scale with a variance no smaller than the other groups' records would have (`groups.careful`).
The upper limit is likewise the higher one.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.special import stdtr, stdtrit

from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.group_rates import Seen, seen
from reticent.auditing.groups import FEWEST, against_others, careful
from reticent.auditing.intervals import area_interval, tail
from reticent.auditing.moments import Moments, share_interval
from reticent.auditing.partition import Partition
from reticent.findings.audit import Grouping
from reticent.findings.group_limits import AreaBackwards, AreaShown, ExcessShown, ExposedGroup

Shown = TypeVar("Shown", AreaShown, ExcessShown)
FEWEST_ALONE = 20
"""Members, and non-members, that a group needs where one model is audited: as `verdict.FEWEST`."""


@dataclass(frozen=True, eq=False)
class GroupLimits:
    """What is shown of each group.

    Attributes:
        areas: one entry a partition and group; None where it is too small.
        excesses: the same, of the share found beyond false alarms; None where no rate is measurable.
        backwards: the same, of an attack that ranks members below non-members; None where none is shown to.
        exposed: the group that belongs into the verdict, or None.
        first: what is seen under the verdict's attack, one entry a partition.
    """

    areas: tuple[tuple[AreaShown | None, ...], ...]
    excesses: tuple[tuple[ExcessShown | None, ...], ...]
    backwards: tuple[tuple[AreaBackwards | None, ...], ...]
    exposed: ExposedGroup | None
    first: tuple[Seen, ...]


def group_limits(
    partitions: Sequence[Partition],
    scores: Mapping[str, Floats],
    members: Bools,
    *,
    first: str,
    fpr: float | None = None,
    confidence: float = 0.95,
    among: Collection[str] | None = None,
) -> GroupLimits:
    """Look at every group under every attack.

    `first` is the verdict's attack, which goes before the others where it shows a group; `fpr` is the rate over all
    records whose threshold is used; `among` names the attacks that may expose a group, by default all. Cost: a sort a
    target, attack and partition.
    """
    count = sum(len(one.names) for one in partitions)
    comparisons = len(scores) * sum(1 if len(one.names) == 2 else len(one.names) for one in partitions)
    strict = 1 - (1 - confidence) / max(1, count * len(scores))
    seen = [[_seen(one, name, own, members, fpr, strict) for name, own in scores.items()] for one in partitions]
    candidates = [
        exposed
        for partition, attacks in zip(partitions, seen, strict=True)
        for one in attacks
        for exposed in _exposed(partition, one, comparisons, 2 * tail(confidence), count, len(scores))
        if among is None or exposed.attack in among
    ]
    candidates = [one for one in candidates if one.attack == first] or candidates
    return GroupLimits(
        tuple(tuple(map(_largest, zip(*(one.areas for one in attacks), strict=True))) for attacks in seen),
        tuple(tuple(map(_largest, zip(*(one.excesses for one in attacks), strict=True))) for attacks in seen),
        tuple(tuple(map(_lowest, zip(*(one.backwards for one in attacks), strict=True))) for attacks in seen),
        max(candidates, key=lambda one: (one.auc - one.others, one.auc_least), default=None),
        tuple(one.told for attacks in seen for name, one in zip(scores, attacks, strict=True) if name == first),
    )


def limited(grouping: Grouping, limits: GroupLimits, at: int) -> Grouping:
    """Put what is shown of each group into the grouping, which is the partition of that number."""
    told = zip(grouping.groups, limits.areas[at], limits.excesses[at], limits.backwards[at], strict=True)
    groups = (one.with_(area_shown=a, excess_shown=e, backwards=b) for one, a, e, b in told)
    return grouping.with_(groups=tuple(groups))


@dataclass(frozen=True, eq=False)
class _Seen:
    """One grouping under one attack."""

    told: Seen
    area: Moments
    chosen: Ints
    areas: list[AreaShown | None]
    excesses: list[ExcessShown | None]
    backwards: list[AreaBackwards | None]


def _seen(
    partition: Partition, attack: str, scores: Floats, members: Bools, fpr: float | None, confidence: float
) -> _Seen:
    codes, count = partition.codes, len(partition.names)
    told = seen(scores, members, codes, count, fpr)
    inside, outside, area = told.inside, told.outside, told.area
    few = FEWEST if area.sets.count > 1 else FEWEST_ALONE
    chosen = np.flatnonzero((inside.min(axis=0) >= few) & (outside.min(axis=0) >= few))
    shown: list[AreaShown | None] = [None] * count
    backwards: list[AreaBackwards | None] = [None] * count
    pairs = np.minimum(inside, outside).min(axis=0)
    for g, (least, most) in zip(chosen.tolist(), _ends(area, chosen, pairs, confidence), strict=True):
        auc = float(area.value[g])
        shown[g] = AreaShown(attack=attack, auc=auc, least=least)
        backwards[g] = AreaBackwards(attack=attack, auc=auc, most=most) if most < 0.5 else None
    excesses: list[ExcessShown | None] = [None] * count
    if told.found is not None and told.wrong is not None:
        found, wrong = told.found, told.wrong
        # Two limits together: each at half of what is left.
        ends = [_share_limits(one, kind, 1 - (1 - confidence) / 2) for one, kind in ((found, inside), (wrong, outside))]
        for g in chosen.tolist():
            (tpr, fprs), (low, _), (_, high) = (float(one.value[g]) for one in (found, wrong)), ends[0][g], ends[1][g]
            excesses[g] = ExcessShown(attack=attack, tpr=tpr, tpr_least=low, fpr=fprs, fpr_most=high)
    return _Seen(told, area, chosen, shown, excesses, backwards)


def _ends(area: Moments, chosen: Ints, pairs: Ints, confidence: float) -> Iterator[tuple[float, float]]:
    """Bound each chosen group's AUC."""
    variance, free = area.variance()
    ample = careful(area, chosen) + area.by_models()[chosen]
    arms = -stdtrit(free[chosen], tail(confidence)) * np.sqrt(ample)
    for g, arm in zip(chosen.tolist(), arms.tolist(), strict=True):
        value = float(area.value[g])
        low, high = area_interval(value, float(variance[g]), float(free[g]), int(pairs[g]), confidence)
        yield max(0.0, min(low, value - arm)), min(1.0, max(high, value + arm))


def _share_limits(rate: Moments, counts: Ints, confidence: float) -> list[tuple[float, float]]:
    variance, free = rate.variance()
    trials = counts.sum(axis=0)
    return [
        share_interval(
            float(value),
            float(variance[g]),
            float(free[g]),
            (max(1, int(rate.records[g])), max(1, int(trials[g]))),
            confidence,
        )
        for g, value in enumerate(rate.value)
    ]


def _largest(found: Sequence[Shown | None]) -> Shown | None:
    """Choose the attack that shows most."""
    return max((one for one in found if one is not None), key=lambda one: one.least, default=None)


def _lowest(found: Sequence[AreaBackwards | None]) -> AreaBackwards | None:
    """Choose the attack that is the furthest below chance."""
    return min((one for one in found if one is not None), key=lambda one: one.most, default=None)


def _exposed(
    partition: Partition, seen: _Seen, comparisons: int, level: float, groups: int, attacks: int
) -> Iterator[ExposedGroup]:
    """Name the groups of one grouping that leak, and more than the others, under one attack."""
    if len(seen.chosen) < 2:
        return
    gaps, variance, free = against_others(seen.area, seen.chosen)
    p = np.minimum(1.0, comparisons * 2 * stdtr(free, -np.abs(gaps) / np.sqrt(variance)))
    for g, gap, corrected in zip(seen.chosen.tolist(), gaps.tolist(), p.tolist(), strict=True):
        area, excess = seen.areas[g], seen.excesses[g]
        if area is None or gap <= 0 or corrected > level or area.least <= 0.5:
            continue
        yield ExposedGroup(
            by=partition.by,
            name=partition.names[g],
            records=int(seen.area.records[g]),
            attack=area.attack,
            auc=area.auc,
            auc_least=area.least,
            others=min(1.0, max(0.0, area.auc - gap)),
            p_corrected=corrected,
            groups=groups,
            attacks=attacks,
            tpr=None if excess is None else excess.tpr,
            false_alarms=None if excess is None else excess.fpr,
        )
