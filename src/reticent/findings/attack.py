"""One attack's audit."""

from typing import Annotated, Literal

from pydantic import Field

from reticent.findings.base import Finding, LeftOut, Number, Plain
from reticent.findings.blind import Excess
from reticent.findings.epsilon import EpsilonBounds
from reticent.findings.evidence import Importance
from reticent.findings.numbers import Area, Count, OverallRate, Rate, Share, ShareEstimate


class TargetAccuracy(Finding):
    """How often a threshold tells one target's members from its non-members, both kinds counting half."""

    transferred: Share | None = None
    "At a threshold chosen on other models."
    oracle: Share
    "At the best threshold for this target: an upper bound."
    threshold: Number | None = None
    "The transferred threshold."


class TargetAudit(Finding):
    """One attack on one model."""

    model: Count
    "The target's row in the membership matrix."
    members: Count
    non_members: Count
    auc: Area
    tpr_at_fpr: tuple[Rate, ...]
    balanced_accuracy: TargetAccuracy


class BalancedAccuracy(Finding):
    """Balanced accuracy over targets."""

    transferred: ShareEstimate | None = None
    "At a threshold chosen on other models."
    oracle: ShareEstimate | None = None
    "At the best threshold of each target: an upper bound, no attacker has it."


class Overall(Finding):
    """One attack over all targets."""

    auc: ShareEstimate
    "0.5 is chance."
    tpr_at_fpr: tuple[OverallRate, ...] = ()
    "One a false-positive rate."
    balanced_accuracy: BalancedAccuracy | None = None


class ClaimedRate(Finding):
    """A false-positive rate that an attack claims, and the share of non-members that it flags at it."""

    fpr: Number
    "As claimed."
    realised: Share
    "The mean share over targets."
    least: Share
    "The smallest share of any target."
    most: Share
    "The largest."
    non_members: Count
    "Of each target, at least."
    within: Count
    "Of how many targets the claim lies within the exact limits of the share."
    targets: Count
    "Of them all."


class RocCurve(Finding):
    """The mean ROC curve and its band, on a logarithmic grid of false-positive rates."""

    fpr: tuple[Number, ...]
    tpr: tuple[Number, ...]
    low: tuple[Number, ...]
    high: tuple[Number, ...]
    band: Literal["targets", "exact"]
    "`targets`: where the middle share of the models lies; `exact`: Clopper-Pearson, one target."


class Histogram(Finding):
    """Densities of the scores over all targets."""

    edges: tuple[Number, ...]
    "One more than there are bins."
    members: tuple[Number, ...]
    non_members: tuple[Number, ...]


class Redrawn(Finding):
    """The bootstrap of the intervals over targets."""

    replicates: Count
    over: str
    "What was redrawn."
    training_sets: Annotated[Count | None, LeftOut] = None
    "How many training sets the targets have: only where some have nearly the same members, as checkpoints of one run."


class Audit(Finding):
    """One attack's audit: each target, all of them, and what the report draws."""

    name: str
    spec: Plain = Field(default_factory=dict)
    "All its options."
    access: str = ""
    "What the attacker may see."
    strong: bool | None = None
    """Whether it compares models that saw a record with models that did not; the others ask one model alone, and
    miss most of a leak; `null` if that is not known."""
    queries: Annotated[Count | None, LeftOut] = None
    "Only of attacks that ask further questions: how often they ask a model about a record, at most."
    guessed: Annotated[Share | None, LeftOut] = None
    """Only where there are such: the share of all targets' members, or of their non-members if that is more, that have
    too few references of one kind. They count as guesses, so that what the attack finds is understated by as much."""
    confidence: Number
    "Of every interval in this object."
    overall: Overall
    targets: tuple[TargetAudit, ...] = ()
    "One an audited model."
    roc: RocCurve | None = None
    histogram: Histogram | None = None
    bootstrap: Redrawn | None = None
    epsilon: Annotated[EpsilonBounds | None, LeftOut] = None
    "Lower bounds on epsilon by this attack alone."
    importance: Annotated[Importance | None, LeftOut] = None
    "Only of attacks that learn: where in the answers they find what they find."
    excess: Annotated[Excess | None, LeftOut] = None
    "Only where members and non-members differ without the model: what the attack finds beyond that."

    claimed: Annotated[tuple[ClaimedRate, ...] | None, LeftOut] = None
    "Only of attacks that claim false-positive rates: how far they hold on non-members of the audit."

    @property
    def training_sets(self) -> int:
        """How many training sets the targets have, of which some may have nearly the same members."""
        apart = None if self.bootstrap is None else self.bootstrap.training_sets
        return len(self.targets) if apart is None else apart

    @property
    def auc(self) -> ShareEstimate:
        """The AUC over targets."""
        return self.overall.auc

    @property
    def rates(self) -> tuple[OverallRate, ...]:
        """The TPR over targets, at each false-positive rate."""
        return self.overall.tpr_at_fpr

    def rate(self, fpr: float | None) -> OverallRate | None:
        """The TPR over targets at one false-positive rate, or None where it was not asked for."""
        return next((rate for rate in self.rates if rate.fpr == fpr), None)

    @property
    def measured(self) -> "Measured":
        """What other objects say of an attack again: its name, AUC and TPRs."""
        return Measured(name=self.name, auc=self.auc, tpr_at_fpr=self.rates)


class Measured(Finding):
    """What an attack found, in short."""

    name: str
    auc: ShareEstimate
    tpr_at_fpr: tuple[OverallRate, ...] = ()
