"""Plan an audit: what it will cost and what it can resolve, from one probe, before anything is trained."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from reticent import resident
from reticent.auditing.attack_audit import FPRS
from reticent.auditing.roc import allowed, records_needed
from reticent.errors import ReticentError
from reticent.findings.plan import Plan, PlannedPaper, PlannedRate
from reticent.jobs.attack_time import Size, seconds, temporary_bytes
from reticent.jobs.base import chosen
from reticent.jobs.config import Job, called
from reticent.jobs.scoring import Settings
from reticent.options import AuditConfig
from reticent.population.current import checker
from reticent.population.executors.base import stacks
from reticent.population.population import Population
from reticent.population.train import found
from reticent.population.worker import Maker
from reticent.procedures import Trained, entries, entry
from reticent.procedures.costs import cut
from reticent.samplers.shuffle import Shuffle
from reticent.store import Store, at
from reticent.torch_state import fixed
from reticent.training.materials import Materials
from reticent.training.recipe import Plain, Recipe
from reticent.training.streams import Streams

SPAWN_SECONDS = 3.0
"""What it takes to start worker processes."""
AROUND_SECONDS = 8.0
"""What it takes to load PyTorch and the data, to check, and to write the report (5.1 s and 2.7 s of digits)."""
FILES_BYTES = 8 * 1024
"""What the small files of a model's two runs take."""

PAPERS = (("Carlini et al. (2022), LiRA", 256),)
"""How many models papers audit with."""
FEW = 100
"""Records that a probe is asked of here."""


def plan(config: AuditConfig | str | Path | None = None, **values: Any) -> Plan:
    """Estimate time, memory and disk of an audit, and the smallest false-positive rate that it can resolve.

    As a probe one model is trained for a few epochs in each stage, and what a stage takes is multiplied by its own
    epochs (where training is a function of yours, one whole model is trained).

    Args:
        config: a configuration, the path of a TOML file, or None.
        **values: as for `reticent.audit`.

    Returns:
        Times in seconds, sizes in bytes, and for each usual rate whether it can be measured.

    Raises:
        ReticentError: as `reticent.audit` does before it trains.

    Example:
        >>> import reticent
        >>> made = reticent.plan(dataset="digits", models=16)  # doctest: +SKIP
        >>> made.seconds, made.smallest_fpr  # doctest: +SKIP
    """
    return estimate(called(config, values))


