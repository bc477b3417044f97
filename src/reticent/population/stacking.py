"""Whether the models of a population are trained as one batched computation, and how many of them at once.

It is decided before anything is trained, by what the user says, what the recipe is and what the store has, so that the
same command trains the same models, however often it was interrupted. A clock decides only where the user says so, and
once a store (`reticent.population.stack_timing`).
"""

import random
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.conv import _ConvNd

from reticent.data.records import Records
from reticent.errors import ReticentError
from reticent.objectives import OBJECTIVES
from reticent.population import stack_timing
from reticent.population.population import Population
from reticent.procedures import Trained, entry
from reticent.procedures.base import snapshot, undefended
from reticent.procedures.costs import cut
from reticent.procedures.plain import train, train_together
from reticent.store import Store
from reticent.training.data import Preparation
from reticent.training.materials import Materials, untrained
from reticent.training.recipe import Recipe
from reticent.training.stacked_network import normed_alone
from reticent.training.streams import Streams

LARGEST = 16
"""Models in one stack at most, where a store has stacked models and the user does not say."""
AUTO = "auto"
"""The user's wish for what is faster."""
FEW = 4
"""Records that a stack is tried on."""
ONE_STEP = {
    "optimizer": "sgd",
    "learning_rate": 1.0,
    "momentum": 0.0,
    "nesterov": False,
    "weight_decay": 0.0,
    "clip_norm": None,
    "precision": "float32",
}
"""Of the recipe by which a step of two networks is held against steps of each alone: it takes off the gradient."""
ROUNDING = 1e-2, 1e-4
"""So far the two may differ, of a tensor's own largest change and of all tensors'."""


def chosen(population: Population, store: Store, wish: int | Literal["auto"] | None, device: str) -> Population:
    """Choose how many models of a population, each alone so far, are trained together; what cannot be stacked stays.

    `wish` is what the user says: so many, 1 for each alone, auto for what is faster; None is alone where the store has
    no stacked model. What is kept of an earlier measurement goes before models that are there, and these before a new
    one; of too few models to measure, nothing is kept.

    Cost: two steps of two networks, and one of each alone, but by default only where the store has stacked models; with
    auto seconds, once a store.
    """
    stacked = replace(population, stack=LARGEST)
    if wish == 1 or (wish is None and not _begun(stacked, store)) or not stackable(population):
        return population
    if wish == AUTO:
        known = stack_timing.recorded(population, store)
        if known is None and not _begun(stacked, store):
            if population.models < stack_timing.TOGETHER[0] or _begun(population, store):
                return population
            known = stack_timing.picked(population, store, device)
        return stacked if known is None else replace(population, stack=known.stack)
    return stacked if wish is None else replace(population, stack=int(wish))


def _begun(population: Population, store: Store) -> bool:
    """Tell whether a store has any model of a population, or of what comes first in its training."""
    return any(store.ended(stage.training_id(m)) for stage in population.stages for m in range(population.models))


def stackable(population: Population) -> bool:
    """Tell whether the first training of a population can be stacked."""
    recipe = population.stages[-1].recipe
    if entry(recipe).together is None or OBJECTIVES[recipe.objective.method].asks_in_training:
        return False
    return _tried(recipe, population.records)


def _tried(recipe: Recipe, records: Records) -> bool:
    """Take one step of two networks together, and tell whether it can be, and is that of each alone.

    Convolutions of several networks, and what normalises batches in other ways than `nn.BatchNorm1d`, have bits that
    depend on how many there are. A network that draws numbers by other means than `nn.Dropout` would share them with
    the others, and torch warns of what it can only do one by one. What hooks do, and what a network notes of itself,
    only a step of it alone shows.
    """
    prepare, streams = Preparation(records, torch.device("cpu")), [Streams(0, row) for row in range(2)]
    few = prepare.examples(records, np.arange(min(len(records), FEW)))
    none = few.take(torch.arange(0))
    materials = Materials(few, none, none, prepare, records.classes)
    step = cut(undefended(recipe), 1).replace(batch_size=FEW, augmentation="none", augmentation_strength=None)
    try:
        network = untrained(step, materials, streams[0])
        if any(isinstance(p, _ConvNd) or (isinstance(p, _NormBase) and not normed_alone(p)) for p in network.modules()):
            return False
        with warnings.catch_warnings(), streams[0].lent("trying"):
            warnings.simplefilter("error")
            before = _drawn()
            train_together(step, [materials] * 2, streams)
            draws = _drawn() != before
            alike = _alike(step.replace(**ONE_STEP), materials, streams)
    except Exception:  # noqa: BLE001 (whatever a user's network raises, trained alone it says so itself)
        return False
    return alike and not draws


def _alike(step: Recipe, materials: Materials, streams: Sequence[Streams]) -> bool:
    """Tell whether a step of networks together moves each as a step alone does, but for rounding."""
    both = train_together(step, [materials] * len(streams), streams)
    return all(
        not isinstance(found, ReticentError) and _near(_moved(found), _moved(train(step, materials, one)))
        for found, one in zip(both, streams, strict=True)
    )


def _moved(trained: Trained) -> list[Tensor]:
    """Give how far each tensor of a network was moved."""
    return [value.double() - trained.initial[name].double() for name, value in snapshot(trained.model).items()]


def _near(some: Sequence[Tensor], others: Sequence[Tensor]) -> bool:
    most = [float(one.abs().max()) if one.numel() else 0.0 for one in others]
    own, all_ = ROUNDING
    return all(
        torch.allclose(one, other, rtol=0.0, atol=own * limit + all_ * max(most))
        for one, other, limit in zip(some, others, most, strict=True)
    )


def _drawn() -> tuple[str, ...]:
    """Tell where the global generators are."""
    return str(random.getstate()), str(np.random.get_state()), str(torch.get_rng_state().tolist())  # noqa: NPY002
