"""What weights are scored of: a model of a population that the store has or trains, or a model of the user's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from reticent.errors import InputError, SpecError
from reticent.jobs.config import Job
from reticent.jobs.locate.states import read
from reticent.locate.working_copy import fill, wide
from reticent.population.worker import Maker
from reticent.procedures import PROCEDURES
from reticent.store import Run, Store
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

State = Callable[[], Mapping[str, Tensor]]
"""Reads or makes a state; it is not held."""
FRESH = (
    "The initial state is a fresh draw, not the one that this model was trained from, which is not known: what members "
    "changed cannot be told from what the two draws differ in, so take the scores as a hint. Give the initial state."
)


@dataclass(eq=False)
class Source:
    """A trained network with what its weights are scored by.

    Attributes:
        network: the network to work on; it is altered, and brought back by `begin` and `restore`.
        initial: reads the state before training.
        trained: reads the state after training.
        materials: members and reference non-members.
        recipe: precision and augmentation.
        streams: random streams.
        origin: where the initial state is from: "training", "file", "seed", "given" or "fresh draw".
        facts: plain values on the model, for the document.
        notices: sentences that a reader must know.
    """

    network: nn.Module
    initial: State
    trained: State
    materials: Materials
    recipe: Recipe
    streams: Streams
    origin: str
    facts: dict[str, Any] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Bring the network to the state before training."""
        fill(self.network, self.initial(), "the initial state")

    def restore(self) -> None:
        """Bring the network to the state after training."""
        fill(self.network, self.trained(), "the trained state")


def of_population(job: Job, row: int, store: Store) -> Source:
    """Take a model of a population, which is trained now if the store does not have it."""
    population, recipe = job.population, job.population.recipe
    if not 0 <= row < population.models:
        raise InputError(f"model: expected a row from 0 to {population.models - 1}, got {row}")
    if recipe.procedure.method == "function":
        raise SpecError(
            "a training function of your own tells no initial state: give the model that it trains, by --architecture "
            "module:factory, --weights FILE and --initial FILE"
        )
    maker = Maker(population, store, job.device)
    made = maker.make(row)
    materials, streams = maker.materials(row), Streams(population.seed, row)
    network = wide(PROCEDURES[recipe.procedure.method].network(recipe, materials, streams))
    run = store.whole(made.training)
    facts = {"name": recipe.architecture.method, "run": run.id, "row": row}
    states = _of(run, "initial.safetensors"), _of(run, "weights.safetensors")
    return Source(network, *states, materials, recipe, streams, "training", facts)


def _of(run: Run, name: str) -> State:
    return lambda: read(run.file(name))


def drawn(build: Callable[[], nn.Module], seed: int | None, streams: Streams) -> nn.Module:
    """Build a network from a seed as a plain script would, or from a fresh draw; no global generator is moved."""
    if seed is None:
        with streams.lent("init"):
            return build()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []  # type: ignore[no-untyped-call]
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        return build()
