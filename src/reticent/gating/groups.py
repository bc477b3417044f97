"""Groups held against the limits that are given for all records: has any been shown to be above?

This finds a leak of few records, which the mean over all hides, and asks no more: who wants every group shown to be
*below* a limit gives that of groups (`--max-group-auc`), which small groups seldom meet.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from reticent.findings.audit import AuditDocument, Group
from reticent.findings.gate import Check, Outcome
from reticent.findings.numbers import ShareEstimate
from reticent.gating.compare import Objection, unjudged
from reticent.gating.limits import Limits
from reticent.say import gate as say
from reticent.say.grammar import short
from reticent.say.groups import called


@dataclass(frozen=True)
class _Shown:
    attack: str
    estimate: float
    least: float
    upper: float
    """Up to which value the group is not excluded."""
    wrong: float | None = None
    """Of a TPR, the group's own false-positive rate."""


Groups = Sequence[tuple[str, _Shown | None]]
"""Groups by name; None where one is too small for anything to be shown of it."""


def none_above(document: AuditDocument, limits: Limits, doubts: Sequence[Objection]) -> list[Check]:
    """Hold the groups against the limits of all records, where there are none of groups.

    A group fails by the lower limit that holds for all groups and attacks together (`auditing.group_limits`): of its
    AUC; or of the share that is found beyond the group's own false alarms, at the rate of the groupings. A rate that
    allows more false alarms finds at least as much; of one that allows fewer nothing is known.
    """
    checks, groups = list[Check](), _groups(document)
    if limits.max_auc is not None and limits.max_group_auc is None:
        name = f"AUC of no group shown above {limits.max_auc:g}"
        found = [(group, _area(one)) for group, _, one in groups]
        checks += _check(name, limits.max_auc, found, limits, doubts)
    for rate, limit in limits.max_tpr if limits.max_group_tpr is None else ():
        name = f"TPR at FPR {rate:g} of no group shown above {limit:g}"
        found = [(group, _excess(one)) for group, fpr, one in groups if fpr is not None and rate >= fpr * (1 - 1e-9)]
        checks += _check(name, limit, found, limits, doubts)
    return checks


def _area(group: Group) -> _Shown | None:
    found = group.area_shown
    return None if found is None else _Shown(found.attack, found.auc, found.least, _upper(group.auc))


def _excess(group: Group) -> _Shown | None:
    found = group.excess_shown
    if found is None:
        return None
    return _Shown(found.attack, found.tpr, max(0.0, found.least), _upper(group.tpr), found.fpr)


def _upper(found: ShareEstimate | None) -> float:
    return 1.0 if found is None else found.interval[1]


def _groups(document: AuditDocument) -> list[tuple[str, float | None, Group]]:
    names = document.data.class_names
    return [
        (f"{short(one.by)} {called(one.by, group.name, names)}", one.fpr, group)
        for one in document.groups
        for group in one.groups
    ]


def _check(name: str, limit: float, groups: Groups, limits: Limits, doubts: Sequence[Objection]) -> list[Check]:
    """Fail if a group is shown to be above; no check where there are no groups."""
    if not groups:
        return []
    fatal = [doubt for doubt in doubts if doubt.fatal]
    if fatal:
        return [unjudged(name, limit, fatal[0], limits.allow)]
    measured = [(group, found) for group, found in groups if found is not None]
    unresolved = tuple(group for group, one in groups if one is None or one.least <= limit < one.upper)
    if not measured:
        message = say.no_group_measured(unresolved)
        passed = Check(name=name, limit=limit, outcome=Outcome.PASSED, message=message, unresolved=unresolved)
        return [passed.with_(none_resolved=True)]
    top, found = max(measured, key=lambda one: one[1].least)
    above = found.least > limit
    return [
        Check(
            name=name,
            limit=limit,
            outcome=Outcome.FAILED if above else Outcome.PASSED,
            message=say.group_above(top, found.attack, found.estimate, found.least, limit, found.wrong)
            if above
            else say.no_group_above(top, found.least, limit, unresolved, len(measured)),
            estimate=found.estimate,
            bound=found.least,
            attack=f"{found.attack} in {top}",
            unresolved=unresolved,
            none_resolved=len(unresolved) == len(groups),
            side="at least",
        )
    ]
