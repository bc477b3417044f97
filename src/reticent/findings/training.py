"""What a run of the store says of a model: how it was trained, what the procedure did, and how well it does."""

from typing import Annotated

from pydantic import Field

from reticent.findings.base import Empty, Finding, LeftOut, Number
from reticent.findings.epsilon import Accountant
from reticent.findings.numbers import Count, Share


class Cost(Finding):
    """What a training, or a stage of one, took."""

    seconds: Number
    peak_memory_bytes: Count | None = None
    "Held beyond what was held before; `null` where the system cannot tell."


class StageCost(Cost):
    """What one stage of a training took."""

    name: str


class Proof(Accountant):
    """The epsilon that a training proves, and of what it follows."""

    noise: Number
    "Standard deviation, in units of `max_norm`."
    max_norm: Number
    sample_rate: Share
    steps: Count
    neighbours: str


class KindCounts(Finding):
    """Weights of one kind of layer."""

    weights: Count
    rewound: Count


class CwrfFacts(Finding):
    """What `cwrf` did to a model."""

    accuracy_before: Annotated[dict[str, Share], Empty] = Field(default_factory=dict)
    "Of the model that was repaired, by the role of the records."
    weights: Count
    rewound: Count
    "Of them."
    rate: Number
    "The share of these."
    kinds: Annotated[dict[str, KindCounts], Empty] = Field(default_factory=dict)
    "By kind of layer."
    member_loss: Annotated[tuple[Number, ...] | None, LeftOut] = None
    "At the first and the last step of scoring; only where scores chose the weights."
    divergence: Annotated[tuple[Number, ...] | None, LeftOut] = None
    "The same, of what reference non-members are told before and after."
    initial_entropy: Annotated[Share | None, LeftOut] = None
    "Mean entropy of what the initial model says of reference non-members, as a share of ln C; only where it was asked."
    accuracy_scored: Annotated[dict[str, Share], Empty] = Field(default_factory=dict)
    "Of the working copy after the last step of scoring, by the role of the records; only where non-members were asked."
    accuracy_rewound: Annotated[dict[str, Share], Empty] = Field(default_factory=dict)
    "Right after the rewinding, with the trained model's running statistics, by the role of the records."
    positive_scores: Annotated[Count | None, LeftOut] = None
    "How many weights have a score above zero."


class StageEffect(Finding):
    """How far membership shows at one stage."""

    name: str
    size: Count
    "How many numbers its feature map has, for one record."
    effect: Share
    "Chance that a record seen by one network lies farther apart than one seen by both; 0.5 is no trace."
    low: Number
    high: Number
    ks: Number
    "Kolmogorov's distance between the two groups."
    runs: tuple[Number, ...]
    "The effect in each contrast."
    above: bool
    "The effect exceeds one half by the margin, and its lower limit exceeds one half."


class OnsetFacts(Finding):
    """The first stage from which on membership shows."""

    stages: tuple[StageEffect, ...]
    index: Count | None
    "`null` where there is none."
    margin: Number
    confidence: Number
    name: str | None
    "Of it."
    warnings: Annotated[tuple[str, ...], Empty] = ()
    "Only of runs that older code made, as the sentence."
    sentence: Annotated[str, Empty] = ""

    @property
    def safe(self) -> tuple[str, ...]:
        """Names of the stages before it; all of them where there is none."""
        return tuple(stage.name for stage in self.stages[: self.index])

    @property
    def risky(self) -> tuple[str, ...]:
        """Names of it and all later stages."""
        return () if self.index is None else tuple(stage.name for stage in self.stages[self.index :])


class PptpFacts(Finding):
    """What `pptp` did to a model."""

    epochs: Annotated[tuple[Count, Count] | None, LeftOut] = None
    "Of both trainings; only where both were made."
    accuracy_before: Annotated[dict[str, Share], Empty] = Field(default_factory=dict)
    "Of the model that was repaired, by the role of the records."
    stage: str
    "Where the second training begins."
    chosen: str
    "`measured` or `given`."
    frozen: tuple[str, ...] = ()
    "The stages that stay."
    trained_again: tuple[str, ...] = ()
    "The others."
    onset: OnsetFacts | None = None
    "What was measured; `null` where the stage was given."
    parameters: Count = 0
    parameters_frozen: Count = 0
    "Of them."
    share_frozen: Share = 0.0
    "The share of these."


