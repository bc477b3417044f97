"""The document of an audit: what `audit.json` holds."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reticent.findings.attack import Audit, Measured
from reticent.findings.base import ContradictionError, Document, Empty, Finding, Interval, LeftOut, Number, Plain, agree
from reticent.findings.blind import Blind, Excess, Unlooked
from reticent.findings.environment import Environment
from reticent.findings.epsilon import EpsilonAudit
from reticent.findings.evidence import NearComplements, Outweighing
from reticent.findings.group_limits import AreaBackwards, AreaShown, ExcessShown, ExposedGroup
from reticent.findings.loss_tail import LossTail
from reticent.findings.numbers import Count, Estimate, Lower, PairedDifference, Share, ShareEstimate, Statistic
from reticent.findings.population import Data, Population
from reticent.findings.record_tests import RecordTests

SCHEMA: Literal["reticent.audit/1"] = "reticent.audit/1"


class Leak(StrEnum):
    """Whether members are given away."""

    FOUND = "found"
    NOT_FOUND = "not found"
    CANNOT_TELL = "cannot tell"


class Reason(StrEnum):
    """What a verdict rests on."""

    MORE_THAN_CHANCE = "more-than-chance"
    MORE_THAN_SHIFT = "more-than-shift"
    SHIFT = "shift"
    UNCOMPARED = "uncompared"
    IN_A_GROUP = "in-a-group"
    IN_RECORDS = "in-records"
    EXCLUDED = "excluded"
    TOO_SMALL = "too-small"
    FEW_MODELS = "few-models"
    FEW_RECORDS = "few-records"
    TIES = "ties"
    BACKWARDS = "backwards"
    LEARNING_UNKNOWN = "learning-unknown"
    SOME_UNLEARNED = "some-unlearned"
    MOST_UNLEARNED = "most-unlearned"
    COPIES = "copies"
    WEAK_ATTACKS = "weak-attacks"
    WEAK_ALONE = "weak-alone"
    UNEQUAL = "unequal-shares"


class Unequal(Finding):
    """How far an attack reaches where nothing leaks and who is a member depends on more than chance.

    The upper limits of what it finds with the membership permuted among the models, record by record; and among the
    records, where the population has `overall_confidence`.
    """

    auc: Share
    tpr: Share | None = None


class Verdict(Finding):
    """What an audit says, in one sentence and its numbers."""

    sentence: str = ""
    "The finding, for people."
    detail: str = ""
    "Intervals, what they rest on, and the conclusion, for people."
    attack: str
    """The attack that the sentence is about: the one that finds most by the figure that the sentence quotes, of
    those that show a leak by it, else of those that do better than chance by it, else of all."""
    best_of: Count
    "How many attacks were tried."
    best_by: Statistic = Statistic.AUC
    """That figure: `tpr` at `fpr`, where the AUC decides between equals; or `auc`, where no rate is measurable,
    equal scores decide all of them, or only AUCs are more than chance."""
    best_among: Count = 1
    "Of how many attacks it was chosen: of the first of these three kinds that has any."
    fpr: Share | None = None
    "The false-positive rate of the sentence; `null` if none is measurable."
    tpr: Share | None = None
    "Share of members found at that rate; `null` if not measurable."
    tpr_interval: Interval | None = None
    chance: Annotated[Share | None, LeftOut] = None
    """What guessing finds at that rate, on average over `attack`'s thresholds: more than `fpr` where these allow few
    false positives; the share is more than chance if its interval lies above this."""
    tied: bool | None = None
    "Whether equal scores decide that share; `null` if no rate is measurable."
    auc: Share
    "Area under the ROC curve."
    auc_interval: Interval | None = None
    confidence: Number
    "Of the two intervals together; they are widened for the choice among `best_of` attacks."
    leak: Leak
    "`not found`: a leak that matters is excluded; `cannot tell`: `reason` says why."
    reason: Reason | None = None
    "What `leak` rests on."
    shown_by: tuple[Statistic, ...] = ()
    "The figures of `attack` that are more than chance by themselves."
    unequal: Annotated[Unequal | None, LeftOut] = None
    """Only where who is a member depends on more than chance: how far `attack` reaches where nothing leaks. Only
    what it finds beyond that is a leak. `null` too where membership cannot be permuted."""
    excess: Annotated[Excess | None, LeftOut] = None
    """Only where members and non-members differ without the model: what `attack` finds beyond that, which is all that
    `leak` rests on."""
    wrong_sign: tuple[str, ...] = ()
    """Attacks that rank members below non-members, by more than chance: read backwards, they find members. Where no
    attack does better than chance as it is meant, `reason` is `backwards`."""
    exchanged: Annotated[bool, Empty] = False
    """Only where `membership` was brought and may be the wrong way round: of the attacks that ask one model alone, one
    is of `wrong_sign`, and none does better than chance; or all audited models, 8 or more, are right about more of the
    non-members than of the members."""
    group: Annotated[ExposedGroup | None, LeftOut] = None
    """Only where a group of records leaks, and more than the others, beyond what looking at all groups explains; the
    reason `in-a-group` says that nothing else shows a leak."""
    cannot_say: tuple[str, ...] = ()
    "Sentences on what this audit does not show."


class LeftOutAttack(Finding):
    """An attack that the outputs do not allow."""

    name: str
    sentence: str
    "Why, for people."


class GroupDifference(Finding):
    """A group against the other ones."""

    mean: Number
    """The group's AUC minus the mean of the other groups' own AUCs (weighted by their records); scores of different
    groups are never compared."""
    interval: Interval
    p: Share
    "Two-sided."
    p_corrected: Share


class Group(Finding):
    """One group of records."""

    name: str
    "The group; for classes the label's number as a text, whose name stands in `data.class_names`."
    records: Count = 0
    members: Number | None = None
    "How many, on average over the targets."
    non_members: Number | None = None
    auc: ShareEstimate | None = None
    "Members against non-members inside the group; `null` if not measurable."
    tpr: ShareEstimate | None = None
    """Share of the group's members at or above the threshold that gives `fpr` over *all* records; `null` if not
    measurable."""
    exposure: Estimate | None = None
    """Mean over the group's records, whose `std` is over records; the interval is for these models and further
    records; `null` for fewer than two."""
    memorisation: Estimate | None = None
    "As `exposure`."
    difference: GroupDifference | None = None
    "`null` if not measurable."
    stands_out: Literal["more", "less"] | None = None
    """Where `p_corrected` is at most 1 - `confidence`; always `null` where most models did not learn and no leak is
    found."""
    area_shown: Annotated[AreaShown | None, LeftOut] = None
    """What any attack is shown to reach, by a limit that holds for all groups, of all groupings, and all attacks
    together; left out where the group is too small, as is the next key."""
    excess_shown: Annotated[ExcessShown | None, LeftOut] = None
    "The same, of the share found beyond the group's own false alarms."
    backwards: Annotated[AreaBackwards | None, LeftOut] = None
    "Only where an attack ranks the group's members below its non-members, by such a limit."


class Grouping(Finding):
    """The verdict's attack inside groups of records."""

    by: str
    "`class`, or the column."
    attack: str | None = None
    "The verdict's."
    fpr: Share | None = None
    "The verdict's."
    confidence: Number = 0.95
    "Of every interval, each by itself: a number can be read, and held against a limit, without the others."
    intervals: str = "each by itself"
    correction: str = "Holm"
    "Of `p_corrected`, over all groups that can be compared; two groups make one comparison."
    records_needed: Count = 0
    "About how many records make a group measurable: each target must have 5 members and 5 non-members in it."
    cut: Annotated[bool, Empty] = False
    "Only where a column of numbers was cut at its quartiles."
    unlearned: Annotated[bool, Empty] = False
    "Only where no group is named as standing out since most models did not learn."
    groups: tuple[Group, ...]
    most_exposed: str | None = None
    "The `name` of the group with the largest difference among those that stand out; `null` where none does."
    sentence: str = ""
    "The finding, for people."
    doubts: Annotated[tuple[str, ...], Empty] = ()
    "Sentences on groups of which nothing can be said, and on those that an attack ranks backwards."


