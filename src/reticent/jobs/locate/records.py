"""``locate records``: which records a model gives away, and which it has learned by heart."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent import opening
from reticent.ambient import fixed
from reticent.auditing.exposure import count_exposed, exposure
from reticent.data.records import Records
from reticent.errors import SpecError
from reticent.findings.population import Population
from reticent.jobs import document
from reticent.jobs.comparison.sources import Finished as HasFiles
from reticent.jobs.comparison.sources import place
from reticent.jobs.config import Job, called
from reticent.jobs.locate._audited import Finished, read
from reticent.jobs.locate._learned import limits, memorisation, sentence
from reticent.jobs.locate.options import ATTACKING, refuse, taken
from reticent.options import AuditConfig
from reticent.population import gather as population_signals
from reticent.population.train import Callback, train
from reticent.population.using import using
from reticent.report.locate.records import write_records_page
from reticent.report.output import AUDIT, RECORD_LIST, Output
from reticent.say import exposure as say_exposure
from reticent.say.population import unhealthy
from reticent.spec import canonical, full
from reticent.store import Store

SCHEMA = "reticent.locate.records/1"
OUT = "reticent-records"
"""Folder for the files, where none is given."""
LISTED = 100
"""Records that ``records.json`` lists, of the most exposed and of the most memorised; ``records.csv`` has all."""
PICTURES = 24
"""How many of either are shown as pictures."""
SILENT = tuple(key for key in ATTACKING if key != "group_by")
"""Keys of an audit that mean nothing here."""
ATTACKED = ("probability", "probability_low", "probability_high")
"""What an audit says of a record by an attack, and no attack is run here."""


@dataclass(frozen=True, eq=False)
class LocatedRecords:
    """What `locate_records` found.

    Attributes:
        document: what ``records.json`` holds.
        rows: one mapping a record, the most exposed first; what ``records.csv`` holds.
        files: records.html, records.csv and records.json.
    """

    document: dict[str, Any]
    rows: list[dict[str, Any]]
    files: tuple[Path, ...] = ()

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        return str(self.document["sentence"])


def locate_records(
    source: AuditConfig | HasFiles | str | Path | None = None,
    *,
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    checked: Callable[[Path], None] | None = None,
    **values: Any,
) -> LocatedRecords:
    """Say of each record how far it gives itself away (exposure) and how far it is learned by heart (memorisation).

    Both come from a population, as `reticent.audit` trains one, by the same code. A finished audit is read; else models
    are trained, or found in the store.

    Paper: Feldman and Zhang (2020), "What neural networks memorize and why", for memorisation.

    Args:
        source: a finished audit (its folder, its ``audit.json``, or what `reticent.audit` returned); or a
            configuration, the path of a TOML file, or None.
        progress: called after every model.
        stage: called with a word before each part.
        checked: called with the folder of the report, once it is known that it may be written there.
        **values: keys of `AuditConfig` or `Recipe`, as for `reticent.audit`; beside a finished audit, ``out`` alone.

    Returns:
        The records; three files lie in ``out``.

    Example:
        >>> import reticent
        >>> found = reticent.locate_records(dataset="digits", models=8, store="/tmp/s", out="/tmp/o")  # doctest: +SKIP
        >>> print(found.rows[0]["record"])  # doctest: +SKIP
    """
    if isinstance(source, (str, Path)) and Path(source).suffix != ".toml":
        return again(opening.path(source), values, checked)
    if source is None or isinstance(source, (str, Path, AuditConfig)):
        refuse(values, "locate records", SILENT)
        return run(called(source, values, attacked=False), progress=progress, stage=stage, checked=checked)
    return again(place(source), values, checked)


def again(path: Path, values: Mapping[str, Any], checked: Callable[[Path], None] | None = None) -> LocatedRecords:
    """Take the records of a finished audit; trains and measures nothing."""
    given = {key: value for key, value in values.items() if value is not None}
    out = opening.path(given.pop("out", OUT))
    if given:
        raise SpecError(
            f"{next(iter(given))}: the numbers are those of the finished audit at {path}, which it would not change: "
            "leave it out, or leave the audit out to train"
        )
    found = read(path)
    output = Output.take(out, RECORD_LIST, AUDIT.files(found.folder))
    if checked is not None:
        checked(out)
    shown = found.document
    parts = {
        "source": str(path),
        "exposure": shown["exposure"],
        "data": shown["data"],
        "population": {key: value for key, value in shown["population"].items() if key != "per_model"},
        "recipe": shown.get("recipe"),
        "environment": document.versions(audit=_of_audit(found)).to_json(),
    }
    return _write(output, parts, found.rows, found.records, _health(shown["population"]))


def _of_audit(found: Finished) -> dict[str, Any]:
    environment = found.document.get("environment") or {}
    return {key: environment[key] for key in ("reticent", "started", "device") if key in environment}


@fixed()
def run(
    job: Job,
    *,
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    checked: Callable[[Path], None] | None = None,
) -> LocatedRecords:
    """Train what is not finished, and measure every record."""
    tell, clock = stage or (lambda _: None), [time.perf_counter()]
    out = taken(job.config, OUT, RECORD_LIST, [job.config.dataset], checked)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    population = job.population
    with using(job.config.store, population) as store:
        tell("training")
        made = train(population, store, workers=job.workers, device=job.device, progress=progress)
        clock.append(time.perf_counter())
        tell("records")
        rows, told = _measured(job, store, made)
        clock.append(time.perf_counter())
    tell("report")
    seconds = dict(zip(("training", "measuring"), np.diff(clock).tolist(), strict=True))
    facts = document.population_facts(population, made).to_json()
    parts = {
        "source": "trained",
        "exposure": told,
        "data": document.data_facts(job.records, population.roles).to_json(),
        "population": {key: value for key, value in facts.items() if key != "per_model"},
        "recipe": full(population.recipe),
        "environment": document.environment(
            job, seconds, sum(not one.fresh for one in made), started, config=canonical(job.config)
        ).to_json(),
    }
    said = document.data_sentences(job.records) + document.notices(made)
    return _write(out, parts, rows, job.records, _health(facts), said)


def _measured(job: Job, store: Store, made: Sequence[Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Compute what an audit computes of its records, without an attack."""
    signals, _ = population_signals.signals(job.population, store, made)
    found = exposure(signals, job.population.membership)
    ids, records = job.population.roles.audited, job.records
    rows = [
        row.to_json()
        for row in document.record_rows(found, ids, records.y[ids], records.class_names, None, job.partitions)
    ]
    for row in rows:
        for key in ATTACKED:
            del row[key]
    return rows, say_exposure.spoken(count_exposed(found, job.config.confidence)).to_json()


