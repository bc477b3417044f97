"""What attacks prove about the epsilon of differential privacy."""

from typing import Annotated

from pydantic import Field

from reticent.findings.base import Finding, LeftOut, Number, Plain
from reticent.findings.numbers import Count, Share

Epsilon = Annotated[Number, Field(ge=0)]
GIVEN = "given"
"""Source of an epsilon that nobody computed."""


class Accountant(Finding):
    """An epsilon from above: what a training promises, or proves."""

    epsilon: Epsilon
    delta: Share
    source: str | None = None
    "`given` where the user states it (`--promised-epsilon`) and nobody computed it, else the accountant that did."
    records: Annotated[Count | None, LeftOut] = None
    "Only of units, where an accountant computed it: the records of the largest; it holds for all of them together."

    @property
    def stated(self) -> bool:
        """Whether it is the user's word, and not what an accountant computed from the training."""
        return self.source == GIVEN

    def covers(self, promise: "Accountant") -> bool:
        """Whether what is proven here is at least what is promised there."""
        return self.epsilon <= promise.epsilon and self.delta <= promise.delta


class MethodBound(Finding):
    """The bound of one method."""

    method: str
    spec: Plain = Field(default_factory=dict)
    "Its options."
    assumes: str = ""
    epsilon: Epsilon
    "0: nothing is shown."
    targets: tuple[Epsilon, ...] = ()
    "The bound of each target at the level that the combination needs."


class EpsilonBounds(Finding):
    """Lower bounds on epsilon by one attack."""

    delta: Share
    "Of every bound."
    confidence: Number
    "Of every bound, one-sided."
    combined: Plain = Field(default_factory=dict)
    "How the targets' bounds became one: its `method` and options; valid however the targets depend on each other."
    bounds: tuple[MethodBound, ...] = ()


class EpsilonAudit(Finding):
    """The bound over all attacks. It never shows that epsilon is small."""

    delta: Share | None = None
    "Of the bound."
    confidence: Number | None = None
    "Of the bound; one-sided, corrected for the choice among attacks."
    lower: Epsilon | None = None
    "No training with a smaller epsilon gives such results; 0 shows nothing."
    attack: str | None = None
    "The attack that it comes from."
    method: str | None = None
    "Fixed in advance."
    best_of: Count | None = None
    "From how many attacks it was chosen."
    accountant: Accountant | None = None
    "What the training promises of what is audited: of a record or, with `unit`, of a unit."
    proven: Annotated[Accountant | None, LeftOut] = None
    "Only where the user states an epsilon and training proves one of what is audited: the accountant's."
    of_record: Annotated[Accountant | None, LeftOut] = None
    "Only of units: what training proves of one record. Of a unit of several `accountant` or `proven` follows, or none."
    consistent: bool | None = None
    "Whether the bound is within the promise; `null` without a promise, or where the two cannot be compared."
    unproved: Annotated[str | None, LeftOut] = None
    """Only where a part of the training could prove an epsilon and the whole proves none (`cwrf+dpsgd`, noise 0):
    why, which ends `sentence` too."""
    sentence: str = ""
    "The same, for people."
