"""One check of a gate, and how doubts about an audit bear on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from reticent.auditing.verdict import widened
from reticent.findings.numbers import Estimate
from reticent.rounding import down, fraction, up

DIGITS = 4
"""Decimals of what is held against a limit."""

Outcome = Literal["passed", "failed", "cannot judge", "skipped"]

FEWEST_TARGETS = 5
"""Models from which the interval over models has its confidence; with two to four it is too short."""


@dataclass(frozen=True)
class Check:
    """One limit, and what became of it.

    Attributes:
        name: such as "TPR at FPR 0.01 at most 0.02".
        limit: the limit.
        outcome: "passed", "failed", "cannot judge", or "skipped": it cannot be judged, and that was allowed.
        message: why, for people.
        estimate: the estimate that decided, or None.
        bound: its confidence limit that was judged, or None.
        attack: the attack that decided, or None.
        reason: why it cannot be judged, in one word such as "not-measurable"; None if it was judged.
        evidence: one line for each thing compared.
        side: what the bound says of the true value: "at most" of an upper limit, "at least" of a lower one.
    """

    name: str
    limit: float
    outcome: Outcome
    message: str
    estimate: float | None = None
    bound: float | None = None
    attack: str | None = None
    reason: str | None = None
    evidence: tuple[str, ...] = ()
    side: Literal["at most", "at least"] = "at most"


@dataclass(frozen=True)
class Doubt:
    """Why a pass would not mean what it says.

    Attributes:
        reason: one word.
        message: why, for people.
        fatal: it also takes the meaning from a failure.
    """

    reason: str
    message: str
    fatal: bool = False


@dataclass(frozen=True)
class Found:
    """One number with its interval.

    Attributes:
        name: of the attack, or of the group.
        summary: the estimate.
        confidence: of its interval.
        scale: the number's own limit is this times the lower limit of the summary; see `leak.threshold_scale`.
    """

    name: str
    summary: Estimate
    confidence: float
    scale: float = 1.0

    @property
    def upper(self) -> float:
        """The upper confidence limit."""
        return self.summary.interval[1]

    def lower(self, choices: int) -> float:
        """Return the lower confidence limit, widened for a choice among several."""
        return self.scale * widened(self.summary, self.confidence, choices)[0]


def estimate(value: Any) -> Estimate | None:
    """Read an estimate of a document."""
    interval = value.get("interval") if isinstance(value, Mapping) else None
    if not isinstance(interval, Sequence) or isinstance(interval, str) or len(interval) != 2:
        return None
    low, mean, high = (number(item) for item in (interval[0], value.get("mean"), interval[1]))
    if low is None or mean is None or high is None or not 0 <= low <= mean <= high <= 1:
        return None
    freedom = number(value.get("freedom"))
    freedom = freedom if freedom is None or freedom > 0 else None
    return Estimate(
        mean=mean, std=number(value.get("std")), interval=(low, high), freedom=freedom, tied=value.get("tied")
    )


def number(value: Any) -> float | None:
    """Read a finite number of a document."""
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if plain and np.isfinite(value) else None


def unjudged(name: str, limit: float, doubt: Doubt, allow: Sequence[str], **facts: Any) -> Check:
    """Make a check that cannot be judged, or is skipped where that is allowed."""
    if doubt.reason in allow:
        return Check(name, limit, "skipped", f"{doubt.message} (allowed)", reason=doubt.reason, **facts)
    return Check(name, limit, "cannot judge", doubt.message, reason=doubt.reason, **facts)


def compare(
    name: str,
    limit: float,
    found: Sequence[Found],
    absent: Sequence[Doubt],
    doubts: Sequence[Doubt],
    allow: Sequence[str],
    each: str,
) -> Check:
    """Hold the upper limit of every number found against a limit.

    It is an intersection-union test: the pass says "all are at or below the limit", and is given only if each alone is
    shown to be, at the full level of one; whichever is truly above, its own interval errs at that rate at most. So a
    pass needs no correction for the number of comparisons (Berger 1982). "Above the limit" is the other way round, said
    if any is; its intervals are widened for all.
    """
    above = max(found, key=lambda one: one.lower(len(found)), default=None)
    top = max(found, key=lambda one: one.upper, default=None)
    evidence = tuple(_evidence(one, limit) for one in found)
    fatal = [doubt for doubt in doubts if doubt.fatal]
    if fatal or above is None or top is None:
        # Only the reasons of its emptiness count: to allow another doubt would make a pass of nothing.
        why = sorted(absent, key=lambda doubt: doubt.reason in allow)
        nothing = Doubt("no-interval", f"the audit has no number for any of the {each}")
        return unjudged(name, limit, [*fatal, *why, nothing][0], allow, evidence=evidence)
    if above.lower(len(found)) > limit:
        return _failed(name, limit, above, _above(above, limit, len(found), each), evidence)
    if top.upper > limit:
        return _failed(name, limit, top, _not_below(top, limit), evidence)
    facts: dict[str, Any] = {"estimate": top.summary.mean, "bound": top.upper, "attack": top.name, "evidence": evidence}
    told = [*absent, *doubts]
    unmet = [doubt for doubt in told if doubt.reason not in allow]
    if unmet:
        return unjudged(name, limit, unmet[0], allow, **facts)
    message = (
        f"the upper limit of {_all(len(found), each)} is at or below {limit:g}; the highest is {up(top.upper, limit)} "
    )
    allowed = "".join(f"; allowed: {doubt.message}" for doubt in told)
    return Check(name, limit, "passed", f"{message}({top.name}){allowed}", **facts)


def _evidence(one: Found, limit: float) -> str:
    ends = f"{down(one.summary.interval[0], limit)} to {up(one.upper, limit)}"
    ties = ", decided by equal scores" if one.summary.tied else ""
    return f"{one.name}: {fraction(one.summary.mean, DIGITS)}, {100 * one.confidence:.6g} % interval {ends}{ties}"


def _failed(name: str, limit: float, one: Found, message: str, evidence: tuple[str, ...]) -> Check:
    return Check(name, limit, "failed", message, one.summary.mean, one.upper, one.name, evidence=evidence)


def _all(count: int, each: str) -> str:
    return f"all {count} {each}" if count > 1 else f"the only one of the {each}"


def _above(one: Found, limit: float, count: int, each: str) -> str:
    reasons = ([f"{count} {each}"] if count > 1 else []) + (["the choice of its threshold"] if one.scale < 1 else [])
    wide = f", widened for {' and '.join(reasons)}," if reasons else ""
    return (
        f"above the limit: {one.name} has {fraction(one.summary.mean, DIGITS)}, and its lower limit{wide} is "
        f"{down(one.lower(count), limit)}, above {limit:g}"
    )


def _not_below(one: Found, limit: float) -> str:
    low, high = one.summary.interval
    return (
        f"not shown to be below the limit: {one.name} has {fraction(one.summary.mean, DIGITS)}, and {limit:g} lies "
        f"below the upper end of its interval {down(low, limit)} to {up(high, limit)}: more models or more "
        "records may settle it"
    )
