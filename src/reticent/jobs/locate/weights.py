"""``reticent locate weights``: which weights give members away, and whether the network learns by the same ones."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike
from torch import nn

from reticent.data.records import Records
from reticent.errors import InputError, SpecError
from reticent.findings.locate import InitialState, ScoredModel, WeightsDocument, WeightsEnvironment
from reticent.jobs.base import Reported, Work
from reticent.jobs.config import KEYS, asked, by_record, prepare
from reticent.jobs.locate.numbers import by_kind, by_layer, held, known
from reticent.jobs.locate.options import divided, refuse, taken
from reticent.jobs.locate.scores import read_scores, scored
from reticent.jobs.locate.source import Source, Weights, of_own, of_population
from reticent.locate.layer_kinds import layer_kinds
from reticent.locate.scoring import Scores
from reticent.locate.weights import Scoring
from reticent.options import AuditConfig
from reticent.population.in_store import using
from reticent.population.worker import choose_device
from reticent.report.kinds import page
from reticent.report.output import WEIGHTS, Output
from reticent.say import locate as say
from reticent.spec import full
from reticent.torch_state import fixed
from reticent.training.memory import peak

FOLDER = "reticent-locate"


@dataclass(frozen=True, eq=False)
class LocatedWeights(Reported[WeightsDocument]):
    """Scores of a network's weights, and what they say.

    Attributes:
        files: weights.html, vulnerability.safetensors, learnability.safetensors and weights.json.
    """

    @cached_property
    def vulnerability(self) -> Scores:
        """Privacy vulnerability, ``float32`` by parameter name; read from the disk on first use."""
        return read_scores(self.files[1])

    @cached_property
    def learnability(self) -> Scores:
        """Learnability, ``float32`` by parameter name; read from the disk on first use."""
        return read_scores(self.files[2])


@fixed()
def locate_weights(
    config: AuditConfig | str | Path | None = None,
    *,
    network: nn.Module | None = None,
    weights: Weights | None = None,
    initial: Weights | int | None = None,
    members: ArrayLike | str | Path | None = None,
    model: int = 0,
    seeds: int = 1,
    stage: Callable[[str], None] | None = None,
    **values: Any,
) -> LocatedWeights:
    """Score every weight of a network: how much it leaks of membership, and how much the network learns by it.

    Without ``network`` and ``weights``, the model is one of the population that `reticent.audit` would train with the
    same configuration; it is found in the store, or trained and kept there.

    Args:
        config: a configuration of an audit, the path of a TOML file, or None.
        network: a trained module of your own; it is not changed.
        weights: or the trained state of ``architecture``: a file, or tensors by name.
        initial: with either, the state before training: a file, tensors by name, or the seed that ``torch.manual_seed``
            was given right before the architecture was built; None is a fresh draw, which is told as such.
        members: with either, the data set's rows that the model was trained on: ids, booleans, or a file of them.
        model: without either, which model of the population.
        seeds: how often vulnerability is scored, with other batches each time; from 2 on, stability is told.
        stage: called with words before each part.
        **values: keys of `AuditConfig` or `Recipe`, as for `reticent.audit`; and ``scoring__NAME``, options of
            `reticent.locate.weights.Scoring`. ``reference`` is by default a fifth of the records for a model that is
            trained here, and as many as there are members for one that is given.

    Returns:
        The document, and where the files are.

    Raises:
        InputError: an argument that does not go with the others.
        SpecError: an option of the scoring that is not given as one, or a key that means nothing here.

    Example:
        >>> import reticent
        >>> found = reticent.locate_weights(dataset="digits", epochs=5, out="/tmp/w")  # doctest: +SKIP
        >>> print(found.sentence)  # doctest: +SKIP
    """
    own, rest = divided(values, ["scoring"])
    scoring = Scoring(**own.get("scoring", {}))
    refuse(rest, "locate weights")
    for key in rest:
        if key in Scoring.model_fields and key not in KEYS:
            raise SpecError(f"{key}: is an option of the scoring: give it as scoring__{key}")
    if seeds < 1:
        raise InputError(f"seeds: expected 1 or more, got {seeds}")
    given = network is not None or weights is not None
    if given:
        refuse(rest, "locate weights --weights")
    if given and model:
        raise InputError(
            f"model: says which model of a population is scored, got {model} beside a model of your own: leave it out"
        )
    if given != (members is not None) or (initial is not None and not given):
        raise InputError(
            "a model of your own is given by network or weights, together with its members and its initial state: "
            f"got {'no members' if given else 'neither network nor weights'}"
        )
    chosen, records = asked(config, rest)
    by_record(chosen)
    out = taken(chosen, FOLDER, WEIGHTS, [weights, initial, members, chosen.dataset])
    work = Work(stage)
    with ExitStack() as held_open:
        if given:
            own = {"members": members, "network": network, "weights": weights, "initial": initial}
            source = of_own(chosen, records, choose_device(chosen.device), bool(scoring.unlearning), **own)
            out.begin()
        else:
            source = _trained(chosen, records, model, scoring, work, held_open, out)
        return _located(source, chosen, scoring, seeds, out, work)


def _trained(
    config: AuditConfig,
    records: Records | None,
    row: int,
    scoring: Scoring,
    work: Work,
    held: ExitStack,
    out: Output,
) -> Source:
    if scoring.unlearning and config.reference == 0:
        raise InputError(
            "vulnerability needs reference non-members: expected --reference of 1 or more, got 0; or give "
            "--unlearning 0, which scores learnability"
        )
    job = prepare(config, records, attacked=False, reference=scoring.unlearning > 0)
    store = held.enter_context(using(job.config.store, job.population))
    out.begin()
    with work.on("training", "training"):
        return of_population(job, row, store)


def _located(
    source: Source, config: AuditConfig, scoring: Scoring, repeats: int, out: Output, work: Work
) -> LocatedWeights:
    """Score, and write the page and, last, the numbers; the scores themselves are files of their own by then."""
    source.restore()
    device = source.materials.prepare.device
    with work.on("scoring"):
        data = known(source, config.dataset)
        with peak(device) as memory, source.streams.lent("asking"):
            found = scored(source, scoring, repeats, out.folder, work.tell)
    parameters, of = sum(p.numel() for p in source.network.parameters()), layer_kinds(source.network)
    source.network.to("meta")
    with work.on("numbers", "numbers"):
        vulnerability, learnability = found.read()
        table = by_kind(vulnerability, learnability, of)
        largest = held(vulnerability, learnability, found.unused)
        layers = by_layer(vulnerability, learnability, of, found.unused)
    environment = dict(work.environment(device=str(device))) | {"peak_memory_bytes": memory.bytes}
    document = WeightsDocument(
        model=ScoredModel(
            name=source.name, run=source.run, row=source.row, entries=table[0].entries, unused=found.unused
        ),
        initial=InitialState(origin=source.origin, entropy=found.entropy),
        data=data,
        scoring=full(scoring),
        kinds=table,
        largest=largest,
        layers=layers,
        stability=found.stability,
        steps=found.steps,
        environment=WeightsEnvironment(
            **environment, seconds=round(sum(work.seconds.values()), 3), parameters=parameters
        ),
    )
    document = say.weights(document)
    work.tell("report")
    shown, numbers = out.write(document, {"weights.html": page(document)})
    return LocatedWeights(document, (shown, *found.files, numbers))