def _write(
    out: Output,
    parts: Mapping[str, Any],
    rows: list[dict[str, Any]],
    records: Records | None,
    health: Sequence[str],
    said: Sequence[str] = (),
) -> LocatedRecords:
    memorised = sorted(
        (row for row in rows if row.get("memorisation") is not None),
        key=lambda row: (-row["memorisation"], -(row.get("memorisation_soft") or 0.0), row["record"]),
    )
    summary = memorisation([row["memorisation"] for row in memorised])
    written = {
        "schema": SCHEMA,
        "sentence": sentence(summary, len(rows)),
        "detail": [*health, parts["exposure"]["sentence"]],
        "source": parts["source"],
        "exposure": parts["exposure"],
        "memorisation": summary,
        "most_exposed": [row for row in rows if row.get("exposure") is not None][:LISTED],
        "most_memorised": memorised[:LISTED],
        **{key: parts[key] for key in ("data", "population", "recipe")},
        "cannot_say": [*limits(rows), *said],
        "environment": parts["environment"],
    }
    shown = {row["record"] for row in [*rows[:PICTURES], *memorised[:PICTURES]]}
    files = write_records_page(out, written, rows, _thumbnails(records, shown))
    return LocatedRecords(written, rows, files)


def _health(facts: Mapping[str, Any]) -> list[str]:
    """Say that models did not learn, which comes first: of such models no record is learned by heart."""
    return unhealthy(Population.model_validate(facts, extra="ignore")) if facts.get("health") else []


def _thumbnails(records: Records | None, ids: set[int]) -> dict[int, NDArray[Any]]:
    if records is None:
        return {}
    drawn = {record: records.thumbnail(record) for record in sorted(ids)}
    return {record: picture for record, picture in drawn.items() if picture is not None}
