"""Plan an audit: what it will cost and what it can resolve, from one probe, before anything is trained."""

import math
import resource
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from reticent.auditing.audit import FPRS
from reticent.auditing.roc import allowed, records_needed
from reticent.jobs.config import AuditConfig, Job, called
from reticent.population.population import Population
from reticent.population.worker import Maker
from reticent.procedures import PROCEDURES
from reticent.store import Store
from reticent.training.data import Examples
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
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
        seconds_per_model: training and asking, in one worker.
        seconds: of all unfinished models, until they are trained and asked.
        memory_bytes: of all workers together.
        disk_bytes: that the unfinished models will take.
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

    One epoch of one model is trained as a probe (or, where training is a function of yours, one whole model).

    Args:
        config: a configuration, the path of a TOML file, or None.
        **values: as for `reticent.audit`.

    Returns:
        The plan.
    """
    return estimate(called(config, values))


def estimate(job: Job) -> Plan:
    """Estimate what a job takes.

    Args:
        job: prepared.

    Returns:
        The plan.
    """
    population, store = job.population, Store(Path(job.config.store))
    finished = sum(store.find(population.signals_id(m)) is not None for m in range(population.models))
    left = population.models - finished
    probe = _probe(population, store, job.device)
    non_members = int((~population.membership.matrix).sum(axis=1).min())
    signals = 4 * (len(population.roles.audited) + len(population.roles.population))
    signals *= population.records.classes + len(population.queries.views())
    workers = min(job.workers, max(left, 1))
    waves = math.ceil(left / workers)
    return Plan(
        models=population.models,
        finished=finished,
        workers=workers,
        device=job.device,
        records=len(population.roles.audited),
        parameters=probe.parameters,
        seconds_per_model=probe.seconds,
        seconds=probe.seconds * waves + (probe.start + SPAWN_SECONDS * (workers > 1) if left else 0.0),
        memory_bytes=probe.memory * workers,
        disk_bytes=left * (probe.state_bytes + signals + FILES_BYTES),
        smallest_fpr=1 / non_members,
        rates=tuple(
            {"fpr": fpr, "measurable": allowed(fpr, non_members) >= 1, "non_members_needed": records_needed(fpr)}
            for fpr in FPRS
        ),
    )


@dataclass(frozen=True)
class _Probed:
    start: float
    seconds: float
    memory: int
    parameters: int
    state_bytes: int


def _probe(population: Population, store: Store, device: str) -> _Probed:
    maker = Maker(population, store, device)
    recipe = population.recipe
    entry, whole = PROCEDURES[recipe.procedure.method], recipe.procedure.method == "function"
    short = recipe if whole else recipe.replace(epochs=1, warmup_epochs=0.0, patience=None, stop_after=None)
    materials, streams = maker.materials(0), Streams(population.seed, 0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        clock = [time.perf_counter()]
        if not whole:
            entry.train(short, _first_batch(materials, recipe), streams)
        clock.append(time.perf_counter())
        trained = entry.train(short, materials, streams)
        clock.append(time.perf_counter())
        if entry.proves:
            entry.train(short, materials, streams)
        clock.append(time.perf_counter())
        maker.ask(trained.model, 0)
        clock.append(time.perf_counter())
    finally:
        torch.set_num_threads(threads)
    start, epoch, again, asking = np.diff(clock).tolist()
    # The noise of an epsilon is looked for once a model, and known when the same is trained again.
    once, epoch = (max(0.0, epoch - again), min(epoch, again)) if entry.proves else (0.0, epoch)
    kept = [trained.model.state_dict(), trained.initial, trained.artefacts]
    unit = 1 if sys.platform == "darwin" else 1024
    return _Probed(
        start=start,
        seconds=once + epoch * (1 if whole else recipe.stop_after or recipe.epochs) + asking,
        memory=unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        parameters=sum(p.numel() for p in trained.model.parameters()),
        state_bytes=sum(v.numel() * v.element_size() for state in kept for v in state.values()),
    )


def _first_batch(materials: Materials, recipe: Recipe) -> Materials:
    """One batch, so that what PyTorch loads at its first step is not taken for a part of an epoch."""
    members, size = materials.members, recipe.batch_size
    return replace(materials, members=Examples(members.x[:size], members.y[:size]))