@fixed()
def estimate(job: Job, stage: Callable[[str], None] | None = None) -> Plan:
    """Estimate what a job takes; `stage` is called with words before each part."""
    tell = stage or (lambda _: None)
    population, store = job.population, at(job.config.store)
    finished = len(found(population, store, checker(population)))
    left = sum(not store.ended(population.signals_id(model)) for model in range(population.models))
    workers = min(job.executor.workers, max(population.models - finished, 1))
    stack = max(map(len, stacks(population, range(left), workers)), default=1)
    tell("training one model in part")
    trained, start, one, first = _probe(population, store, job.executor.device, stack)
    probes = _probes(population, store, job.executor.device, trained)
    missing, rounds = _earlier(population, store)
    matrix = population.membership.matrix
    non_members = int((~(matrix if job.units is None else job.units.of_units(matrix))).sum(axis=1).min())
    signals = 4 * (len(population.roles.audited) + len(population.roles.population))
    signals *= population.records.classes + len(population.queries.views())
    each = one - sum(map(first, rounds)) / max(left, 1)
    state = _bytes(trained.model.state_dict()) + _bytes(trained.initial)
    each_disk = state + _bytes(trained.artefacts) + signals + FILES_BYTES
    disk = left * each_disk
    memory = resident.largest() * workers
    size = Size(population.models, len(population.roles.audited), population.records.classes)
    tell("running the attacks on made-up records")
    measuring = seconds(size, job.attacks, Settings.of(job.config))
    measuring *= 2 if job.config.control == "null" else 1  # It repeats all attacks.
    papers = tuple(
        PlannedPaper(
            name=name,
            models=models,
            seconds=one * math.ceil(models / workers),
            seconds_audit=measuring * models / population.models,
            disk_bytes=models * each_disk,
        )
        for name, models in PAPERS
    )
    return Plan(
        models=population.models,
        finished=finished,
        workers=workers,
        stack=stack,
        stacking=chosen(job, store),
        device=job.executor.device,
        records=len(population.roles.audited),
        unit=None if job.units is None else job.units.column,
        units=None if job.units is None else job.units.count,
        parameters=sum(p.numel() for p in trained.model.parameters()),
        seconds_per_model=one + sum(probe.seconds for probe in probes),
        seconds=each * math.ceil(left / workers)
        + sum(probe.seconds * math.ceil(probe.left / workers) for probe in probes)
        + (start + SPAWN_SECONDS * (workers > 1) if finished < population.models else 0.0),
        memory_bytes=memory,
        disk_bytes=disk + missing * (state + FILES_BYTES // 2) + sum(probe.left * probe.bytes for probe in probes),
        seconds_audit=measuring,
        seconds_around=AROUND_SECONDS,
        temporary_bytes=temporary_bytes(size, len(job.attacks)),
        papers=papers,
        smallest_fpr=1 / non_members,
        rates=tuple(
            PlannedRate(fpr=fpr, measurable=allowed(fpr, non_members) >= 1, non_members_needed=records_needed(fpr))
            for fpr in FPRS
        ),
    )


def _probe(
    population: Population, store: Store, device: str, stack: int
) -> tuple[Trained, float, float, Callable[[float], float]]:
    """Train a model, or as many as are trained together, for a few epochs, ask one, and estimate what one takes.

    Seconds: until the first step is over, once a process; of training and asking a model; of its first stage
    and a share of the rounds after it.
    """
    maker = Maker(population, store, device)
    recipe = population.recipe
    procedure, proves = entry(recipe), any(one.proves for one in entries(recipe).values())
    short = procedure.short(recipe)
    materials, streams = maker.materials(0), Streams(population.seed, 0)
    clock = [time.perf_counter()]
    if recipe.procedure.method != "function":
        warm = cut(recipe.replace(procedure=Plain(), sampler=Shuffle()), 1)
        entry(warm).train(warm, _first_batch(materials, recipe), streams)
    clock.append(time.perf_counter())
    share = stack if procedure.together is not None else 1
    if procedure.together is None or stack == 1:
        trained = procedure.train(short.recipe, materials, streams)
    else:
        rows = range(stack)
        found = procedure.together(short.recipe, [*map(maker.materials, rows)], [*map(population.streams, rows)])[0]
        if isinstance(found, ReticentError):
            raise found
        trained = found
    clock.append(time.perf_counter())
    again = procedure.train(short.recipe, materials, streams) if proves else trained
    clock.append(time.perf_counter())
    maker.ask(trained.model, 0)
    clock.append(time.perf_counter())
    start, once, twice, asking = np.diff(clock).tolist()
    once, twice = once / share, twice / share
    # The noise of an epsilon is looked for once a model, and known when the same is trained again.
    spent = min(once, twice) if proves else once
    stages = {one.name: one.seconds for one in again.facts.stages}
    return trained, start, once - spent + short.whole(spent, stages) + asking, partial(short.first, stages)


class _Probed(NamedTuple):
    """A probe: of how many models its answers are missing, and what it takes of each."""

    left: int
    seconds: float
    bytes: int


def _probes(population: Population, store: Store, device: str, trained: Trained) -> list[_Probed]:
    """Ask a model each probe of a few records, of all where another model is trained for it."""
    found, maker, rows = [], Maker(population, store, device), range(population.models)
    for probe in population.probes:
        asked = maker.audited if probe.of_population else maker.audited.first(FEW)
        started = time.perf_counter()
        said = maker.probed(0, trained.model, probe, asked)
        share = len(maker.audited) / len(asked)
        left = sum(store.find(population.probe_id(row, probe)) is None for row in rows)
        size = int(share * said.numel()) * said.element_size() + 8 * len(maker.audited) + FILES_BYTES // 8
        found.append(_Probed(left, share * (time.perf_counter() - started), size))
    return found


def _bytes(tensors: Mapping[str, Tensor]) -> int:
    return sum(value.numel() * value.element_size() for value in tensors.values())


def _first_batch(materials: Materials, recipe: Recipe) -> Materials:
    """One batch, so that what PyTorch loads at its first step is not taken for a part of an epoch."""
    return replace(materials, members=materials.members.first(recipe.batch_size))


def _earlier(population: Population, store: Store) -> tuple[int, list[float]]:
    """Count the runs of earlier stages that will be made; by model of which one is found, the share of rounds done."""
    stages = population.stages[1:]
    known = ((row, population.signals_id(row), population.training_id(row)) for row in range(population.models))
    todo = [row for row, signals, training in known if not (store.ended(signals) or store.ended(training))]
    there = [[store.ended(stage.training_id(row)) for stage in stages] for row in todo]
    missing = [[*one, True].index(True) for one in there]
    return sum(missing), [(len(stages) - 1 - count) / len(stages) for count in missing if count < len(stages)]
