"""The documents of `reticent locate`: what `weights.json`, `layers.json` and `records.json` hold."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema

from reticent.findings.audit import ExposureCount
from reticent.findings.base import Empty, Finding, Interval, LeftOut, Number, Plain, Spoken
from reticent.findings.environment import Environment
from reticent.findings.numbers import Count, Share
from reticent.findings.population import Data, Population
from reticent.findings.records import RecordRow

WEIGHTS: Final = "reticent.locate.weights/1"
LAYERS: Final = "reticent.locate.layers/1"
RECORDS: Final = "reticent.locate.records/1"


class Origin(StrEnum):
    """Where a model's state before training is from."""

    TRAINING = "training"
    FILE = "file"
    GIVEN = "given"
    SEED = "seed"
    FRESH = "fresh draw"


class ScoredModel(Finding):
    """The model whose weights were scored."""

    name: str
    run: Annotated[str | None, LeftOut] = None
    "Only of a population: its folder in the store."
    row: Annotated[Count | None, LeftOut] = None
    "And its row."
    entries: Count
    "How many weights were scored."
    unused: tuple[str, ...] = ()
    "Parameters that never had a gradient."


class InitialState(Finding):
    """The state before training."""

    origin: Origin
    entropy: Number | None = None
    "Mean entropy of its answers on non-members, as a share of log C; `null` if it was not asked."


class ScoredData(Finding):
    """The records that weights were scored by."""

    name: str
    classes: Count
    members: Count
    reference: Count
    accuracy_members: Share
    accuracy_reference: Annotated[Share | None, LeftOut] = None
    "Only where there are reference non-members."
    learned: bool = True
    "False where the model labels its members no better than naming one class would, by more than chance allows."
    commonest: Share = 0.0
    "Share of the largest class among the members."
    unlearned: str | None = None
    "That it did not learn, for people."


class Density(Finding):
    """How many weights have which two scores."""

    x: Interval
    "Decimal logarithms of learnability, from the first cell to the last; what is less counts in the first."
    y: Interval
    "Of vulnerability."
    counts: tuple[tuple[Count, ...], ...]
    "By rows of `y`, from below."


class ByKind(Finding):
    """How the two scores agree within a kind of layer."""

    kind: str
    "`all`, or the kind."
    entries: Count
    share: Share
    "Of all weights."
    vulnerability: Number | None = None
    "Share of all vulnerability that they hold; `null` if there is none."
    pearson: Number | None = None
    "Correlation of the scores; `null` where one of them does not vary."
    log_pearson: Number | None = None
    "Of their logarithms, over weights whose scores are both above zero."
    spearman: Number | None = None
    "Of their ranks."
    positive: Count
    "How many weights have two scores above zero."
    density: Density | None = None


class Largest(Finding):
    """What the largest scores hold."""

    rate: Share
    "Share of the weights that is taken."
    entries: Count
    vulnerability: Number | None = None
    "Share of all vulnerability that the most vulnerable hold; `null` if there is none."
    learnability: Number | None = None
    "The same of learnability."
    shared: Share | None = None
    "Share of these weights that both scores take; `null` if none is taken."
    jaccard: Share | None = None
    "Of the two sets."


class ByLayer(Finding):
    """What one module holds by its own parameters."""

    layer: str
    kind: str
    entries: Count
    share: Share
    vulnerability: Number | None = None
    learnability: Number | None = None
    marked: Share
    "Share of its weights among the 1 % most vulnerable."


class StableRate(Finding):
    """How much the sets of the largest vulnerability agree between scorings."""

    rate: Share
    mean: Share
    "Jaccard index, over pairs of scorings."
    least: Share
    chance: Share
    "Of two random sets."


class Stability(Finding):
    """How much the largest scores depend on the draw of batches."""

    seeds: Count
    pairs: Count
    rows: tuple[StableRate, ...]
    "One a rate at which at least one weight is taken."


class Steps(Finding):
    """What the working copy did, step by step (nats)."""

    member_loss: tuple[Number, ...]
    divergence: tuple[Number, ...] = ()
    "Of non-members from the initial model."


class ScoringSteps(Finding):
    """The steps of every scoring."""

    vulnerability: tuple[Steps, ...]
    "One a scoring."
    learnability: Steps


class WeightsEnvironment(Environment):
    """Where, when and at what cost weights were scored."""

    seconds: Number = 0.0
    "In all."
    parameters: Count = 0


class WeightsDocument(Spoken):
    """What `weights.json` holds."""

    schema_: Annotated[Literal["reticent.locate.weights/1"], Field(alias="schema")] = WEIGHTS
    model: ScoredModel
    initial: InitialState
    data: ScoredData
    scoring: Plain
    "The options, defaults written out."
    kinds: tuple[ByKind, ...]
    "All weights, then each kind."
    largest: tuple[Largest, ...]
    layers: tuple[ByLayer, ...]
    "In the order of the network."
    stability: Stability | None = None
    "Only of more than one scoring."
    steps: ScoringSteps
    cannot_say: tuple[str, ...] = ()
    "Sentences on what the scores do not show."
    environment: WeightsEnvironment

    @property
    def unlearning(self) -> float:
        """The part of the divergence in the loss that scores vulnerability; at 0 that is learnability."""
        return float(self.scoring["unlearning"])  # type: ignore[arg-type]


