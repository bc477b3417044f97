"""The document of a repair: what `harden.json` holds."""

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field

from reticent.findings.attack import Audit
from reticent.findings.audit import Leak, Reason
from reticent.findings.base import Empty, Finding, Interval, LeftOut, Number, Plain, Spoken
from reticent.findings.comparison import Comparison, PairTest, Relation
from reticent.findings.environment import Environment
from reticent.findings.epsilon import EpsilonAudit
from reticent.findings.locate import Origin
from reticent.findings.numbers import Count, Share, Statistic
from reticent.findings.population import Accuracy, Data, Unlearned

SCHEMA: Final = "reticent.harden/1"


class Doubt(StrEnum):
    """Why nothing is judged."""

    FEW_RECORDS = "few-records"
    RECORDS_DIFFER = "records-differ"


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


class RepairData(Data):
    """The records that the model was audited with, and repaired with."""

    members: Count
    non_members: Count
    "Of the audit."
    reference: Count
    "Non-members of the repair."
    notes: Annotated[tuple[RecordsNote, ...], Empty] = ()
    "Only where records came to their roles otherwise than by what was given for each."


class CwrfFacts(Finding):
    """What `cwrf` did, with all that it measured."""

    model_config = ConfigDict(extra="allow")

    weights: Count
    rewound: Count
    "Of them."
    rate: Number
    "The share of these."


class PptpFacts(Finding):
    """What `pptp` did, with all that it measured."""

    model_config = ConfigDict(extra="allow")

    stage: str
    "Where the second training begins."
    chosen: str
    "`measured` or `given`."
    frozen: tuple[str, ...] = ()
    "The stages that stay."


class RepairFacts(Finding):
    """What the method says of the repair; an inner procedure adds its own."""

    model_config = ConfigDict(extra="allow")

    cwrf: Annotated[CwrfFacts | None, LeftOut] = None
    pptp: Annotated[PptpFacts | None, LeftOut] = None


class RepairRun(Finding):
    """The repair."""

    defense: str
    "The method and its objective, as the user wrote them."
    recipe: Plain
    "Of the references of the repaired model, and of the repair; defaults written out."
    run: str
    "Its folder in the store."
    facts: RepairFacts
    notices: Annotated[tuple[str, ...], Empty] = ()
    "What the method had to say, for people."

    @property
    def tuning_epochs(self) -> int:
        """Epochs of the second training."""
        procedure, epochs = self.recipe["procedure"], self.recipe["epochs"]
        given = procedure.get("tuning_epochs") if isinstance(procedure, dict) else None
        return int(given or max(1, int(epochs) // 2))  # type: ignore[arg-type]


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


class Side(Finding):
    """One model and its audit."""

    accuracy: SideAccuracy
    verdict: SideVerdict
    attacks: tuple[Audit, ...]
    epsilon: EpsilonAudit
    references: References
    notices: Annotated[tuple[str, ...], Empty] = ()
    "What asking the model had to say, for people."


class Difference(Comparison):
    """The two models, `before` and `after`, compared by paired tests."""

    @property
    def relation(self) -> Relation:
        """How the repaired model stands to the given one."""
        return self.tests.leak("after", "before")

    def change(self, statistic: Statistic) -> PairTest | None:
        """Take a test, as after minus before."""
        return self.tests.get("after", "before", statistic)


class Blind(Finding):
    """The AUC of what the references of the given model say on average, which knows nothing of the model."""

    auc: Share
    interval: tuple[Share, Share]
    "0.5 lies in it where members and non-members are equally hard."


class RepairStage(Finding):
    """A part of the repair."""

    name: str
    seconds: Number
    peak_memory_bytes: Count | None = None


class RepairCost(Finding):
    """What the repair took, where it was made."""

    seconds: Number
    peak_memory_bytes: Count | None = None
    "What it held beyond what the process held before."
    stages: tuple[RepairStage, ...] = ()
    seconds_training_anew: Number | None = None
    "An estimate, from the references; `null` if theirs are not known."
    share_of_training_anew: Number | None = None


class HardenEnvironment(Environment):
    """Where, when and at what cost a model was repaired."""

    repair_found: bool = False
    "The repair was finished before and was not made again."
    repair: RepairCost


class HardenDocument(Spoken):
    """What `harden.json` holds."""

    schema_: Annotated[Literal["reticent.harden/1"], Field(alias="schema")] = SCHEMA
    detail: tuple[str, ...] = ()
    "What it rests on, and what follows, for people."
    leak: Leak
    "Of the repaired model; `cannot tell` where nothing is judged."
    doubt: Annotated[Doubt | None, LeftOut] = None
    "Only where nothing is judged: why."
    model: RepairedModel
    data: RepairData
    repair: RepairRun
    references: Count
    "How many models attacks learn from, before and after each."
    before: Side
    after: Side
    difference: Difference
    blind: Blind
    cannot_say: tuple[str, ...] = ()
    "Sentences on what the repair and its audit do not show."
    environment: HardenEnvironment

    @property
    def sides(self) -> tuple[tuple[str, Side], tuple[str, Side]]:
        """Both models, by name."""
        return ("before", self.before), ("after", self.after)
