"""The document of a comparison: what `compare.json` holds."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue

from reticent.findings.audit import Reason
from reticent.findings.base import Empty, Finding, Interval, LeftOut, Number, Spoken
from reticent.findings.environment import Environment
from reticent.findings.epsilon import Accountant
from reticent.findings.numbers import Count, Lower, Share, ShareEstimate, Statistic
from reticent.findings.population import Data

SCHEMA: Final = "reticent.comparison/1"


LEAK = (Statistic.AUC, Statistic.TPR)
"""The statistics that say how much a row leaks."""


class Relation(StrEnum):
    """How one row stands to another, by tests that are corrected for their number."""

    LESS = "less"
    MORE = "more"
    TIE = "tie"
    MIXED = "mixed"


RELATION = {Lower.FIRST: Relation.LESS, Lower.SECOND: Relation.MORE, Lower.TIE: Relation.TIE}
"""How the first row of a pair stands to the second."""


class Role(StrEnum):
    """What a row is there for."""

    RECIPE = "recipe"
    CONTROL = "control"
    NON_ADAPTIVE = "non-adaptive"


class McNemar(Finding):
    """Members that are found under one of two rows only."""

    targets: Count
    only_first: Count
    "Members found under the first row and not under the second, summed over targets."
    only_second: Count
    p: Share
    "Two-sided: of several targets twice the median of their own. Takes the thresholds as given, so it decides nothing."

    def turned(self) -> "McNemar":
        """The same from the other side."""
        return self.with_(only_first=self.only_second, only_second=self.only_first)


class PairTest(Finding):
    """One statistic of two rows."""

    first: str
    second: str
    statistic: Statistic
    "`auc`, `tpr` (each by its strongest attack) or `accuracy` (of non-members)."
    difference: Number
    "First minus second."
    interval: Interval
    "Of this pair alone."
    p: Share
    "Two-sided."
    p_corrected: Share
    "Holm, over all pairs and statistics of the comparison."
    verdict: Lower
    "`tie`: not told apart at this size."
    mcnemar: McNemar | None = None
    "Only of `tpr`."
    same_scores: Annotated[bool, Empty] = False
    "Only where all attacks give every record the same score under both rows."

    @property
    def relation(self) -> Relation:
        """How the first row stands to the second."""
        return RELATION[self.verdict]

    @property
    def uncorrected(self) -> bool:
        """Whether it is a tie only because tests are corrected for their number."""
        return self.verdict is Lower.TIE and not self.interval[0] <= 0 <= self.interval[1]

    @property
    def exact(self) -> bool:
        """Whether the rows are equal here, which is no matter of chance."""
        return self.interval == (0.0, 0.0)

    def turned(self) -> "PairTest":
        """The same from the other side."""
        low, high = self.interval
        other = {Lower.FIRST: Lower.SECOND, Lower.SECOND: Lower.FIRST, Lower.TIE: Lower.TIE}[self.verdict]
        return self.with_(
            first=self.second,
            second=self.first,
            difference=-self.difference,
            interval=(-high, -low),
            verdict=other,
            mcnemar=self.mcnemar and self.mcnemar.turned(),
        )


class PairTests:
    """The pairs of a comparison, asked from either side."""

    def __init__(self, pairs: Sequence[PairTest]) -> None:
        self._pairs = {(one.first, one.second, one.statistic): one for one in pairs}

    def get(self, first: str, second: str, statistic: Statistic) -> PairTest | None:
        """Look up a test, as first minus second."""
        found = self._pairs.get((first, second, statistic))
        other = self._pairs.get((second, first, statistic))
        return found if found is not None or other is None else other.turned()

    def leak(self, first: str, second: str) -> Relation:
        """Say whether the first leaks less than the second: by AUC, TPR or both, and by neither more."""
        tests = [self.get(first, second, statistic) for statistic in LEAK]
        found = {one.relation for one in tests if one is not None} - {Relation.TIE}
        return Relation.MIXED if len(found) > 1 else found.pop() if found else Relation.TIE

    def shown(self, first: str, second: str) -> tuple[Statistic, ...]:
        """List the statistics by which two rows leak differently."""
        tests = [self.get(first, second, statistic) for statistic in LEAK]
        return tuple(one.statistic for one in tests if one is not None and one.relation is not Relation.TIE)

    def same(self, first: str, second: str) -> bool:
        """Tell whether all attacks give every record the same score in two rows, as where a defense never acted."""
        test = self.get(first, second, Statistic.AUC)
        return test is not None and test.same_scores


class RowAccuracy(Finding):
    """Share of records that a row's models label correctly; `null` if not known."""

    members: ShareEstimate | None = None
    non_members: ShareEstimate | None = None


