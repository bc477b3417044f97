"""Make one model of a population: train it or find it, look at it or find what was seen, keep both in the store."""

import copy
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from reticent.ambient import fixed
from reticent.errors import ModelError, ReticentError, StoreLockedError
from reticent.findings.training import (
    Cost,
    CostedFacts,
    MemorisationFacts,
    ProbeFacts,
    ProcedureFacts,
    SignalsFacts,
    StageCost,
    TrainingFacts,
)
from reticent.objectives.base import Examples
from reticent.objectives.imitation import Imitation
from reticent.outputs import OUTPUTS, Context, Output
from reticent.population.population import MemorisationRun, Population
from reticent.population.probing import PROBES, Probed
from reticent.procedures import PROCEDURES, Trained
from reticent.procedures.base import Before, snapshot, undefended
from reticent.procedures.costs import FIRST
from reticent.procedures.estimator import CLIPPED, Estimator
from reticent.procedures.scored import measured
from reticent.samplers.base import Memorisation
from reticent.signals.probes import Probe
from reticent.signals.query import UNSTEADY, Seen, ask, unsteady
from reticent.spec import canonical, full, identity
from reticent.store import Draft, Run, Store
from reticent.training.data import Preparation
from reticent.training.loop import History
from reticent.training.materials import Materials, forward
from reticent.training.memory import peak
from reticent.training.recipe import Untouched
from reticent.usercode import told
from reticent.version import VERSION

ANSWERS = "answers"
"""The array of ``probe.safetensors``: what a model says to a probe, ``(N, K)``."""
LOSSES = "losses"
"""Among a traced run's artefacts: of every member ``(E + 1, n)``, before training and after each of E epochs."""


Failure = tuple[int, ReticentError]
"""A model's row, and why it could not be made; the message begins with the row."""


@dataclass(frozen=True)
class Made:
    """What is known of one model once it is made.

    Attributes:
        model: its row.
        training: the id of the run that holds its weights.
        signals: the id of the run that holds its signals.
        facts: what was measured when it was trained and asked.
        fresh: it was trained now, not found.
        probes: the ids of the runs that hold what it says to the population's probes, in their order.
    """

    model: int
    training: str
    signals: str
    facts: SignalsFacts
    fresh: bool
    probes: tuple[str, ...] = ()


def choose_device(wish: str, *, elsewhere: bool = False) -> str:
    """Turn a wish into a device's name; what is wished for of machines elsewhere need not be here."""
    if elsewhere and wish == "cuda":
        return wish
    if wish == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if wish.partition(":")[0] not in {"cpu", "cuda"}:
        raise ModelError(f"device: expected auto, cpu, cuda or cuda:N, got {wish!r}")
    if wish.startswith("cuda") and not torch.cuda.is_available():
        raise ModelError(
            f"device {wish!r}: this machine, or this build of PyTorch ({torch.__version__}), has no CUDA device"
        )
    return wish


def find(population: Population, store: Store, model: int) -> Made | None:
    """Find a model that is finished."""
    training, signals, *probes = population.run_ids(model)
    run = store.find(signals)
    if run is None or any(store.find(probe) is None for probe in probes):
        return None
    return Made(model, training, signals, run.read(SignalsFacts), fresh=False, probes=tuple(probes))


@contextmanager
def _about(model: int) -> Iterator[None]:
    """Say in an error, a user's own too, which model it is about."""
    try:
        yield
    except ReticentError as error:
        raise error.prefixed(f"model {model}: ") from error
    except (Exception, SystemExit) as error:
        raise ModelError(f"model {model}: {told(error)}") from error


