"""The document of a repair: what `harden.json` holds."""

from enum import StrEnum
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from reticent.findings.attack import Audit
from reticent.findings.audit import Leak, Reason
from reticent.findings.base import Empty, Finding, Interval, LeftOut, Number, Plain, Spoken
from reticent.findings.blind import Blind
from reticent.findings.comparison import Comparison, PairTest, Relation
from reticent.findings.environment import Environment
from reticent.findings.epsilon import EpsilonAudit
from reticent.findings.locate import Origin
from reticent.findings.numbers import Area, Count, Share, Statistic
from reticent.findings.population import Accuracy, Data, Unlearned
from reticent.findings.training import ProcedureFacts, StageCost

SCHEMA: Final = "reticent.harden/1"


class Doubt(StrEnum):
    """Why nothing is judged."""

    FEW_RECORDS = "few-records"
    RECORDS_DIFFER = "records-differ"
    REFERENCES_DIFFER = "references-differ"


class Note(StrEnum):
    """How the records came to their roles."""

    SCALE_ASSUMED = "scale-assumed"
    REST = "rest-of-the-data-set"
    HALVED = "halved"
    AUDIT_ONLY = "audit-only"


class RecordsNote(Finding):
    """What there is to say of the roles of the records."""

    note: Note
    given: Annotated[Literal["non-members", "reference"] | None, LeftOut] = None
    "The records that were given, and served for two roles."
    count: Annotated[Count | None, LeftOut] = None
    "How many these were; of `rest-of-the-data-set`, how many exact duplicates of members were left out."


class RepairedModel(Finding):
    """The model that was repaired."""

    architecture: Plain
    weights: str | None = None
    "Their file; `null` where they were given as tensors."
    parameters: Count
    initial: Origin
    no_sign: Annotated[Area | None, LeftOut] = None
    """Only where its loss alone is not shown to be lower on members than on non-members: how well it tells the two
    apart. Then nothing shows that it was trained on these members."""


class RepairData(Data):
    """The records that the model was audited with, and repaired with."""

    members: Count
    non_members: Count
    "Of the audit."
    reference: Count
    "Non-members of the repair."
    notes: Annotated[tuple[RecordsNote, ...], Empty] = ()
    "Only where records came to their roles otherwise than by what was given for each."


class HeldLoss(Finding):
    """A loss that training is held at, above what the given model has on records it never saw."""

    objective: str
    option: str
    "The option that says so."
    level: Number
    "In nats."
    loss: Number
    "The given model's mean cross-entropy on non-members."


class RepairRun(Finding):
    """The repair."""

    defense: str
    "The method and its objective, as the user wrote them."
    recipe: Plain
    "Of the references of the repaired model, and of the repair; defaults written out."
    run: str
    "Its folder in the store."
    facts: ProcedureFacts
    "What the method says of the repair; an inner procedure adds its own."
    notices: Annotated[tuple[str, ...], Empty] = ()
    "What the method had to say, for people."
    tuning_epochs: Annotated[Count | None, LeftOut] = None
    "Of the second training, or of each fine-tuning; left out where what follows is as long as the training."
    goes_on: Annotated[bool, Empty] = False
    "It goes on from the trained values alone; the state before training does not matter."
    by_default: Annotated[bool, Empty] = False
    "Nothing was said of how the model was trained: the references are trained by the recipe's defaults."
    held: Annotated[HeldLoss | None, LeftOut] = None
    "Only where the repair's objective holds a larger loss than the given model has on non-members."


class CompactFile(Finding):
    """The pruned model in a file of its own, `compact.safetensors`."""

    bytes: Count
    bytes_whole: Count
    "Of `repaired.safetensors`, which has the zeros too."


class Latency(Finding):
    """How long models take to answer one record, median; those that are pruned without the filters that are gone."""

    seconds_before: Number
    seconds_after: Number
    smaller: bool
    "Filters are gone, so that the network is smaller; zeros alone save no time."


class MeasuredShare(Finding):
    """A share of the records."""

    value: Share
    interval: Interval
    "Clopper-Pearson."


class SideAccuracy(Finding):
    """Share of records that one model labels correctly."""

    members: MeasuredShare
    non_members: MeasuredShare


class SideVerdict(Finding):
    """What the audit of one model says, as in `audit.json`."""

    sentence: str = ""
    leak: Leak
    reason: Annotated[Reason | None, LeftOut] = None
    attack: str
    best_of: Count
    fpr: Share | None = None


