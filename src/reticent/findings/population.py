"""What was audited: the data, and the models."""

from statistics import fmean
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reticent.findings.base import Empty, Finding, LeftOut, Number, Plain, agree
from reticent.findings.numbers import Count, Share, Spread
from reticent.options import UnitScore

ROUNDED = 2e-6
"""Means of numbers of six decimals differ by less."""


class ColumnReading(Finding):
    """How one column of a table was read."""

    column: str
    read_as: str
    values: Count | None = None
    "Different ones; `null` where nobody looked."
    missing: Count = 0
    "Records without one."
    features: Count = 0
    "How many it became."
    note: str = ""
    telling: bool = False
    "Whether the note should not be overlooked."


class PersonColumn(Finding):
    """A column that looks like a person's number: how many different values it has, in how many records."""

    column: str
    persons: Count
    records: Count


class Data(Finding):
    """What was audited. For outputs that a user brings, keys that nobody knows are left out."""

    name: str
    kind: str = ""
    "`image`, `tabular`, `tokens` or `outputs`."
    records: Count
    shape: Annotated[tuple[Count, ...] | None, LeftOut] = None
    "Of one record."
    classes: Count = 0
    class_names: tuple[str, ...] = ()
    "One a class, or empty."
    digest: Annotated[str | None, LeftOut] = None
    "Hash of the records' content."
    duplicates: Annotated[Count | None, LeftOut] = None
    "Records that equal an earlier one exactly."
    roles: Annotated[dict[str, Count] | None, LeftOut] = None
    """Number of records in each role: `audited`, `validation`, `reference` (the defender's), `population` (the
    attacker's)."""
    roles_digest: Annotated[str | None, LeftOut] = None
    "Hash of who has which role."
    unit: Annotated[str | None, LeftOut] = None
    """Only where units of several records are audited, such as persons: the column that names them. Members,
    non-members and shares of all attacks, groups and epsilons are then of units."""
    units: Annotated[Count | None, LeftOut] = None
    "How many units the audited records are of."
    unit_score: Annotated[UnitScore | None, LeftOut] = None
    "How the scores of a unit's records became its own."
    persons: Annotated[tuple[PersonColumn, ...], Empty] = ()
    "Only where records are audited: columns by which one person has several of them."
    licence: Annotated[str | None, LeftOut] = None
    citation: Annotated[str | None, LeftOut] = None
    columns: Annotated[tuple[ColumnReading, ...], Empty] = ()
    "Only for tables, in the table's order."
    fitted: Annotated[str | None, LeftOut] = None
    "Only for tables: on what categories, medians and scales were fitted."


class Unlearned(Finding):
    """A model that labels its members, or others if it has none, no better than naming one class would."""

    model: Count
    problem: str = ""
    "The same, for people."


class Accuracy(Finding):
    """Share of records that are labelled correctly, over the models that have such."""

    members: Spread
    non_members: Spread
    independent: Annotated[Annotated[Number, Field(ge=1)] | None, LeftOut] = None
    """How many independent records would say as much of `non_members`: models may share their non-members, and records
    of one unit may be alike; 1 / Σ w², w a record's, or unit's, share of all that the mean is of."""


class ModelFacts(Finding):
    """One model."""

    model: Count
    run: str | None = None
    "Its folder in the store."
    members: Count
    accuracy_members: Share | None
    "`null` where it holds none of the records."
    accuracy_non_members: Share | None
    "`null` where it holds all of them."


class PptpRepair(Finding):
    """What `pptp` did in a population."""

    chosen: str
    "`measured` or `given`."
    stages: dict[str, Count]
    "Where the second training begins, to the number of models."
    risky: dict[str, Count]
    "First risky stage, to the number of models."
    none_found: Count
    "Models without one."
    effect: tuple[Number, Number, Number] | None = None
    "Least, mean, largest at the first risky stage."
    share_frozen: Share
    "Mean share of the weights that stay."


class CwrfRepair(Finding):
    """What `cwrf` did in a population."""

    weights: Count
    "Of a model."
    rewound: Number
    "Of them, mean over models."
    kinds: dict[str, Number]
    "Rewound by kind of weight, mean over models."


class PrunedPopulation(Finding):
    """What pruning left in a population, means over models."""

    rounds: Count
    "How often each model was pruned."
    weights: Count
    "Of a model, that can be pruned: of linear layers and convolutions."
    weights_left: Number
    "Of them."
    parameters: Count
    "All of a model's."
    parameters_left: Number
    "Of them."