class Maker:
    """Makes the models of one population in one process, on one device."""

    @fixed()
    def __init__(self, population: Population, store: Store, device: str) -> None:
        self.population, self.store = population, store
        self.device = torch.device(choose_device(device))
        records, roles = population.records, population.roles
        self.prepare = Preparation(records, self.device)
        self.audited = self.prepare.examples(records, roles.audited)
        self.others = self.prepare.examples(records, roles.population)
        self.validation = self.prepare.examples(records, roles.validation)
        self.reference = self.prepare.examples(records, roles.reference)
        self._fresh: dict[int, nn.Module] = {}

    def make_all(self, models: Sequence[int]) -> Iterator[Made | Failure]:
        """Make some models, or find them; those that can be are trained together first."""
        failed = dict(self._train_together(models)) if self.population.stack > 1 else {}
        for model in models:
            try:
                if model in failed:
                    raise failed[model]
                yield self.make(model)
            except ReticentError as error:
                yield model, error

    def make(self, model: int) -> Made:
        """Make one model, or find it finished."""
        with _about(model):
            return find(self.population, self.store, model) or self._make(model, *self.population.run_ids(model))

    def trained(self, model: int) -> tuple[Run, nn.Module]:
        """Train one model, or find it, and bring it back; nothing is kept of what it answers."""
        with _about(model):
            run, network = self.store.found_or_made(self.population.training_id(model), partial(self._train, model))
            return run, network or self._load(model, run)

    def _make(self, model: int, training: str, signals: str, *probes: str) -> Made:
        run, made = self.store.found_or_made(training, partial(self._train, model))
        network = made = made or self._fresh.pop(model, None)
        seen, _ = self.store.found_or_made(
            signals, lambda draft: self._look(model, network or self._load(model, run), run, draft)
        )
        for probe, name in zip(self.population.probes, probes, strict=True):
            if self.store.find(name) is None:
                network = network or self._load(model, run)
                self.store.found_or_made(name, partial(self._probe, model, network, probe))
        return Made(model, training, signals, seen.read(SignalsFacts), fresh=made is not None, probes=probes)

    def materials(self, model: int) -> Materials:
        """Gather what one model is trained from."""
        population = self.population
        members = self.prepare.examples(population.records, population.members(model))
        watched = None
        if population.watch:
            others = population.roles.audited[~population.membership.matrix[model]]
            watched = self.prepare.examples(population.records, others)
        classes, imitated, instead = population.records.classes, population.imitated, None
        if imitated is not None:
            answers = torch.from_numpy(imitated.answers[population.membership.members(model)])
            instead = Imitation(imitated.spec, answers.to(self.device))
        return Materials(
            members,
            self.validation,
            self.reference,
            self.prepare,
            classes,
            watched,
            traced=population.trace,
            instead=instead,
        )

    @fixed()
    def _trained(self, model: int, before: Run | None = None) -> Trained:
        """Train one model, from its first stage on or from the run that was its first stage."""
        recipe, streams = self.population.recipe, self.population.streams(model)
        procedure = PROCEDURES[recipe.procedure.method]
        if self.population.stack > 1 and procedure.together is not None:
            [found] = self._together([model])
            if isinstance(found, ReticentError):
                raise found
            return found
        materials = self._known(model)
        with streams.lent("training"):
            if before is None or procedure.repair is None:
                return procedure.train(recipe, materials, streams)
            made = procedure.repair(
                _state(before, "weights"), _state(before, "initial"), recipe, materials, streams, _before(before)
            )
        earlier = before.read(ProcedureFacts).stages or (StageCost(name=FIRST, **dict(before.read(Cost))),)
        return replace(made, facts=made.facts.with_(stages=(*earlier, *made.facts.stages)))

    def _known(self, model: int) -> Materials:
        """Gather what one model is trained from, with what its sampler goes by."""
        return replace(self.materials(model), memorisation=self._memorised(model))

    @fixed()
    def _together(self, models: Sequence[int]) -> list[Trained | ReticentError]:
        """Train models as one batched computation, or by halves where the device has not the memory for all."""
        population = self.population
        together = PROCEDURES[population.recipe.procedure.method].together
        assert together is not None, "a population is stacked where its training can be"
        try:
            return together(population.recipe, [*map(self._known, models)], [*map(population.streams, models)])
        except torch.OutOfMemoryError:
            if len(models) == 1:
                raise
        half = len(models) // 2
        return self._together(models[:half]) + self._together(models[half:])

    def _train_together(self, models: Sequence[int]) -> Iterator[Failure]:
        """Train those that are missing as one batched computation, or what comes first in their training.

        Each is a run of the store of its own. What another process makes, or has made, is left out.
        """
        population, first = self.population, copy.copy(self)
        stages = [population, *population.earlier]
        first.population = stages[-1]
        with ExitStack() as claims:
            drafts: dict[int, tuple[ExitStack, Draft]] = {}
            for model in models:
                if any(self.store.find(stage.training_id(model)) for stage in stages):
                    continue
                run, claim = first.population.training_id(model), claims.enter_context(ExitStack())
                try:
                    draft = claim.enter_context(self.store.claim(run))
                except StoreLockedError as error:
                    yield model, error.prefixed(f"model {model}: ")
                    continue
                if self.store.find(run) is None:
                    drafts[model] = claim, draft
            started = time.perf_counter()
            with peak(self.device) as memory:
                found = first._together(list(drafts)) if drafts else []
            seconds = (time.perf_counter() - started) / max(1, len(drafts))
            share = None if memory.bytes is None else memory.bytes // max(1, len(drafts))
            for (model, (claim, draft)), trained in zip(drafts.items(), found, strict=True):
                try:
                    with _about(model), claim:
                        if isinstance(trained, ReticentError):
                            raise trained
                        first._write(model, draft, trained, seconds, share)
                except ReticentError as error:
                    yield model, error
                    continue
                if first.population is population:
                    self._fresh[model] = trained.model

    def _memorised(self, model: int) -> Memorisation | None:
        """Find, or measure, the scores that a sampler goes by; None without one, or if another process measures them.

        They are the same for all samplers and defenses. Who gets none measures them in its own training.
        """
        spec = self.population.memorisation_spec(model)
        if spec is None:
            return None
        try:
            run, _ = self.store.found_or_made(identity(spec), partial(self._memorise, model, spec))
        except StoreLockedError:
            return None
        arrays = run.arrays(f"{spec.kind}.safetensors")
        return Memorisation(*(torch.from_numpy(arrays[name]) for name in ("scores", "errors")))

    def _memorise(self, model: int, spec: MemorisationRun, draft: Draft) -> None:
        population, started = self.population, time.perf_counter()
        found = measured(population.recipe, self.materials(model), population.streams(model))
        arrays = {"scores": _array(found.scores), "errors": _array(found.errors)}
        draft.write_arrays(f"{spec.kind}.safetensors", arrays)
        draft.write_arrays("roles.safetensors", {"members": population.members(model)})
        told = {"recipe": full(undefended(population.recipe)), "data": population.records.digest}
        draft.write_json("spec.json", canonical(spec) | told | {"seed": population.seed})
        draft.facts = MemorisationFacts(
            model=model, data=population.records.name, seconds=time.perf_counter() - started
        ).to_json()

    def _before(self, model: int) -> Run | None:
        """Make, or find, the run that this model goes on from; None where there is none that stands alone.

        So what differs in later stages only, such as the rate of CWRF, shares its first one, which is that of the
        undefended model. If another process makes it now, it is not waited for.
        """
        first = self.population.first_stage
        if first is None:
            return None
        other = copy.copy(self)
        other.population = first
        try:
            return self.store.found_or_made(first.training_id(model), partial(other._train, model))[0]
        except StoreLockedError:
            if first.stack > 1:  # Alone, this model would have other bits.
                raise
            return None

    def _train(self, model: int, draft: Draft) -> nn.Module:
        before = self._before(model)
        started = time.perf_counter()
        with peak(self.device) as memory:
            trained = self._trained(model, before)
        self._write(model, draft, trained, time.perf_counter() - started, memory.bytes, before)
        return trained.model

    def _write(
        self,
        model: int,
        draft: Draft,
        trained: Trained,
        seconds: float,
        memory: int | None,
        before: Run | None = None,
    ) -> None:
        """Write a training run; models that were trained together have equal shares of the seconds and the memory."""
        population, roles = self.population, self.population.roles
        earlier = Cost(seconds=0.0) if before is None else before.read(Cost)
        peaks = [known for known in (memory, earlier.peak_memory_bytes) if known is not None]
        _write_training(draft, trained)
        ids = {"members": population.members(model), "validation": roles.validation, "reference": roles.reference}
        draft.write_arrays("roles.safetensors", ids)
        draft.write_json("spec.json", canonical(population.training_spec(model)) | {"recipe": full(population.recipe)})
        draft.facts = TrainingFacts(
            **dict(trained.facts),
            model=model,
            data=population.records.name,
            seconds=seconds + earlier.seconds,
            peak_memory_bytes=max(peaks, default=None),
            reticent=VERSION,
            torch=torch.__version__,
            python=platform.python_version(),
            device=str(self.device),
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
        ).to_json()

    def network(self, made: Made) -> nn.Module:
        """Bring a finished model back."""
        return self._load(made.model, self.store.whole(made.training))

    @fixed()
    def _load(self, model: int, run: Run) -> nn.Module:
        """Build a network from its weights; one that a function of the user's made is made again."""
        recipe = self.population.recipe
        if recipe.procedure.method == "function":
            return self._trained(model).model
        build = PROCEDURES[recipe.procedure.method].network
        network = build(recipe, self.materials(model), self.population.streams(model))
        arrays = run.arrays("weights.safetensors")
        network.load_state_dict({name: torch.from_numpy(value) for name, value in arrays.items()})
        return network.eval()

    @fixed()
    def ask(self, network: nn.Module, model: int) -> Seen:
        """Ask a network about the audited records."""
        with self.population.streams(model).lent("asking"):
            return self._ask(network, self.audited, self._output(model, network))

    def _ask(self, network: nn.Module, examples: Examples, output: Output | None) -> Seen:
        population = self.population
        return ask(network, examples, self.prepare, population.records.classes, population.queries, output)

    def _output(self, model: int, network: nn.Module) -> Output | None:
        """Build what the model's answers go through, from what its owner knows."""
        spec, classes = self.population.recipe.output, self.population.records.classes
        if isinstance(spec, Untouched):
            return None
        materials, streams = self.materials(model), self.population.streams(model)

        @torch.no_grad()
        def own(x: Tensor) -> Tensor:
            return forward(network.eval(), self.prepare(x), classes).double()

        known = Context(
            own,
            classes,
            self.prepare,
            materials.members,
            materials.reference,
            lambda name: streams.generator(f"output/{name}"),
        )
        return OUTPUTS[spec.method].build(spec, known)

    def _look(self, model: int, network: nn.Module, run: Run, draft: Draft) -> None:
        population = self.population
        with fixed(), population.streams(model).lent("asking"):
            output = self._output(model, network)
            seen = self._ask(network, self.audited, output)
            other = self._ask(network, self.others, output) if len(self.others) else None
            again = unsteady(network, self.audited, self.prepare, population.records.classes)
        clipped = isinstance(network, Estimator) and network.clipped
        said = run.read(CostedFacts)
        arrays = {"logits": seen.logits, "margins": seen.margins}
        if other is not None:
            arrays |= {"population_logits": other.logits, "population_margins": other.margins}
        draft.write_arrays("signals.safetensors", arrays)
        roles = population.roles
        draft.write_arrays("roles.safetensors", {"audited": roles.audited, "population": roles.population})
        asked = {"queries": full(population.queries), "output": full(population.recipe.output)}
        draft.write_json("spec.json", canonical(population.signals_spec(model)) | asked)
        labels = population.records.y[roles.audited]
        correct, row = seen.accuracy(labels), population.membership.matrix[model]
        notices = (*said.notices, *(CLIPPED,) * clipped, *(UNSTEADY,) * again)
        draft.facts = SignalsFacts(
            **dict(said.with_(notices=notices, selena=None, mist=None)),
            of=run.id,
            parameters=sum(p.numel() for p in network.parameters()),
            members=int(row.sum()),
            accuracy_members=float(correct[row].mean()),
            accuracy_non_members=float(correct[~row].mean()),
            largest_class_share=float(np.bincount(labels[row]).max() / row.sum()),
        ).to_json()

    @fixed()
    def probed(self, model: int, network: nn.Module, probe: Probe, examples: Examples) -> Tensor:
        """Ask a network what a probe asks of some records."""
        population = self.population
        with population.streams(model).lent("probing"):
            output = None if probe.of_labels else self._output(model, network)
            given = network.eval(), examples, self.prepare, population.records.classes, population.seed
            return PROBES[probe.method](probe, Probed(*given, self.others, population.recipe, output))

    def _probe(self, model: int, network: nn.Module, probe: Probe, draft: Draft) -> None:
        population = self.population
        started = time.perf_counter()
        said = self.probed(model, network, probe, self.audited)
        draft.write_arrays("probe.safetensors", {ANSWERS: _array(said)})
        draft.write_arrays("roles.safetensors", {"audited": population.roles.audited})
        draft.write_json("spec.json", canonical(population.probe_spec(model, probe)) | {"probe": full(probe)})
        seconds = time.perf_counter() - started
        draft.facts = ProbeFacts(of=population.training_id(model), model=model, seconds=seconds).to_json()