class References(Finding):
    """The models that attacks learn from."""

    members: Number
    "Records that one was trained on, mean over models."
    accuracy: Accuracy
    health: tuple[Unlearned, ...] = ()
    "Those that did not learn."
    runs: tuple[str, ...]
    "Their folders in the store."
    notices: Annotated[tuple[str, ...], Empty] = ()
    "What training had to say, for people."


FAR = 0.05
"""References whose accuracy, or number of members, differs by more than this from the model's are unlike it."""


class Unlike(NamedTuple):
    """A kind of records on which the references are clearly more or less accurate than the model."""

    records: str
    references: float
    model: float


class Short(NamedTuple):
    """A training after which even its own records are clearly less well known than members to the given model.

    Attributes:
        by: who was trained: the references, or the model by its repair.
        right: share of its own records that it labels correctly.
        model: share of the members that the given model does.
        tuning: of the repair's second training, where that has a length of its own.
    """

    by: Literal["references", "repair"]
    right: float
    model: float
    epochs: int
    tuning: int | None


class Side(Finding):
    """One model and its audit."""

    accuracy: SideAccuracy
    verdict: SideVerdict
    attacks: tuple[Audit, ...]
    epsilon: EpsilonAudit | None = None
    "`null` where members and non-members differ without the model."
    references: References
    notices: Annotated[tuple[str, ...], Empty] = ()
    "What asking the model had to say, for people."

    def unlike(self, members: int, non_members: int) -> list[Unlike]:
        """Say where the references differ from the model in accuracy, by more than the noise of so many records."""
        own, mean = self.accuracy, self.references.accuracy
        pairs = (
            (members, Unlike("members", mean.members.mean, own.members.value)),
            (non_members, Unlike("non-members", mean.non_members.mean, own.non_members.value)),
        )
        noise = ((2 * (one.model * (1 - one.model) / count) ** 0.5, one) for count, one in pairs)
        return [one for far, one in noise if abs(one.references - one.model) > max(FAR, far)]


class Difference(Comparison):
    """The two models, `before` and `after`, compared by paired tests, each as after minus before."""

    @property
    def relation(self) -> Relation:
        """How the repaired model stands to the given one."""
        return self.tests.leak("after", "before")

    def change(self, statistic: Statistic) -> PairTest | None:
        """Take a test, as after minus before."""
        return self.tests.get("after", "before", statistic)


class RepairCost(Finding):
    """What the repair took, where it was made."""

    seconds: Number
    peak_memory_bytes: Count | None = None
    "What it held beyond what the process held before."
    stages: tuple[StageCost, ...] = ()
    seconds_training_anew: Number | None = None
    "An estimate, from the references; `null` if theirs are not known."
    share_of_training_anew: Number | None = None


class HardenEnvironment(Environment):
    """Where, when and at what cost a model was repaired."""

    repair_found: bool = False
    "The repair was finished before and was not made again."
    repair: RepairCost
    latency: Annotated[Latency | None, LeftOut] = None
    "Only of a pruned model."


class HardenDocument(Spoken):
    """What `harden.json` holds."""

    schema_: Annotated[Literal["reticent.harden/1"], Field(alias="schema")] = SCHEMA
    detail: tuple[str, ...] = ()
    "What it rests on, and what follows, for people."
    leak: Leak
    "Of the repaired model; `cannot tell` where nothing is judged."
    doubt: Annotated[Doubt | None, LeftOut] = None
    """Only where nothing is judged: why. `references-differ`: the references of the repaired model are clearly more or
    less accurate than it, so that attacks on it are weaker than they could be."""
    broken: Annotated[bool, Empty] = False
    "Whether the repair took more accuracy on non-members than a usable model can lose."
    model: RepairedModel
    data: RepairData
    repair: RepairRun
    references: Count
    "How many models attacks learn from, before and after each."
    before: Side
    after: Side
    difference: Difference
    compact: Annotated[CompactFile | None, LeftOut] = None
    "Only of a pruned model."
    blind: Annotated[Blind | None, LeftOut] = None
    """How far members and non-members differ without the model; where they do, the attacks' `excess` alone counts as
    leak. Left out where there are too few records to tell."""
    cannot_say: tuple[str, ...] = ()
    "Sentences on what the repair and its audit do not show."
    environment: HardenEnvironment

    @property
    def sides(self) -> tuple[tuple[str, Side], tuple[str, Side]]:
        """Both models, by name."""
        return ("before", self.before), ("after", self.after)