class Repair(Finding):
    """What repairing and pruning procedures did, where it was done to every model."""

    pptp: Annotated[PptpRepair | None, LeftOut] = None
    cwrf: Annotated[CwrfRepair | None, LeftOut] = None
    sparsity: Annotated[PrunedPopulation | None, LeftOut] = None


class Population(Finding):
    """The models. For outputs that a user brings, keys that nobody knows are left out."""

    models: Count
    seed: Annotated[int | None, LeftOut] = None
    "The master seed, from which every stream is derived."
    parameters: Annotated[Count | None, LeftOut] = None
    "Of a model."
    targets: Annotated[tuple[Count, ...] | None, LeftOut] = None
    "Only of outputs that were brought: the audited models."
    references: Annotated[Count | None, LeftOut] = None
    "Only of outputs that were brought: how many models attacks may learn from."
    membership_digest: Annotated[str | None, LeftOut] = None
    "Hash of who was trained on what."
    shares: Annotated[tuple[Share, Share] | None, LeftOut] = None
    """Only where records differ, by more than chance allows, in which share of the models was trained on them: the
    least and the largest share."""
    difficulty: Annotated[Share | None, LeftOut] = None
    """Only where records that models find easier, or harder, are members more often than chance allows: the AUC with
    which what a model says of records that it was not trained on tells another model's members."""
    overall_confidence: Annotated[Share | None, LeftOut] = None
    """Only where models that hold the same records are alike, or unlike, in how sure they are of all records: the AUC
    that a likelihood ratio reaches by that alone."""
    contradicted: Annotated[Share | None, LeftOut] = None
    """Only where records have exact copies, with the same label: the share of members and non-members of which a copy
    is the other of the two, over all targets and the records that are audited. Of these nothing can be found."""
    labels_alone: Annotated[Literal[True] | None, LeftOut] = None
    "Only where answers say no more than a label: none has a confidence of its own."
    stacked: Annotated[Literal[True] | None, LeftOut] = None
    "Only where models were trained as one batched computation; trained alone, their last bits may be others."
    queries: Annotated[Plain | None, LeftOut] = None
    "How each record was shown to the models: `mirror`, `shift`."
    accuracy: Annotated[Accuracy | None, LeftOut] = None
    "Of all models."
    accuracy_of_targets: Annotated[Accuracy | None, LeftOut] = None
    "Of the audited models, only where these are not all."
    health: tuple[Unlearned, ...] | None = None
    "Models that did not learn; empty if there are none, `null` where margins alone were given and do not tell."
    per_model: tuple[ModelFacts, ...] = ()
    notices: Annotated[tuple[str, ...], Empty] = ()
    "Only where training has something to say of the models: sentences, which stand under `cannot_say` too."
    repair: Annotated[Repair | None, LeftOut] = None
    "Only where every model was repaired."

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        """Hold the numbers over models against those of each."""
        if self.per_model:
            agree("models", len({one.model for one in self.per_model}), self.models)
        if self.per_model and self.accuracy is not None:
            for side in ("members", "non_members"):
                each = (getattr(one, f"accuracy_{side}") for one in self.per_model)
                mean = fmean(accuracy for accuracy in each if accuracy is not None)
                told = getattr(self.accuracy, side).mean
                if abs(mean - told) > ROUNDED:
                    agree(f"accuracy.{side}.mean", round(mean, 6), told)
        return self

    @property
    def unequal(self) -> bool:
        """Whether who is a member depends on more than chance: then attacks tell members by that, too."""
        return self.shares is not None or self.difficulty is not None or self.overall_confidence is not None

    @property
    def audited_models(self) -> int:
        """How many models are audited."""
        return self.models if self.targets is None else len(self.targets)

    @property
    def audited_accuracy(self) -> Accuracy | None:
        """The accuracy of the audited models, or None if it is not known."""
        return self.accuracy if self.audited_models == self.models else self.accuracy_of_targets

    @property
    def unlearned(self) -> int:
        """How many models are known not to have learned."""
        return len(self.health or ())

    @property
    def audited_unlearned(self) -> int:
        """How many of the audited models are known not to have learned."""
        return sum(self.targets is None or one.model in self.targets for one in self.health or ())

    @property
    def labels_in_doubt(self) -> bool:
        """Whether none of the models that were brought is known to have learned, so that the labels may be wrong."""
        return self.targets is not None and self.unlearned == self.models

    @property
    def mostly_unlearned(self) -> bool:
        """Whether most models are known not to have learned."""
        return 2 * self.unlearned > self.models