class ExposureCount(Finding):
    """How many single records give themselves away beyond doubt."""

    records: Count
    "How many could be tested."
    untested: Annotated[Count, Empty] = 0
    "How many could not: that needs models with the record and without it, three in all, whose margins differ."
    same: Annotated[bool, Empty] = False
    "Only where none could since, of every record, the models trained on it have one margin, and the others too."
    copies: Annotated[Count, Empty] = 0
    "Models that add to another's draw: those of nearly the same members, or of nearly the opposite ones, count as one."
    exposed: Count
    """Of how many `distance_p_corrected` is at most 1 - `confidence`: at that confidence, none of them is among them
    by chance."""
    confidence: Number
    test: str = "Student, one-sided, and no less than the exact chance over memberships"
    correction: str = "Holm"
    "Over the records."
    distance_needed: Number | None = None
    "From about which `distance` on a record counts; `null` if none was tested, or with so few models none can count."
    models: Annotated[Count | None, LeftOut] = None
    "How many count; where no record can, of those that hold some of the records and not others."
    memberships: Annotated[Number | None, LeftOut] = None
    """In how many ways chance could have drawn the models of a record, where that is too few for any record to count;
    one over the smallest chance of one of them."""
    sentence: str = ""
    "The finding, for people."


class NonAdaptive(Finding):
    """The same targets, attacked with references that are trained without the defense."""

    attacks: tuple[Measured, ...]
    difference: PairedDifference
    "The AUC of the attacker who knows the defense minus that of the one who does not, both by the verdict's attack."
    verdict: Lower
    "`second lower` if the one who does not know finds less, `first lower` if more, or `tie`."
    same_scores: Annotated[bool, Empty] = False
    "Only where the verdict's attack gives both the same scores."
    sentence: str = ""
    "The same, for people."


