"""The main job: from records to an honest audit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.arrays import Floats
from reticent.attacks.base import Problem
from reticent.findings.audit import AuditDocument, Control, NonAdaptive
from reticent.findings.records import PICTURED, UnitRow
from reticent.jobs import document, grouping
from reticent.jobs.attack_inputs import inputs
from reticent.jobs.base import AuditReported, Work, chosen
from reticent.jobs.config import Job, called
from reticent.jobs.control import control, nulls
from reticent.jobs.measure import Measurement, measure
from reticent.jobs.non_adaptive import non_adaptive
from reticent.jobs.repairs import stage_costs
from reticent.jobs.replicas import opened
from reticent.jobs.scoring import Settings
from reticent.jobs.units import by_unit
from reticent.options import AuditConfig
from reticent.population import stored_signals as population_signals
from reticent.population.in_store import using
from reticent.population.train import Callback, train
from reticent.population.worker import Made
from reticent.procedures import entry
from reticent.procedures.user import told
from reticent.report import parquet
from reticent.report.audit import write_audit
from reticent.report.output import AUDIT, Output
from reticent.say.audit import spoken
from reticent.say.population import fewer, of_units, repeated, several_records, training
from reticent.signals.correctness import alone
from reticent.store import Store
from reticent.torch_state import fixed


@dataclass(frozen=True, eq=False)
class Audited(AuditReported):
    """An audit that ran.

    Attributes:
        findings: what ``audit.json`` holds, typed.
        files: report.html, records.csv, audit.json, named.csv where there is a population, and units.csv with `unit`.
        membership: booleans ``(M, N)``: who was trained on what.
        units: with `unit`, what ``units.csv`` holds, the most exposed first.
    """

    membership: NDArray[np.bool_]
    units: tuple[UnitRow, ...] = ()


def audit(
    config: AuditConfig | str | Path | None = None,
    *,
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    **values: Any,
) -> Audited:
    """Train a population, attack every model of it, and report what it leaks.

    Finished models are found in the store and not trained again; the same call after any interruption goes on.

    Args:
        config: a configuration, the path of a TOML file, or None.
        progress: called after every model.
        stage: called with a word before each stage.
        **values: keys of `AuditConfig` or, for short, of `Recipe`: ``dataset="location30", epochs=20``; dots are
            written as double underscores: ``attack__lira__variance="pooled"``. ``dataset`` may also be ``(x, y)``,
            `Records`, a data frame or a map-style data set; ``architecture`` and ``train`` a function of an importable
            module.

    Returns:
        The audit; its three files lie in ``config.out``.

    Example:
        >>> import reticent
        >>> audited = reticent.audit(models=8, epochs=5, store="/tmp/s", out="/tmp/o")  # doctest: +SKIP
        >>> print(audited.sentence)  # doctest: +SKIP
    """
    return run(called(config, values), progress=progress, stage=stage)


@fixed()
def run(job: Job, *, progress: Callback | None = None, stage: Callable[[str], None] | None = None) -> Audited:
    """Run a job that is prepared."""
    config = job.config
    if config.records_format == "parquet":
        parquet.check()
    output = Output.checked(Path(config.out), AUDIT, [config.dataset], config.format)
    with using(config.store, job.population) as store:
        output.begin()
        work = Work(stage, progress)
        evaluated = evaluate(job, store, work)
        work.tell("report")
        return write(evaluated, output)


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A population that was trained and attacked; `unaware` is the attacker who does not know of the defense."""

    job: Job
    work: Work
    made: Sequence[Made]
    problem: Problem
    measured: Measurement
    control: Control | None = None
    unaware: tuple[NonAdaptive, dict[str, Floats]] | None = None


def evaluate(job: Job, store: Store, work: Work) -> Evaluated:
    """Train what is not finished, attack every model, and measure; writes nothing but the store."""
    stacking = chosen(job, store)
    with work.on("training", "training" if stacking is None else training(stacking)):
        made = train(job.population, store, executor=job.executor, progress=work.progress)
    with work.on("scoring"):
        signals, others = population_signals.signals(job.population, store, made)
        replicas, roles = opened(job.attacks, job.population, store, made), job.population.roles
        problem = Problem.make(
            signals,
            job.population.membership,
            population=others,
            replicas=replicas,
            units=job.units,
            probed=population_signals.probed(job.population, store, made),
            inputs=inputs(job.attacks, job.records, roles.audited, roles.population),
        )
        proof = document.accountant(made)
        settings = Settings.of(job.config, proof)
        if job.units is not None:
            settings = Settings.of(job.config, document.accountant_of_units(made, job.units.largest), proof)
        ids = roles.audited
        measured = measure(problem, job.attacks, settings, ids=ids, partitions=job.partitions, progress=work.tell)
    unaware = checked = None
    if job.config.also_non_adaptive:
        with work.on("non_adaptive"):
            unaware = non_adaptive(job, problem, measured, work)
    if job.config.control == "null":
        with work.on("control"):
            checked = control(nulls(problem, job.attacks, settings, work.tell), measured.verdict)
    return Evaluated(job, work, made, problem, measured, checked, unaware)


def write(evaluated: Evaluated, output: Output) -> Audited:
    """Write the files of an audit."""
    job, measured = evaluated.job, evaluated.measured
    found = assembled(evaluated)
    records, ids = job.records, job.population.roles.audited
    listed = job.partitions if job.units is None else (*job.partitions, by_unit(job.units))
    rows = measured.rows(ids, records.y[ids], records.class_names, listed, grouping.beside(job.config, records, ids))
    units = () if measured.units is None else measured.units.rows(records.y[ids], records.class_names, job.partitions)
    pictures = job.records.thumbnails(row.record for row in rows[:PICTURED])
    files = write_audit(output, found, rows, pictures, measured.names, units, records_format=job.config.records_format)
    return Audited(found, files, rows, measured.scores, ids, measured.p_member, job.population.membership.matrix, units)


def assembled(evaluated: Evaluated) -> AuditDocument:
    """Put the document of an audit together."""
    job, made, measured = evaluated.job, evaluated.made, evaluated.measured
    facts = document.population_facts(job.population, made, job.units)
    facts = facts.with_(labels_alone=alone(evaluated.problem.signals) or None)
    found = measured.document(
        data=document.data_facts(job.records, job.population.roles, job.units),
        recipe=told(job.population.recipe),
        population=facts,
        environment=evaluated.work.trained(job, made, stages=stage_costs(made), out=job.config.out),
        control=evaluated.control,
        left_out=job.left_out,
        non_adaptive=None if evaluated.unaware is None else evaluated.unaware[0],
        unproved=entry(job.population.recipe).unproved(job.population.recipe),
    )
    members = int(job.population.membership.matrix.sum(axis=1).mean())
    further = [
        *document.data_sentences(job.records),
        *repeated(job.records.duplicates),
        *(several_records(found.data.persons) if job.units is None else [of_units(job.units)]),
        fewer(members, len(job.records)),
        *facts.notices,
        *dict.fromkeys(job.left_out.values()),
    ]
    return spoken(found, further)
