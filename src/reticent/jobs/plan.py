"""Plan an audit: what it will cost and what it can resolve, from one probe, before anything is trained."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from reticent.ambient import fixed
from reticent.auditing.audit import FPRS
from reticent.auditing.roc import allowed, records_needed
from reticent.jobs.config import Job, called
from reticent.options import AuditConfig
from reticent.population.population import Population
from reticent.population.worker import Maker
from reticent.procedures import PROCEDURES
from reticent.procedures.costs import COSTS, cut
from reticent.store import Store
from reticent.training.data import Examples
from reticent.training.materials import Materials
from reticent.training.memory import peak_of_process
from reticent.training.recipe import Plain, Recipe
from reticent.training.streams import Streams

SPAWN_SECONDS = 3.0
"""What it takes to start worker processes."""
FILES_BYTES = 8 * 1024
"""What the small files of a model's two runs take."""


@dataclass(frozen=True)
class Plan:
    """What an audit will take; estimates from one probe on this machine.

    Attributes:
        models: number of models M.
        finished: how many of them lie finished in the store.
        workers: processes.
        device: of every worker.
        records: audited records N.
        parameters: of one model.
        seconds_per_model: training and asking, in one worker, if nothing of it lies in the store.
        seconds: of all unfinished models, until they are trained and asked.
        memory_bytes: of all workers together.
        disk_bytes: that the unfinished models will take, with runs of first stages that later ones share.
        smallest_fpr: the smallest false-positive rate that one model's non-members can resolve.
        rates: for each usual rate, whether it can be measured, and the non-members needed.
    """

    models: int
    finished: int
    workers: int
    device: str
    records: int
    parameters: int
    seconds_per_model: float
    seconds: float
    memory_bytes: int
    disk_bytes: int
    smallest_fpr: float
    rates: tuple[dict[str, Any], ...]


def plan(config: AuditConfig | str | Path | None = None, **values: Any) -> Plan:
    """Estimate time, memory and disk of an audit, and the smallest false-positive rate that it can resolve.

    As a probe one model is trained for a few epochs in each stage, and what a stage takes is multiplied by its own
    epochs (where training is a function of yours, one whole model is trained).

    Args:
        config: a configuration, the path of a TOML file, or None.
        **values: as for `reticent.audit`.

    Returns:
        The plan.
    """
    return estimate(called(config, values))


@fixed()
def estimate(job: Job) -> Plan:
    """Estimate what a job takes."""
    population, store = job.population, Store(Path(job.config.store))
    finished = sum(store.find(population.signals_id(m)) is not None for m in range(population.models))
    left = population.models - finished
    probe = _probe(population, store, job.device)
    firsts, found = _first_stages(population, store)
    non_members = int((~population.membership.matrix).sum(axis=1).min())
    signals = 4 * (len(population.roles.audited) + len(population.roles.population))
    signals *= population.records.classes + len(population.queries.views())
    workers = min(job.workers, max(left, 1))
    waves = math.ceil(left / workers)
    each = probe.seconds - (probe.first * found / left if left else 0.0)
    disk = left * (probe.weights + probe.initial + probe.artefacts + signals + FILES_BYTES)
    disk += (firsts - found) * (probe.weights + probe.initial + FILES_BYTES // 2)
    return Plan(
        models=population.models,
        finished=finished,
        workers=workers,
        device=job.device,
        records=len(population.roles.audited),
        parameters=probe.parameters,
        seconds_per_model=probe.seconds,
        seconds=each * waves + (probe.start + SPAWN_SECONDS * (workers > 1) if left else 0.0),
        memory_bytes=probe.memory * workers,
        disk_bytes=disk,
        smallest_fpr=1 / non_members,
        rates=tuple(
            {"fpr": fpr, "measurable": allowed(fpr, non_members) >= 1, "non_members_needed": records_needed(fpr)}
            for fpr in FPRS
        ),
    )


@dataclass(frozen=True)
class _Probed:
    """What the probe took, and what follows for one model.

    Attributes:
        start: seconds until the first step is over, once a process.
        seconds: of training and asking.
        first: of these, the seconds of the first stage.
        memory: of the process, in bytes.
        parameters: of the model.
        weights: bytes of its state.
        initial: of the state before training.
        artefacts: of what else training made.
    """

    start: float
    seconds: float
    first: float
    memory: int
    parameters: int
    weights: int
    initial: int
    artefacts: int


def _probe(population: Population, store: Store, device: str) -> _Probed:
    maker = Maker(population, store, device)
    recipe = population.recipe
    entry, proves = PROCEDURES[recipe.procedure.method], _proves(recipe)
    short, own = entry.short(recipe), recipe.procedure.method == "function"
    materials, streams = maker.materials(0), Streams(population.seed, 0)
    clock = [time.perf_counter()]
    if not own:
        plain = PROCEDURES[Plain.method]
        warm = cut(recipe.replace(procedure=Plain()), 1)
        plain.train(warm, _first_batch(materials, recipe), streams)
    clock.append(time.perf_counter())
    trained = entry.train(short.recipe, materials, streams)
    clock.append(time.perf_counter())
    again = entry.train(short.recipe, materials, streams) if proves else trained
    clock.append(time.perf_counter())
    maker.ask(trained.model, 0)
    clock.append(time.perf_counter())
    start, once, twice, asking = np.diff(clock).tolist()
    # The noise of an epsilon is looked for once a model, and known when the same is trained again.
    spent = min(once, twice) if proves else once
    stages = {one["name"]: one["seconds"] for one in again.facts.get(COSTS, [])}
    return _Probed(
        start=start,
        seconds=once - spent + short.whole(spent, stages) + asking,
        first=short.first(stages),
        memory=peak_of_process(),
        parameters=sum(p.numel() for p in trained.model.parameters()),
        weights=_bytes(trained.model.state_dict()),
        initial=_bytes(trained.initial),
        artefacts=_bytes(trained.artefacts),
    )


def _proves(recipe: Recipe) -> bool:
    """Tell whether a training, or its second stage, looks for the noise of an epsilon."""
    inner = getattr(recipe.procedure, "inner", None)
    methods = [recipe.procedure.method] + ([] if inner is None else [inner.method])
    return any(PROCEDURES[method].proves for method in methods)


def _bytes(tensors: Mapping[str, Tensor]) -> int:
    return sum(value.numel() * value.element_size() for value in tensors.values())


def _first_batch(materials: Materials, recipe: Recipe) -> Materials:
    """One batch, so that what PyTorch loads at its first step is not taken for a part of an epoch."""
    members, size = materials.members, recipe.batch_size
    return replace(materials, members=Examples(members.x[:size], members.y[:size]))


def _first_stages(population: Population, store: Store) -> tuple[int, int]:
    """Count the models that will have a run of their first stage, and those of them that find it finished."""
    first = PROCEDURES[population.recipe.procedure.method].first(population.recipe)
    if first is None:
        return 0, 0
    before = replace(population, recipe=first)
    todo = [
        row
        for row in range(population.models)
        if store.find(population.signals_id(row)) is None and store.find(population.training_id(row)) is None
    ]
    return len(todo), sum(store.find(before.training_id(row)) is not None for row in todo)
