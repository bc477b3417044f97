"""Groups held against the limits that are given for all records: has any been shown to be above?

This finds a leak of few records, which the mean over all hides, and asks no more: who wants every group shown to be
*below* a limit gives that of groups (`--max-group-auc`), which small groups seldom meet.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from reticent.findings.audit import AuditDocument, Group
from reticent.findings.gate import Check, Outcome
from reticent.gating.compare import Objection, unjudged
from reticent.gating.limits import Limits
from reticent.say import gate as say
from reticent.say.grammar import short
from reticent.say.groups import called


@dataclass(frozen=True)
class _Shown:
    """What is shown of one group."""

    name: str
    attack: str
    estimate: float
    least: float
    upper: float
    """Up to which value the group is not excluded."""
    wrong: float | None = None
    """Of a TPR, the group's own false-positive rate."""


def none_above(document: AuditDocument, limits: Limits, doubts: Sequence[Objection]) -> list[Check]:
    """Hold the groups against the limits of all records, where there are none of groups.

    A group fails by the lower limit that holds for all groups and attacks together (`auditing.group_limits`): of its
    AUC; or of the share that is found beyond the group's own false alarms, at the rate of the groupings. A rate that
    allows more false alarms finds at least as much; of one that allows fewer nothing is known.
    """
    checks = []
    if limits.max_auc is not None and limits.max_group_auc is None:
        name = f"AUC of no group shown above {limits.max_auc:g}"
        checks.append(_check(name, limits.max_auc, _areas(document), limits, doubts))
    for rate, limit in limits.max_tpr if limits.max_group_tpr is None else ():
        name = f"TPR at FPR {rate:g} of no group shown above {limit:g}"
        checks.append(_check(name, limit, _excesses(document, rate), limits, doubts))
    return [check for check in checks if check is not None]


def _areas(document: AuditDocument) -> list[_Shown]:
    return [
        _Shown(name, found.attack, found.auc, found.least, 1.0 if group.auc is None else group.auc.interval[1])
        for name, _, group in _groups(document)
        if (found := group.area_shown) is not None
    ]


def _excesses(document: AuditDocument, rate: float) -> list[_Shown]:
    return [
        _Shown(
            name, found.attack, found.tpr, max(0.0, found.least), 1.0 if group.tpr is None else group.tpr.interval[1]
        )
        for name, fpr, group in _groups(document)
        if (found := group.excess_shown) is not None and fpr is not None and rate >= fpr * (1 - 1e-9)
    ]


def _groups(document: AuditDocument) -> list[tuple[str, float | None, Group]]:
    names = document.data.class_names
    return [
        (f"{short(one.by)} {called(one.by, group.name, names)}", one.fpr, group)
        for one in document.groups
        for group in one.groups
    ]


def _check(
    name: str, limit: float, found: Sequence[_Shown], limits: Limits, doubts: Sequence[Objection]
) -> Check | None:
    """Fail if a group is shown to be above; None where there is no group that could be."""
    if not found:
        return None
    fatal = [doubt for doubt in doubts if doubt.fatal]
    if fatal:
        return unjudged(name, limit, fatal[0], limits.allow)
    top = max(found, key=lambda one: one.least)
    above, unresolved = top.least > limit, [one.name for one in found if one.upper > limit]
    return Check(
        name=name,
        limit=limit,
        outcome=Outcome.FAILED if above else Outcome.PASSED,
        message=say.group_above(top.name, top.attack, top.estimate, top.least, limit, top.wrong)
        if above
        else say.no_group_above(top.name, top.least, limit, unresolved, len(found)),
        estimate=top.estimate,
        bound=top.least,
        attack=f"{top.attack} in {top.name}",
        side="at least",
    )