class Detectable(Finding):
    """The smallest leak that an audit of this size finds with probability `power`."""

    attack: str
    "The verdict's."
    auc: Share
    tpr: Share | None = None
    "At `fpr`; `null` if not measurable."
    fpr: Share | None = None
    power: Share


class Control(Finding):
    """The audit again, with the membership permuted among the models for each record: there is nothing to find."""

    kind: Literal["null"] = "null"
    attacks: tuple[Measured, ...] = ()
    passed: bool
    "Whether all attacks are at chance; by chance alone one audit in 1,000 fails."
    differ: tuple[str, ...] = ()
    "Attacks that are not at chance."
    detectable: Detectable | None = None
    "`null` where the verdict has `unequal`."
    sentence: str = ""
    "The same, for people."


class AuditDocument(Document):
    """What `audit.json` holds."""

    schema_: Annotated[Literal["reticent.audit/1"], Field(alias="schema")] = SCHEMA
    "Its version; within version 1 keys may be added, and none changes its meaning or goes away."
    verdict: Verdict
    data: Data
    recipe: Plain | None = None
    """How the models were made, defaults written out, without what has no part in a training function of yours; `null`
    where they came from elsewhere."""
    population: Population
    attacks: tuple[Audit, ...]
    "In the order they were asked for."
    left_out: tuple[LeftOutAttack, ...] = ()
    near_complements: Annotated[NearComplements | None, LeftOut] = None
    "Only where some target is not compared with all references."
    outweighing: Annotated[Outweighing | None, LeftOut] = None
    "Only where one record or model makes much of what attacks pool over all, so that they find too little in others."
    blind: Annotated[Blind | None, LeftOut] = None
    """Only where membership was not drawn by reticent: how far members and non-members differ without the model. Where
    they do, only an `excess` that `counts` is a leak, and epsilon and groups, which take members and
    non-members for alike, are left out."""
    not_blind: Annotated[Unlooked | None, LeftOut] = None
    "Why there is no `blind`, where membership was not drawn by reticent."
    loss_tail: Annotated[LossTail | None, LeftOut] = None
    "Only of one model whose outputs were brought alone."
    epsilon: EpsilonAudit | None = None
    groups: tuple[Grouping, ...] = ()
    "One a grouping, the classes first."
    exposure: ExposureCount | None = None
    records: RecordTests | None = None
    non_adaptive: NonAdaptive | None = None
    "If it was asked for."
    control: Control | None = None
    "If it was asked for, or who is a member depends on more than chance."
    environment: Environment = Environment()
    "All that may differ between two runs of the same audit."

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        """Hold the verdict against the attacks that it is about."""
        said, names = self.verdict, [one.name for one in self.attacks]
        told = ", ".join(names) or "none"
        if not names or len(set(names)) < len(names):
            raise ContradictionError(f"attacks: expected at least one attack, each name once, got {told}")
        if said.attack not in names:
            raise ContradictionError(f"verdict.attack: expected one of the attacks ({told}), got {said.attack!r}")
        for one in self.attacks:
            agree("verdict.confidence", one.confidence, said.confidence)
        return self

    def unplaced(self) -> Self:
        """Return a copy that names no folder."""
        return self.with_(environment=self.environment.with_(out=None))

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return self.verdict.sentence