def _write_training(draft: Draft, trained: Trained) -> None:
    draft.write_arrays("weights.safetensors", {n: _array(v) for n, v in snapshot(trained.model).items()})
    traced = trained.history.member_losses
    artefacts = trained.artefacts | ({LOSSES: torch.stack(traced)} if traced else {})
    for name, tensors in (("initial", trained.initial), ("artefacts", artefacts)):
        if tensors:
            draft.write_arrays(f"{name}.safetensors", {n: _array(v) for n, v in tensors.items()})
    draft.write_bytes("log.jsonl", trained.history.lines().encode())


def _state(run: Run, kind: str) -> dict[str, Tensor]:
    return {name: torch.from_numpy(value) for name, value in run.arrays(f"{kind}.safetensors").items()}


def _before(run: Run) -> Before:
    return Before(history(run), _state(run, "artefacts") if "artefacts.safetensors" in run.files else {})


def history(run: Run) -> History:
    """Read how a training went."""
    return History.of(run.file("log.jsonl").read_text(encoding="utf-8"))


def _array(tensor: Tensor) -> NDArray[Any]:
    """Take a tensor to NumPy, which has no bfloat16: that becomes float32, without loss."""
    cpu = tensor.detach().cpu()
    array: NDArray[Any] = (cpu.float() if cpu.dtype == torch.bfloat16 else cpu).numpy()
    return array