class OnsetRule(Finding):
    """The first stage from which on membership shows."""

    stage: str | None = None
    "`null` where there is none."
    index: Count | None = None
    "Of it, from 0."
    safe: tuple[str, ...]
    "The stages before it."
    risky: tuple[str, ...]
    "It and all later ones."
    margin: Number
    "By so much the effect of a risky stage exceeds one half."
    confidence: Number
    "Of the intervals over records; the lower limit exceeds one half, too."
    contrasts: Count
    "Pairs of networks that were compared."


class Effect(Finding):
    """The chance that a record that one network has seen lies farther apart than one that both have seen."""

    mean: Share
    "Over the contrasts; 0.5 is no trace."
    interval: Interval
    "Over records."


class ProbeAccuracy(Finding):
    """How well a linear machine labels test records from the features of a stage."""

    mean: Share
    interval: Interval
    "That of one repetition's test records, which the mean is surer than."
    repetitions: tuple[Share, ...]
    settled: bool
    "Whether the solver came to an end every time."


class DistanceMeans(Finding):
    """Mean distances."""

    both: Number
    one: Number


class Distances(Finding):
    """How far apart the feature maps of two networks lie, over all records and contrasts."""

    edges: tuple[Number, ...]
    "Of the bins; the first and the last take in what lies outside."
    both: tuple[Count, ...]
    "Of records that both networks have seen."
    one: tuple[Count, ...]
    "Of those that one has seen."
    means: DistanceMeans


class StageFound(Finding):
    """One stage."""

    name: str
    output: str
    "The module at its end."
    size: Count
    "Numbers of its feature map, for one record."
    parameters: Count
    share: Share
    "Of all parameters."
    effect: Effect
    effects: tuple[Share, ...]
    "In each contrast."
    ks: Share
    "Kolmogorov's distance between the two groups; decides nothing."
    above: bool
    "The effect exceeds one half by the margin, and its lower limit one half."
    risky: bool
    "And so do all later ones."
    probe: ProbeAccuracy | None = None
    gain: Number | None = None
    "Of the probe over the stage before."
    distances: Distances


class MeanAccuracy(Finding):
    """Accuracy of the networks on all records."""

    mean: Share
    "On the test records."
    repetitions: tuple[Share, ...]


class TrainedNetwork(Finding):
    """One network."""

    repetition: Count
    trained_on: str
    "`all`, `half 1` or `half 2`."
    run: str
    "Its folder in the store."
    members: Count
    epochs: Count | None = None
    "That its training began; `null` where a training of the user's own does not tell."
    steps: Count | None = None
    "Of plain training; `null` where a defense or a sampler divides the epochs itself."
    accuracy_members: Share
    accuracy_test: Share
    learned: bool = True
    "False where it labels its own records no better than naming one class would, by more than chance allows."


class LayersData(Data):
    """The records of `locate layers`."""

    trained_on: Count
    test: Count
    "Records that no network is trained on."


class LayersDocument(Spoken):
    """What `layers.json` holds."""

    schema_: Annotated[Literal["reticent.locate.layers/1"], Field(alias="schema")] = LAYERS
    detail: tuple[str, ...] = ()
    "What stands against trusting it, for people."
    onset: OnsetRule
    stages: tuple[StageFound, ...]
    "In forward order."
    accuracy: MeanAccuracy
    models: tuple[TrainedNetwork, ...]
    data: LayersData
    options: Plain
    recipe: Plain
    cannot_say: tuple[str, ...] = ()
    "Sentences on what this does not show."
    environment: Environment


class Memorisation(Finding):
    """The memorisation of all records of which it is known."""

    records: Count
    mean: Number
    quantiles: dict[str, Number]
    "By level."
    memorised: Count
    "Records at `threshold` or more."
    reversed: Count | None
    """Records at its negative or less: what chance does. `null` where some have more models with them than without, or
    fewer, so that chance is not the same both ways."""
    threshold: Number


def _row(given: RecordRow | Mapping[str, Any]) -> RecordRow:
    return given if isinstance(given, RecordRow) else RecordRow.from_json(given)


ListedRow = Annotated[
    RecordRow,
    PlainValidator(_row),
    PlainSerializer(RecordRow.to_json),
    WithJsonSchema({"type": "object", "description": "A line of `records.csv`."}),
]


class RecordsEnvironment(Environment):
    """Where, when and at what cost; for a finished audit, of what audit."""

    audit: Annotated[Plain | None, LeftOut] = None
    "Only of a finished audit: reticent's version, when, and on which device."


class RecordsDocument(Spoken):
    """What `records.json` holds."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    schema_: Annotated[Literal["reticent.locate.records/1"], Field(alias="schema")] = RECORDS
    detail: tuple[str, ...] = ()
    "Models that did not learn, and what single records show, for people."
    source: str
    "`trained`, or the audit that the numbers are from."
    exposure: ExposureCount | None = None
    memorisation: Memorisation | None = None
    "`null` if it is known of no record."
    most_exposed: tuple[ListedRow, ...]
    "Up to 100 lines of `records.csv`."
    most_memorised: tuple[ListedRow, ...]
    data: Data
    population: Population
    recipe: Plain | None = None
    cannot_say: tuple[str, ...] = ()
    "Sentences on what this does not show."
    environment: RecordsEnvironment
    records: Annotated[Count, Empty] = 0
    "In `records.csv`."
    models: Annotated[Count, Empty] = 0
    "Most models that the numbers of a record are from."
