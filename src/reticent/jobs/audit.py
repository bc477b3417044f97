"""The main job: from records to an honest audit."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.ambient import fixed
from reticent.attacks.base import Problem
from reticent.findings.audit import AuditDocument, Control, NonAdaptive
from reticent.jobs import document
from reticent.jobs.config import AuditConfig, Job, called
from reticent.jobs.control import null
from reticent.jobs.measure import Measured, Settings, measure
from reticent.jobs.non_adaptive import Unaware, non_adaptive
from reticent.jobs.non_adaptive import facts as non_adaptive_facts
from reticent.jobs.repairs import stage_costs
from reticent.jobs.replicas import opened
from reticent.jobs.using import using
from reticent.population import gather as population_signals
from reticent.population.train import Callback, train
from reticent.population.worker import Made
from reticent.procedures import entry
from reticent.report.place import AUDIT, take_folder
from reticent.report.watch import Watch
from reticent.report.write import write_report
from reticent.say.audit import spoken
from reticent.say.grammar import plural
from reticent.spec import canonical, full
from reticent.store import Store

THUMBNAILS = 60
"""How many of the most exposed records are shown as pictures."""


@dataclass(frozen=True, eq=False)
class Audited:
    """An audit that ran.

    Attributes:
        findings: what ``audit.json`` holds, typed.
        rows: one mapping a record, the most exposed first; what ``records.csv`` holds.
        scores: by attack, ``(T, N)``, higher means member.
        membership: booleans ``(M, N)``: who was trained on what.
        ids: the audited records' ids in the data set ``(N,)``.
        files: report.html, records.csv and audit.json.
    """

    findings: AuditDocument
    rows: list[dict[str, Any]]
    scores: dict[str, NDArray[np.float64]]
    membership: NDArray[np.bool_]
    ids: NDArray[np.int64]
    files: tuple[Path, ...] = ()

    @cached_property
    def document(self) -> dict[str, Any]:
        """What ``audit.json`` holds, as plain values."""
        return self.findings.to_json()

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return self.findings.verdict.sentence


def audit(
    config: AuditConfig | str | Path | None = None,
    *,
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    **values: Any,
) -> Audited:
    """Train a population, attack every model of it, and report what it gives away.

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
    watch = Watch.begin(take_folder(Path(job.config.out), AUDIT, [job.config.dataset], job.config.format), AUDIT)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    with using(job.config.store, job.population):
        evaluated = evaluate(job, progress=progress, stage=stage)
        if stage is not None:
            stage("report")
        return write(evaluated, watch, started)


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A population that was trained and attacked.

    Attributes:
        job: what was done.
        made: one entry a model.
        problem: signals and membership.
        measured: what the attacks found.
        control: what the null control found, or None.
        seconds: by what they were spent on.
        unaware: what an attacker finds who does not know of the defense, if it was asked for.
    """

    job: Job
    made: Sequence[Made]
    problem: Problem
    measured: Measured
    control: Control | None
    seconds: dict[str, float]
    unaware: Unaware | None = None


def evaluate(job: Job, *, progress: Callback | None = None, stage: Callable[[str], None] | None = None) -> Evaluated:
    """Train what is not finished, attack every model, and measure; writes nothing but the store."""
    tell, store, clock = stage or (lambda _: None), Store(Path(job.config.store)).open(), _Clock()
    tell("training")
    made = train(job.population, store, workers=job.workers, device=job.device, progress=progress)
    seconds = {"training": clock.lap()}
    signals, others = population_signals.signals(job.population, store, made)
    replicas = opened(job.attacks, job.population, store, made)
    problem = Problem.make(signals, job.population.membership, population=others, replicas=replicas)
    settings = Settings.of(job.config, document.accountant(made))
    measured = measure(problem, job.attacks, settings, labellings=job.labellings, progress=tell)
    seconds["scoring"] = clock.lap()
    unaware = None
    if job.config.also_non_adaptive:
        unaware = non_adaptive(job, problem, progress=progress, stage=tell)
        seconds["non_adaptive"] = clock.lap()
    control = None
    if job.config.control == "null":
        tell("null control")
        control = null(problem, job.attacks, measured.audits, settings)
        seconds["control"] = clock.lap()
    return Evaluated(job, made, problem, measured, control, seconds, unaware)


def write(evaluated: Evaluated, watch: Watch, started: str) -> Audited:
    """Write the files of an audit."""
    job, measured = evaluated.job, evaluated.measured
    found = assembled(evaluated, started)
    watch.check(found.to_json())
    records, ids = job.records, job.population.roles.audited
    rows = document.record_rows(measured, ids, records.y[ids], records.class_names)
    files = write_report(watch.folder, found.to_json(), rows, thumbnails(job, rows), job.config.format)
    return Audited(found, rows, measured.scores, job.population.membership.matrix, ids, files)


def assembled(evaluated: Evaluated, started: str) -> AuditDocument:
    """Put the document of an audit together."""
    job, made, measured = evaluated.job, evaluated.made, evaluated.measured
    facts, proven = document.population_facts(job.population, made), document.accountant(made)
    found = measured.document(
        data=document.data_facts(job.records, job.population.roles),
        recipe=full(job.population.recipe),
        population=facts,
        environment=document.environment(
            job,
            evaluated.seconds,
            sum(not one.fresh for one in made),
            started,
            stages=stage_costs(made),
            config=canonical(job.config),
        ),
        control=evaluated.control,
        non_adaptive=_unaware(evaluated),
        unproved=entry(job.population.recipe).unproved if proven is None else "",
    )
    further = [*document.data_sentences(job.records), *_duplicates(job), *facts.notices]
    return spoken(found, further)


def _unaware(evaluated: Evaluated) -> NonAdaptive | None:
    if evaluated.unaware is None:
        return None
    measured, settings = evaluated.measured, Settings.of(evaluated.job.config)
    return non_adaptive_facts(evaluated.unaware, evaluated.problem, measured.scores, measured.verdict, settings)


def thumbnails(job: Job, rows: list[dict[str, Any]]) -> dict[int, NDArray[Any]]:
    """Draw the most exposed records, where the records are pictures."""
    drawn = {row["record"]: job.records.thumbnail(row["record"]) for row in rows[:THUMBNAILS]}
    return {record: picture for record, picture in drawn.items() if picture is not None}


def _duplicates(job: Job) -> list[str]:
    if not job.records.duplicates:
        return []
    return [
        f"{plural(job.records.duplicates, 'record')} repeat another one exactly: where one copy was a member and the "
        "other not, an attack that finds the record is counted as wrong, so the leak of such records is understated."
    ]


class _Clock:
    """Seconds since the last lap."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        """Return the seconds since the last call."""
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        return seconds