class AttackFound(Finding):
    """What one attack finds under one row."""

    name: str
    auc: ShareEstimate
    tpr: ShareEstimate | None = None
    "`null` if not measurable."


class Standing(Finding):
    """How a recipe stands to its control, or to the baseline where that is its control or there is none."""

    name: str
    "Of the row that it is held against."
    leak: Relation
    "`mixed`: AUC and TPR contradict each other."
    by: tuple[Statistic, ...] = ()
    "The statistics that show it."
    missed: Number | None = None
    """The control's accuracy minus the recipe's; `null` if the difference's own interval holds 0 and it is below a
    point, or an accuracy is not known."""
    unlearned: str | None = None
    """The one of the two rows of whose models more than half did not learn, where nothing follows from `leak` for
    that; else `null`."""
    doubt: Annotated[Literal[Reason.UNEQUAL] | None, LeftOut] = None
    "Only where who is a member depends on more than chance: then nothing follows from `leak`."
    settled: bool
    """False where accuracy may be all that sets the two apart or is not known, or where there is an `unlearned` or a
    `doubt`: a model that is more accurate leaks more by that alone."""

    @property
    def apart(self) -> bool:
        """Whether the accuracies are known, and may be all that sets the two apart."""
        return self.missed is not None and not self.settled and self.unlearned is None and self.doubt is None


class RowNumbers(Finding):
    """What tests and intervals say of one row."""

    name: str
    "Unique."
    accuracy: RowAccuracy = RowAccuracy()
    attack: str
    "The attack that finds most under this row at `fpr`."
    auc_attack: str
    "The attack with the largest AUC."
    best_of: Count
    "From how many attacks they were chosen."
    auc: ShareEstimate
    "Of `auc_attack`."
    tpr: ShareEstimate | None = None
    "Of `attack`; `null` if not measurable."
    attacks: tuple[AttackFound, ...]
    pareto: bool
    """Whether no other row beats it: is at least as accurate on non-members and leaks at most as much, and is better
    in one of the two, by the estimates alone; the leak is `tpr`, or `auc` where no `tpr` is measurable; several rows
    may be unbeaten."""
    control: Standing | None = None
    "`null` for the baseline, and for rows that are no recipe."
    role: Role = Role.RECIPE
    """`control`: the baseline stopped early; `non-adaptive`: the models of another row, attacked by one who does not
    know of their defense."""
    matches: tuple[str, ...] = ()
    """For a control, the rows whose accuracy it has; for a non-adaptive row, the row that has its models; for the
    baseline, the rows whose control it is by itself."""
    models: Count = 0
    "How many were audited."
    unlearned: Annotated[Count, Empty] = 0
    "Of how many of them it is known that they did not learn."

    @property
    def right(self) -> float | None:
        """The accuracy on non-members, or None if it is not known."""
        return None if self.accuracy.non_members is None else self.accuracy.non_members.mean

    @property
    def auc_by_labels(self) -> float | None:
        """The AUC of an attacker who sees whether a label is right, and nothing else: it follows from accuracies."""
        members, right = self.accuracy.members, self.right
        return None if members is None or right is None else 0.5 + (members.mean - right) / 2


class Change(Finding):
    """An option in which a recipe differs from the baseline's."""

    key: str
    baseline: JsonValue = None
    value: JsonValue = None


class Row(RowNumbers):
    """One row: a recipe, a control, or the models of a recipe under another attacker."""

    epochs_kept: Number | None = None
    """For a control, after how many epochs it was stopped; chosen by the accuracy of the audited models, no attack
    plays a part."""
    changes: tuple[Change, ...] = ()
    epsilon: Number | None = None
    "The lower bound of its audit."
    accountant: Accountant | None = None
    "What its training promises."
    notices: tuple[str, ...] = ()
    """Which models did not learn; one record or model that outweighs all others; what training had to say, such as
    that a defense never acted, and in how many models; that a defense of the answers leaves the labels as they are."""
    audit: str | None = None
    "The folder of its audit, below that of the comparison."