class LayerLeft(Finding):
    """What pruning left of a layer."""

    weights: Count
    left: Count


class SparsityFacts(Finding):
    """What pruning left of a model."""

    rounds: Count
    "How often it was pruned."
    weights: Count
    "That can be pruned: of linear layers and convolutions."
    weights_left: Count
    "Of them."
    density: Share
    "The share of these."
    parameters: Count
    "All of the network's."
    parameters_left: Count
    "Of them."
    density_of_parameters: Share
    "The share of these."
    layers: dict[str, LayerLeft]
    "By the name of the weights."


class SamplerFacts(Finding):
    """What a sampler that goes by memorisation did in the last training of a model."""

    visited: Share
    "Of the members, those that a step was taken on."
    risky: Annotated[Share | None, LeftOut] = None
    "Of the members, those that steps with the stronger weight decay are taken on when they are visited."
    sub_models: Count
    "By which the memorisation scores were measured."
    score_deviation: Number
    "Standard deviation of the scores over the members."
    score_error: Number | None
    "Root mean square of their standard errors; `null` where one sub-model alone leaves a member out, or trains on it."


class MistFacts(Finding):
    """What `mist` did to a model."""

    rounds: Count
    disagreement: tuple[Number | None, ...]
    "Of the copies at the end of each round; `null` without a second phase."
    validation: tuple[Number, ...]
    "Loss of each round's average, for early stopping."


class SelenaFacts(Finding):
    """What `selena` did to a model."""

    sub_model_members: tuple[Count, ...]
    sub_model_loss: tuple[Number, ...]
    targets: str
    "`view` or `stored`."


class ProcedureFacts(Finding):
    """What a procedure says of a training."""

    selena: Annotated[SelenaFacts | None, LeftOut] = None
    mist: Annotated[MistFacts | None, LeftOut] = None
    notices: Annotated[tuple[str, ...], Empty] = ()
    "Sentences for the report."
    accountant: Annotated[Proof | None, LeftOut] = None
    "The epsilon that it proves."
    cwrf: Annotated[CwrfFacts | None, LeftOut] = None
    pptp: Annotated[PptpFacts | None, LeftOut] = None
    sparsity: Annotated[SparsityFacts | None, LeftOut] = None
    sampler: Annotated[SamplerFacts | None, LeftOut] = None
    stages: Annotated[tuple[StageCost, ...], Empty] = ()
    "In order; all else is the same in two runs of one seed."


class Reading(Finding):
    """What the user's code read that made a model."""

    read: Annotated[dict[str, str], Empty] = Field(default_factory=dict)
    "By the name of a file of the user's: its hash then; empty where there was none."


class CostedFacts(ProcedureFacts, Cost, Reading):
    """What is said of a training, and what it took."""

    model: Count
    "The model's row."


class RepairFacts(CostedFacts):
    """What the run of a repaired model says."""

    kind: str = "repair"
    data: str
    "Name of the records."


class TrainingFacts(CostedFacts):
    """What the run of a trained model says."""

    kind: str = "training"
    data: str
    "Name of the data set."
    reticent: str
    torch: str
    python: str
    device: str
    finished: str
    "ISO 8601."


class MemorisationFacts(Cost, Reading):
    """What the run of a model's memorisation scores says."""

    kind: str = "memorisation"
    model: Count
    "The model's row."
    data: str
    "Name of the data set."


class Stacking(Finding):
    """How many models are trained as one batched computation, and what was measured to pick that."""

    stack: Count
    "1 is each alone."
    microseconds: dict[str, Number]
    "Of one model's step, by how many models are trained together."


class StackingFacts(Stacking):
    """What the run says that keeps how models of a recipe are trained."""

    kind: str = "stacking"
    data: str
    "Name of the data set."
    device: str
    "Where it was measured."


class ProbeFacts(Cost):
    """What the run of a model's answers to a probe says."""

    kind: str = "probe"
    of: str
    "The run that trained it."
    model: Count
    "The model's row."


class SignalsFacts(CostedFacts):
    """What the run of a model's answers says: of its training, and of how well the model does."""

    kind: str = "signals"
    of: str
    "The run that trained it."
    parameters: Count
    members: Count
    accuracy_members: Share
    accuracy_non_members: Share
    largest_class_share: Share
    "Of the members: what naming one class would give."
