"""What a self-test found: one entry a check, and whether the installation may be trusted."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from reticent.findings.base import Document, Finding, Number
from reticent.findings.environment import Environment

SCHEMA = "reticent.selftest/1"


class Fault(StrEnum):
    """What kind of fault makes a number wrong."""

    SIGN = "sign"
    TIES = "ties"
    RATE = "rate"
    BINOMIAL_TAIL = "binomial-tail"
    DELONG = "delong"
    BOOTSTRAP = "bootstrap"
    EPSILON_TOO_HIGH = "epsilon-too-high"
    EPSILON_BLIND = "epsilon-blind"
    EPSILON_FORMULA = "epsilon-formula"
    PRECISION = "precision"
    MARGIN = "margin"
    MEMBERSHIP = "membership"
    MEMORISATION = "memorisation"
    FORMULA = "formula"
    ATTACK_SIGN = "attack-sign"
    ATTACK_BLIND = "attack-blind"
    EXCHANGED = "exchanged"
    OWN_REFERENCE = "own-reference"
    REFERENCE_COUNT = "reference-count"
    FALSE_LEAK = "false-leak"
    FALSE_VERDICT = "false-verdict"
    FALSE_EPSILON = "false-epsilon"
    TRAINING_MODE = "training-mode"
    OPTIMIZER = "optimizer"
    NOT_LEARNED = "not-learned"
    AUDIT = "audit"
    REPORT = "report"
    NOT_FOUND = "not-found"
    NOT_DETERMINISTIC = "not-deterministic"
    CRASHED = "crashed"


class Check(Finding):
    """One number of this installation, and what it must be."""

    name: str
    "Its group and its own name: `leak/lira`."
    expected: str
    "What is right, for people."
    got: str
    "What this installation gives, for people."
    ok: bool
    "Whether the two agree."
    seconds: Number = 0.0
    fault: str | None = None
    "What kind of fault makes such a number, for people; `null` if the check is passed."
    cause: Fault | None
    "The same as a code."


class Selftested(Document):
    """What `reticent selftest --json` writes."""

    schema_: Annotated[str, Field(alias="schema")] = SCHEMA
    ok: bool
    "Whether there are checks, and all are passed."
    sentence: str
    "What came out, for people."
    seconds: Number
    "What all checks took together."
    checks: tuple[Check, ...]
    "In the order in which they ran."
    environment: Environment

    @property
    def wrong(self) -> tuple[Check, ...]:
        """The checks that are not passed."""
        return tuple(check for check in self.checks if not check.ok)