class Note(StrEnum):
    """What there is to say of a control, or of none.

    No row has one: the baseline is outputs that were brought, or its training has no epochs. One row has none: its
    accuracy is not known; it has the labels of the baseline, which is its control then, as where the baseline ends by
    itself and is no more accurate, or is closest at the end of its training. Its control is less accurate than it: the
    baseline never is as accurate. The baseline is itself defended.
    """

    OUTPUTS = "baseline is outputs"
    NO_EPOCHS = "no epochs"
    ACCURACY_UNKNOWN = "accuracy unknown"
    PATIENT = "baseline stops by itself"
    WHOLE = "whole baseline"
    TOO_ACCURATE = "never as accurate"
    SAME_LABELS = "same labels"
    DEFENDED = "baseline is defended"


class ControlNote(Finding):
    """Why a row has no early-stopped control, or what is wrong with the one that it has."""

    note: Note
    row: str | None = None
    "`null` where it is of the baseline."
    reached: Share | None = None
    "The largest accuracy of the baseline at any epoch, where that is less than the row's."
    epochs: Number | None = None
    "How many epochs the baseline trains, where that is fewer than its schedule has (`of`)."
    of: Count | None = None


class RowCosts(Finding):
    """What a row cost on the machine that trained it; `null` if not known."""

    seconds_per_model: Number | None = None
    peak_memory_bytes_per_model: Number | None = None
    "What training one model held beyond what its process held before, the mean over models."


class ComparisonEnvironment(Environment):
    """Where, when and at what cost a comparison was made."""

    rows: dict[str, RowCosts] = Field(default_factory=dict)
    "By row."


class Comparison(Finding):
    """The numbers of a comparison."""

    fpr: Share | None = None
    "The false-positive rate of every `tpr`; `null` if none is measurable."
    confidence: Number
    "Of every interval."
    baseline: str
    "The row that the others are held against: the undefended one, or `cannot_say` tells that it is defended."
    targets: Annotated[Count | None, LeftOut] = None
    "How many models of each row were audited."
    training_sets: Annotated[Count | None, LeftOut] = None
    "How many training sets these have: only where some have nearly the same members, as checkpoints of one run."
    cannot_say: tuple[str, ...] = ()
    "Sentences on what the comparison does not show."
    rows: tuple[RowNumbers, ...]
    pairs: tuple[PairTest, ...]
    "Every two rows and statistic; what is no recipe is compared with the rows that it matches only."

    @property
    def tests(self) -> PairTests:
        """The pairs, asked from either side."""
        return PairTests(self.pairs)

    @property
    def recipes(self) -> tuple[RowNumbers, ...]:
        """The recipes beside the baseline."""
        return tuple(row for row in self.rows if row.role is Role.RECIPE and row.name != self.baseline)

    def row(self, name: str) -> RowNumbers:
        """The row of a name."""
        return next(row for row in self.rows if row.name == name)

    def matched(self, row: RowNumbers) -> str | None:
        """Name the row that was chosen for a recipe's accuracy: its control, or the baseline where that is it."""
        # An attacker who does not know of a defense matches a row by its models.
        chosen = (one for one in self.rows if one.role is not Role.NON_ADAPTIVE and row.name in one.matches)
        return next((one.name for one in chosen), None)


class _Head(Spoken):
    """What stands first in `compare.json`."""

    detail: tuple[str, ...] = ()
    "The same with its numbers, one sentence a comparison, for people."
    data: Data


class ComparisonDocument(Comparison, _Head):
    """What `compare.json` holds."""

    schema_: Annotated[Literal["reticent.comparison/1"], Field(alias="schema")] = SCHEMA
    rows: tuple[Row, ...]
    "In the order asked for, each attacker who does not know of a defense behind its recipe; controls last."
    notes: Annotated[tuple[ControlNote, ...], Empty] = ()
    "What there is to say of controls."
    environment: ComparisonEnvironment

    def costs(self, row: Row) -> RowCosts:
        """Say what a row cost."""
        return self.environment.rows.get(row.name, RowCosts())
