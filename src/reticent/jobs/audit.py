"""The main job: from records to an honest audit."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.ambient import fixed
from reticent.attacks.base import Problem
from reticent.jobs import document
from reticent.jobs.config import Job, called
from reticent.jobs.control import null
from reticent.jobs.measure import Measured, Settings, measure
from reticent.jobs.non_adaptive import NonAdaptive, non_adaptive
from reticent.jobs.non_adaptive import facts as non_adaptive_facts
from reticent.jobs.repairs import stage_costs
from reticent.jobs.replicas import opened
from reticent.jobs.using import using
from reticent.options import AuditConfig
from reticent.population import gather as population_signals
from reticent.population.train import Callback, train
from reticent.population.worker import Made
from reticent.procedures import entry
from reticent.report.place import AUDIT, take_folder
from reticent.report.watch import Watch
from reticent.report.write import write_report
from reticent.spec import canonical, full
from reticent.store import Store

THUMBNAILS = 60
"""How many of the most exposed records are shown as pictures."""


@dataclass(frozen=True, eq=False)
class Audited:
    """An audit that ran.

    Attributes:
        document: what ``audit.json`` holds.
        rows: one mapping a record, the most exposed first; what ``records.csv`` holds.
        scores: by attack, ``(T, N)``, higher means member.
        membership: booleans ``(M, N)``: who was trained on what.
        ids: the audited records' ids in the data set ``(N,)``.
        files: report.html, records.csv and audit.json.
    """

    document: dict[str, Any]
    rows: list[dict[str, Any]]
    scores: dict[str, NDArray[np.float64]]
    membership: NDArray[np.bool_]
    ids: NDArray[np.int64]
    files: tuple[Path, ...] = ()

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return str(self.document["verdict"]["sentence"])


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
        control: the null control's part of the document, or None.
        seconds: by what they were spent on.
        unaware: what an attacker finds who does not know of the defense, if it was asked for.
    """

    job: Job
    made: Sequence[Made]
    problem: Problem
    measured: Measured
    control: dict[str, Any] | None
    seconds: dict[str, float]
    unaware: NonAdaptive | None = None


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
    job, made = evaluated.job, evaluated.made
    found = sum(not one.fresh for one in made)
    said = document.notices(made)
    facts = document.population_facts(job.population, made) | ({"notices": said} if said else {})
    written = document.assemble(
        evaluated.measured,
        data=document.data_facts(job.records, job.population.roles),
        recipe=full(job.population.recipe),
        population=facts,
        environment=document.environment_facts(job, evaluated.seconds, found, started)
        | _stages(made)
        | {"config": canonical(job.config)},
        control=evaluated.control,
        non_adaptive=_unaware(evaluated),
        cannot_say=[*_limits(job, facts, evaluated.measured.verdict["leak"]), *said],
        unproved=next((one for one in said if one == entry(job.population.recipe).unproved), None),
    )
    watch.check(written)
    records, ids = job.records, job.population.roles.audited
    rows = document.record_rows(evaluated.measured, ids, records.y[ids], records.class_names)
    files = write_report(watch.folder, written, rows, thumbnails(job, rows), job.config.format)
    return Audited(written, rows, evaluated.measured.scores, job.population.membership.matrix, ids, files)


def _stages(made: Sequence[Made]) -> dict[str, Any]:
    costs = stage_costs(made)
    return {"stages": costs} if costs else {}


def _unaware(evaluated: Evaluated) -> dict[str, Any] | None:
    if evaluated.unaware is None:
        return None
    measured, settings = evaluated.measured, Settings.of(evaluated.job.config)
    return non_adaptive_facts(evaluated.unaware, evaluated.problem, measured.scores, measured.verdict, settings)


def thumbnails(job: Job, rows: list[dict[str, Any]]) -> dict[int, NDArray[Any]]:
    """Draw the most exposed records, where the records are pictures."""
    drawn = {row["record"]: job.records.thumbnail(row["record"]) for row in rows[:THUMBNAILS]}
    return {record: picture for record, picture in drawn.items() if picture is not None}


def _limits(job: Job, facts: Mapping[str, Any], leak: str) -> list[str]:
    sentences = document.health_sentences(facts, leak) + document.data_sentences(job.records)
    if job.records.duplicates:
        sentences.append(
            f"{job.records.duplicates} records repeat another one exactly: where one copy was a member and the other "
            "not, an attack that finds the record is counted as wrong, so the leak of such records is understated."
        )
    return sentences


class _Clock:
    """Seconds since the last lap."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        """Return the seconds since the last call."""
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        return seconds
