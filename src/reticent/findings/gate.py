"""What a gate says of an audit."""

from enum import StrEnum
from typing import Literal

from reticent.findings.base import Finding, Number


class Outcome(StrEnum):
    """What became of a limit."""

    PASSED = "passed"
    FAILED = "failed"
    CANNOT_JUDGE = "cannot judge"
    SKIPPED = "skipped"


class Doubt(StrEnum):
    """Why a limit cannot be judged."""

    UNEQUAL_SHARES = "unequal-shares"
    FAILED_CONTROL = "failed-control"
    RECORDS_DIFFER = "records-differ"
    LOW_CONFIDENCE = "low-confidence"
    DID_NOT_LEARN = "did-not-learn"
    COPIES = "copies"
    WEAK_ATTACKS = "weak-attacks"
    FEW_MODELS = "few-models"
    NO_RATE = "no-rate"
    NO_INTERVAL = "no-interval"
    NOT_MEASURABLE = "not-measurable"
    TIES = "ties"
    NO_GROUPS = "no-groups"
    NO_ACCURACY = "no-accuracy"
    NO_ACCOUNTANT = "no-accountant"
    NO_EPSILON = "no-epsilon"
    CONTRADICTION = "contradiction"


ALLOWED_TOGETHER = {
    Doubt.NOT_MEASURABLE: "the audit has too few records for a rate or a group",
    Doubt.TIES: "equal scores decide a rate",
    Doubt.WEAK_ATTACKS: "no attack that compares models with and without a record was run",
    Doubt.FEW_MODELS: "two to four models were audited, from which their spread is hardly known",
    Doubt.NO_ACCOUNTANT: "there is no accountant's epsilon, so there is no upper limit of epsilon",
}
"""Doubts that ``--allow-cannot-judge`` lets pass, and what they are."""
ALLOWED = {
    **ALLOWED_TOGETHER,
    Doubt.RECORDS_DIFFER: "members and non-members differ without the model: what attacks find beyond that is judged",
    Doubt.DID_NOT_LEARN: "some models did not learn",
    Doubt.COPIES: "many records have a copy with the other membership",
    Doubt.LOW_CONFIDENCE: "the intervals of the audit hold at less than 95 %",
}
"""Doubts that can be let pass by name."""


class Check(Finding):
    """One limit, and what became of it."""

    name: str
    "Such as `TPR at FPR 0.01 at most 0.02`."
    limit: Number
    outcome: Outcome
    "`skipped`: it cannot be judged, and that was allowed."
    message: str
    "Why, for people."
    estimate: Number | None = None
    "The estimate that decided."
    bound: Number | None = None
    "Its confidence limit that was judged."
    attack: str | None = None
    "The attack, or the group, that decided."
    reason: Doubt | None = None
    "Why it cannot be judged."
    evidence: tuple[str, ...] = ()
    "One line for each thing compared."
    unresolved: tuple[str, ...] = ()
    "Groups that are shown to be neither above the limit nor below it."
    none_resolved: bool = False
    "Nothing is shown of any group, and the check passes all the same."
    side: Literal["at most", "at least"] = "at most"
    "What the bound says of the true value: `at most` of an upper limit, `at least` of a lower one."


class Gate(Finding):
    """What a gate says of an audit."""

    outcome: Outcome
    "`failed` if any check failed; or else `cannot judge` if that is so of any."
    checks: tuple[Check, ...]
    "One a limit."
    sentence: str
    "The outcome, for people."
    data: str
    "Name of the audited data."

    @property
    def passed(self) -> bool:
        """Whether every check passed, or was skipped as allowed."""
        return self.outcome is Outcome.PASSED

    @property
    def exit_code(self) -> int:
        """0 passed, 1 failed, 2 cannot judge."""
        return {Outcome.PASSED: 0, Outcome.FAILED: 1}.get(self.outcome, 2)
