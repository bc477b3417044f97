"""Models that a process trains as one batched computation; each is a run of the store of its own."""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import torch
from torch import nn

from reticent.errors import ModelError, ReticentError, StoreLockedError
from reticent.findings.training import Cost
from reticent.population import training_run
from reticent.population.failures import about
from reticent.population.population import Population
from reticent.procedures import Trained, entry
from reticent.store import Draft, Store
from reticent.torch_state import fixed
from reticent.training.materials import Materials
from reticent.training.memory import peak, ran_out
from reticent.usercode import told

Known = Callable[[int], Materials]
"""What one model is trained from, by its row."""


def written_together(
    population: Population, store: Store, device: torch.device, known: Known, models: Sequence[int]
) -> Iterator[tuple[int, nn.Module | ReticentError]]:
    """Train models together, and write their runs: the network of each, or why there is none.

    What another process makes is such a failure; what it has made meanwhile is left out.
    """
    with ExitStack() as claims:
        drafts: dict[int, tuple[ExitStack, Draft]] = {}
        for model in models:
            run, claim = population.training_id(model), claims.enter_context(ExitStack())
            try:
                draft = claim.enter_context(store.claim(run))
            except StoreLockedError as error:
                yield model, error.prefixed(f"model {model}: ")
                continue
            if store.find(run) is None:
                drafts[model] = claim, draft
        started, count = time.perf_counter(), max(1, len(drafts))
        with peak(device) as memory:
            found = _found(population, known, list(drafts)) if drafts else []
        share = None if memory.bytes is None else memory.bytes // count
        cost = Cost(seconds=(time.perf_counter() - started) / count, peak_memory_bytes=share)
        for (model, (claim, draft)), trained in zip(drafts.items(), found, strict=True):
            try:
                with about(model), claim:
                    if isinstance(trained, ReticentError):
                        raise trained
                    training_run.write(draft, population, model, trained, cost, device)
            except ReticentError as error:
                yield model, error
                continue
            yield model, trained.model


def _found(population: Population, known: Known, models: Sequence[int]) -> list[Trained | ReticentError]:
    """Train models together; what their one computation raises, a user's code too, is why there is none of them."""
    try:
        return trained_together(population, known, models)
    except ReticentError as error:
        return [error] * len(models)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (as of a model alone: `failures.about`)
        return [ModelError(told(error))] * len(models)


@fixed()
def trained_together(population: Population, known: Known, models: Sequence[int]) -> list[Trained | ReticentError]:
    """Train models as one batched computation, or by halves where there is not the memory for all."""
    together = entry(population.recipe).together
    assert together is not None, "a population is stacked where its training can be"
    try:
        return together(population.recipe, [*map(known, models)], [*map(population.streams, models)])
    except Exception as error:
        if len(models) == 1 or not ran_out(error):
            raise
    gc.collect()  # Runs and objectives hold each other.
    half = len(models) // 2
    return trained_together(population, known, models[:half]) + trained_together(population, known, models[half:])
