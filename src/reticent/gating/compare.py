"""Numbers with intervals held against one limit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reticent.auditing.intervals import widened
from reticent.findings.gate import Check, Doubt, Outcome
from reticent.findings.numbers import Estimate
from reticent.say import gate as say


@dataclass(frozen=True)
class Found:
    """One number, of an attack or a group, with its interval.

    Its own limit is `scale` times the lower limit of the summary: the false-positive rate asked for, over the one that
    thresholds chosen on the same non-members have (`verdict.expected_fpr`). As an ROC curve is concave, TPR over FPR
    falls along it, so that a TPR at the rate itself is at least that part of what was measured. The interval of an AUC
    (`area`) is widened as it was made.
    """

    name: str
    summary: Estimate
    confidence: float
    scale: float = 1.0
    area: bool = False

    @property
    def upper(self) -> float:
        """The upper confidence limit."""
        return self.summary.interval[1]

    @property
    def sound(self) -> bool:
        """Whether the estimate lies in its own interval."""
        low, high = self.summary.interval
        return low <= self.summary.mean <= high

    def lower(self, choices: int) -> float:
        """Return the lower confidence limit, widened for a choice among several."""
        return self.scale * widened(self.summary, self.confidence, choices, area=self.area)[0]


@dataclass(frozen=True)
class Objection:
    """Why a pass would not mean what it says; a fatal reason takes the meaning from a failure too."""

    code: Doubt
    message: str
    fatal: bool = False


def unjudged(name: str, limit: float, why: Objection, allow: Sequence[Doubt], **facts: Any) -> Check:
    """Make a check that cannot be judged, or is skipped where that is allowed."""
    skipped = why.code in allow
    return Check(
        name=name,
        limit=limit,
        outcome=Outcome.SKIPPED if skipped else Outcome.CANNOT_JUDGE,
        message=f"{why.message} (allowed)" if skipped else why.message,
        reason=why.code,
        **facts,
    )


def compare(
    name: str,
    limit: float,
    given: Sequence[Found],
    absent: Sequence[Objection],
    doubts: Sequence[Objection],
    allow: Sequence[Doubt],
    each: str,
) -> Check:
    """Hold the upper limit of every number found against a limit.

    It is an intersection-union test: the pass says "all are at or below the limit", and is given only if each alone is
    shown to be, at the full level of one; whichever is truly above, its own interval errs at that rate at most. So a
    pass needs no correction for the number of comparisons (Berger 1982). "Above the limit" is the other way round, said
    if any is; its intervals are widened for all.
    """
    found = [one for one in given if one.sound]
    unsound = [one.name for one in given if not one.sound]
    absent = [*absent, *([Objection(Doubt.NO_INTERVAL, say.outside(unsound))] if unsound else [])]
    lines = tuple(say.evidence(one.name, one.summary, one.confidence, limit) for one in found)
    fatal = [doubt for doubt in doubts if doubt.fatal]
    if fatal or not found:
        # Only the reasons of its emptiness count: to allow another doubt would make a pass of nothing.
        why = sorted(absent, key=lambda doubt: doubt.code in allow)
        nothing = Objection(Doubt.NO_INTERVAL, say.no_number(each))
        return unjudged(name, limit, [*fatal, *why, nothing][0], allow, evidence=lines)
    above = max(found, key=lambda one: one.lower(len(found)))
    alone = max(found, key=lambda one: one.summary.interval[0])
    top = max(found, key=lambda one: one.upper)
    if (lower := above.lower(len(found))) > limit:
        message = say.above(above.name, above.summary.mean, lower, limit, len(found), each, above.scale < 1)
        return _check(Outcome.FAILED, name, limit, above, message, lines)
    if alone.summary.interval[0] > limit:
        lower = alone.lower(len(found))
        message = say.above_alone(alone.name, alone.summary, lower, limit, len(found), each, alone.scale < 1)
        return _check(Outcome.FAILED, name, limit, alone, message, lines)
    if top.upper > limit:
        return _check(Outcome.FAILED, name, limit, top, say.not_below(top.name, top.summary, limit), lines)
    told = [*absent, *doubts]
    unmet = [doubt for doubt in told if doubt.code not in allow]
    if unmet:
        facts = {"estimate": top.summary.mean, "bound": top.upper, "attack": top.name}
        return unjudged(name, limit, unmet[0], allow, evidence=lines, **facts)
    message = say.below(top.name, top.upper, limit, len(found), each, [doubt.message for doubt in told])
    return _check(Outcome.PASSED, name, limit, top, message, lines)


def _check(outcome: Outcome, name: str, limit: float, one: Found, message: str, lines: tuple[str, ...]) -> Check:
    return Check(
        name=name,
        limit=limit,
        outcome=outcome,
        message=message,
        estimate=one.summary.mean,
        bound=one.upper,
        attack=one.name,
        evidence=lines,
    )
