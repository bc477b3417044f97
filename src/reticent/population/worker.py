"""Make a model of a population: train it or find it, look at it or find what was seen, keep both in the store."""

import copy
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import torch
from torch import nn

from reticent.errors import ModelError, ReticentError, StoreLockedError
from reticent.findings.training import (
    Cost,
    CostedFacts,
    MemorisationFacts,
    ProcedureFacts,
    SignalsFacts,
    StageCost,
)
from reticent.models.state_dicts import check_state
from reticent.population import training_run
from reticent.population.failures import Failure, about
from reticent.population.population import MemorisationRun, Population
from reticent.population.signals_run import Asker
from reticent.population.stack_training import trained_together, written_together
from reticent.population.training_run import array, state
from reticent.procedures import Trained, entry
from reticent.procedures.base import undefended
from reticent.procedures.costs import FIRST
from reticent.procedures.sampler_scores import measured
from reticent.procedures.user import check_read, files_read
from reticent.samplers.base import Memorisation
from reticent.spec import canonical, full, identity
from reticent.store import Draft, Run, Store
from reticent.torch_state import fixed
from reticent.training.materials import Materials
from reticent.training.memory import peak
from reticent.user_reads import OTHERWISE


@dataclass(frozen=True)
class Made:
    """What is known of one model once it is made.

    Attributes:
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
    """Resolve auto, cpu, cuda or cuda:N; with `elsewhere`, cuda need not exist on this machine."""
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


class Maker(Asker):
    """Makes the models of one population in one process, on one device."""

    @fixed()
    def __init__(self, population: Population, store: Store, device: str) -> None:
        super().__init__(population, choose_device(device))
        self.store = store
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
        with about(model):
            return find(self.population, self.store, model) or self._make(model, *self.population.run_ids(model))

    def trained(self, model: int) -> tuple[Run, nn.Module]:
        """Train one model, or find it, and bring it back; nothing is kept of what it answers."""
        with about(model):
            run, network = self._training(model)
            return run, network or self._load(model, run)

    def _make(self, model: int, training: str, signals: str, *probes: str) -> Made:
        run, made = self._training(model)
        made = made or self._fresh.pop(model, None)
        network = cache(lambda: made or self._load(model, run))
        seen, _ = self.store.found_or_made(signals, lambda draft: self.look(model, network(), run, draft))
        for probe, name in zip(self.population.probes, probes, strict=True):
            if self.store.find(name) is None:
                self.store.found_or_made(name, partial(self.probe, model, network(), probe))
        return Made(model, training, signals, seen.read(SignalsFacts), fresh=made is not None, probes=probes)

    def _training(self, model: int) -> tuple[Run, nn.Module | None]:
        """Train one model, or find one that was made from what is there now."""
        run, made = self.store.found_or_made(self.population.training_id(model), partial(self._train, model))
        if made is None:
            check_read(self.population.recipe, run.read(CostedFacts).read)
        return run, made

    @fixed()
    def _trained(self, model: int, before: Run | None = None) -> Trained:
        """Train one model, from its first stage on or from the run that was its first stage."""
        recipe, streams = self.population.recipe, self.population.streams(model)
        procedure = entry(recipe)
        if self.population.stack > 1 and procedure.together is not None:
            [found] = trained_together(self.population, self._known, [model])
            if isinstance(found, ReticentError):
                raise found
            return found
        materials = self._known(model)
        with streams.lent("training"):
            if before is None or procedure.repair is None:
                return procedure.train(recipe, materials, streams)
            known = state(before, "weights"), state(before, "initial"), recipe, materials, streams
            made = procedure.repair(*known, training_run.before(before))
        earlier = before.read(ProcedureFacts).stages or (StageCost(name=FIRST, **dict(before.read(Cost))),)
        return replace(made, facts=made.facts.with_(stages=(*earlier, *made.facts.stages)))

    def _known(self, model: int) -> Materials:
        """Gather what one model is trained from, with what its sampler goes by."""
        return replace(self.materials(model), memorisation=self._memorised(model))

    def _train_together(self, models: Sequence[int]) -> Iterator[Failure]:
        """Train those that are missing as one batched computation, or what comes first in their training."""
        stages = self.population.stages
        first = self._of(stages[-1])
        missing = [m for m in models if not any(self.store.find(stage.training_id(m)) for stage in stages)]
        for model, made in written_together(first.population, self.store, self.device, first._known, missing):
            if isinstance(made, ReticentError):
                yield model, made
            elif len(stages) == 1:
                self._fresh[model] = made

    def _of(self, population: Population) -> "Maker":
        """Give the maker of an earlier stage of these models."""
        other = copy.copy(self)
        other.population = population
        return other

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
        check_read(self.population.recipe, run.read(MemorisationFacts).read)
        arrays = run.arrays(f"{spec.kind}.safetensors")
        return Memorisation(*(torch.from_numpy(arrays[name]) for name in ("scores", "errors")))

    def _memorise(self, model: int, spec: MemorisationRun, draft: Draft) -> None:
        population, started = self.population, time.perf_counter()
        found = measured(population.recipe, self.materials(model), population.streams(model))
        arrays = {"scores": array(found.scores), "errors": array(found.errors)}
        draft.write_arrays(f"{spec.kind}.safetensors", arrays)
        draft.write_arrays("roles.safetensors", {"members": population.members(model)})
        told = {"recipe": full(undefended(population.recipe)), "data": population.records.digest}
        draft.write_json("spec.json", canonical(spec) | told | {"seed": population.seed})
        draft.facts = MemorisationFacts(
            model=model,
            read=files_read(population.recipe),
            data=population.records.name,
            seconds=time.perf_counter() - started,
        ).to_json()

    def _before(self, model: int) -> Run | None:
        """Make, or find, the run that this model goes on from; None where there is none that stands alone.

        So what differs in later stages only, such as the rate of CWRF, shares its first one, which is that of the
        undefended model. If another process makes it now, it is not waited for.
        """
        previous = self.population.previous
        if previous is None:
            return None
        try:
            return self._of(previous)._training(model)[0]
        except StoreLockedError:
            if previous.stack > 1:  # Alone, this model would have other bits.
                raise
            return None

    def _train(self, model: int, draft: Draft) -> nn.Module:
        before = self._before(model)
        started = time.perf_counter()
        with peak(self.device) as memory:
            trained = self._trained(model, before)
        cost = Cost(seconds=time.perf_counter() - started, peak_memory_bytes=memory.bytes)
        training_run.write(draft, self.population, model, trained, cost, self.device, before)
        return trained.model

    def network(self, made: Made) -> nn.Module:
        """Bring a finished model back."""
        return self._load(made.model, self.store.whole(made.training))

    @fixed()
    def _load(self, model: int, run: Run) -> nn.Module:
        """Build a network from its weights; a function of the user's makes its own anew, to hold them."""
        recipe = self.population.recipe
        if recipe.procedure.method == "function":
            network = self._trained(model).model
        else:
            network = entry(recipe).network(recipe, self.materials(model), self.population.streams(model))
        weights = state(run, "weights")
        check_state(network, weights, f"the weights of run {run.id}", f"; {OTHERWISE}")
        network.load_state_dict(weights)
        return network.eval()
