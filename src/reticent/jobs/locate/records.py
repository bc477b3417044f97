"""``locate records``: which records a model leaks, and which it has memorised."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reticent import user_files
from reticent.auditing.exposure import count_exposed, exposure
from reticent.data.load import load
from reticent.data.records import Records
from reticent.errors import CorruptFileError, InputError, ReticentError, SpecError
from reticent.findings.audit import AuditDocument
from reticent.findings.locate import Memorisation, RecordsDocument, RecordsEnvironment
from reticent.findings.records import COLUMNS, GROUP, PICTURED, RecordRow
from reticent.jobs import document
from reticent.jobs.base import RecordsReported, Work
from reticent.jobs.comparison.sources import Finished, place
from reticent.jobs.config import Job, called, gather
from reticent.jobs.locate.options import refuse, taken
from reticent.jobs.read_audit import read_document
from reticent.options import OWN, AuditConfig, Options
from reticent.population.in_store import using
from reticent.population.stored_signals import signals
from reticent.population.train import Callback, train
from reticent.procedures.user import told
from reticent.report.csv import records as as_csv
from reticent.report.csv import text as text_of
from reticent.report.kinds import page
from reticent.report.output import AUDIT, RECORD_LIST, Output
from reticent.say import exposure as say_exposure
from reticent.say import locate as say
from reticent.torch_state import fixed

OUT = "reticent-records"
"""Folder for the files, where none is given."""
LISTED = 100
"""Records that ``records.json`` lists, of the most exposed and of the most memorised; ``records.csv`` has all."""
MEMORISED = 0.5
"""From this memorisation on, a record is called memorised."""
WHOLE = frozenset({"record", "label", "models_in", "models_out"})
"""Columns of ``records.csv`` that hold whole numbers."""


@dataclass(frozen=True, eq=False)
class LocatedRecords(RecordsReported[RecordsDocument]):
    """What `locate_records` found.

    Attributes:
        files: records.html, records.csv and records.json.
    """


def locate_records(
    source: AuditConfig | Finished | str | Path | None = None,
    *,
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    **values: Any,
) -> LocatedRecords:
    """Say of each record how exposed it is, and how far it is memorised.

    Both come from a population, as `reticent.audit` trains one, by the same code. A finished audit is read; else models
    are trained, or found in the store.

    Paper: Feldman and Zhang (2020), "What neural networks memorize and why", for memorisation.

    Args:
        source: a finished audit (its folder, its ``audit.json``, or what `reticent.audit` returned); or a
            configuration, the path of a TOML file, or None.
        progress: called after every model.
        stage: called with a word before each part.
        **values: keys of `AuditConfig` or `Recipe`, as for `reticent.audit`; beside a finished audit, ``out`` alone.

    Returns:
        The records; three files lie in ``out``.

    Example:
        >>> import reticent
        >>> found = reticent.locate_records(dataset="digits", models=8, store="/tmp/s", out="/tmp/o")  # doctest: +SKIP
        >>> print(found.rows[0]["record"])  # doctest: +SKIP
    """
    if isinstance(source, (str, Path)) and Path(source).suffix != ".toml":
        return again(user_files.path(source), values)
    if source is None or isinstance(source, (str, Path, AuditConfig)):
        refuse(values, "locate records")
        job = called(source, values, attacked=False, units=False)
        return run(job, progress=progress, stage=stage)
    return again(place(source), values)


def again(path: Path, values: Options) -> LocatedRecords:
    """Take the records of a finished audit; trains and measures nothing."""
    given = {key: value for key, value in values.items() if value is not None}
    out = user_files.path(given.pop("out", OUT))
    if given:
        raise SpecError(
            f"{next(iter(given))}: the numbers are those of the finished audit at {path}, which it would not change: "
            "leave it out, or leave the audit out to train"
        )
    plain = read_document(path)
    if not str(plain.get("schema")).startswith(AUDIT.schema):
        raise InputError(f"{path}: expected the audit.json of an audit, got another document: give an audit's folder")
    audit = AuditDocument.read(plain, str(path))
    folder = path if path.is_dir() else path.parent
    rows = read_rows(folder / "records.csv")
    output = Output.take(out, RECORD_LIST, AUDIT.files(folder))
    told = audit.environment.to_json()
    about = {key: told[key] for key in ("reticent", "started", "device") if key in told}
    found = _findings(
        rows,
        source=str(path),
        exposure=None if audit.data.unit else audit.exposure,  # That of units is not of these records.
        data=audit.data,
        population=audit.population.with_(per_model=()),
        recipe=audit.recipe,
        environment=RecordsEnvironment(**dict(document.versions(audit=about))),
    )
    return _written(output, say.records(found), rows, _data(audit))


@fixed()
def run(job: Job, *, progress: Callback | None = None, stage: Callable[[str], None] | None = None) -> LocatedRecords:
    """Train what is not finished, and measure every record."""
    out, work = taken(job.config, OUT, RECORD_LIST, [job.config.dataset]), Work(stage, progress)
    population = job.population
    with using(job.config.store, population) as store:
        out.begin()
        with work.on("training", "training"):
            made = train(population, store, executor=job.executor, progress=work.progress)
        with work.on("measuring", "records"):
            measured = exposure(signals(population, store, made)[0], population.membership)
    work.tell("report")
    ids = population.roles.audited
    rows = document.record_rows(measured, ids, job.records.y[ids], job.records.class_names, partitions=job.partitions)
    found = _findings(
        rows,
        source="trained",
        exposure=say_exposure.spoken(count_exposed(measured, job.config.confidence)),
        data=document.data_facts(job.records, population.roles),
        population=document.population_facts(population, made).with_(per_model=()),
        recipe=told(population.recipe),
        environment=RecordsEnvironment(**dict(work.trained(job, made))),
    )
    further = (*document.data_sentences(job.records), *document.notices(made))
    return _written(out, say.records(found, further), rows, job.records)


def _findings(rows: Sequence[RecordRow], **known: Any) -> RecordsDocument:
    """Summarise the records, and list the most exposed and the most memorised."""
    memorised = sorted(
        (row for row in rows if row.memorisation is not None),
        key=lambda row: (-(row.memorisation or 0.0), -(row.memorisation_soft or 0.0), row.record),
    )
    return RecordsDocument(
        **known,
        memorisation=memorisation(
            [row.memorisation for row in memorised if row.memorisation is not None],
            even=all(row.models_in == row.models_out for row in memorised),
        ),
        most_exposed=tuple(row for row in rows if row.exposure is not None)[:LISTED],
        most_memorised=tuple(memorised[:LISTED]),
        records=len(rows),
        models=max((row.models_in or 0) + (row.models_out or 0) for row in rows),
    )


def memorisation(values: Sequence[float], *, even: bool) -> Memorisation | None:
    """Summarise the memorisation of all records that have one; `even`: of as many models with each as without."""
    if not values:
        return None
    array = np.asarray(values, np.float64)
    low, half, high = np.quantile(array, (0.05, 0.5, 0.95)).tolist()
    return Memorisation(
        records=len(values),
        mean=float(array.mean()),
        quantiles={"0.05": low, "0.5": half, "0.95": high},
        memorised=int(np.count_nonzero(array >= MEMORISED)),
        reversed=int(np.count_nonzero(array <= -MEMORISED)) if even else None,
        threshold=MEMORISED,
    )


def _written(out: Output, found: RecordsDocument, rows: Sequence[RecordRow], records: Records | None) -> LocatedRecords:
    """Write the page, the table of all records and, last, the numbers."""
    shown = {row.record for row in (*rows[:PICTURED], *found.most_memorised[:PICTURED])}
    pictures = {} if records is None else records.thumbnails(shown)
    files = out.write(found, {"records.html": page(found, rows, pictures), "records.csv": as_csv(rows)})
    return LocatedRecords(found, files, rows)


def read_rows(path: Path) -> list[RecordRow]:
    """Read ``records.csv``."""
    expected = "the records.csv that reticent audit writes beside its audit.json"
    try:
        with user_files.reading(path, expected):
            user_files.check_plain(path, expected)
            with path.open(encoding="utf-8", newline="") as stream:
                reader = csv.DictReader(stream, strict=True)
                names = reader.fieldnames or ()
                if "record" not in names or "exposure" not in names:
                    raise CorruptFileError(f"{path}: expected the columns record and exposure, got {reader.fieldnames}")
                known = [key for key in names if key in COLUMNS or key.startswith(GROUP)]
                return [RecordRow.from_json({key: _value(key, line[key]) for key in known}) for line in reader]
    except (ValueError, TypeError, csv.Error) as error:
        raise CorruptFileError(f"{path}: not the records.csv of an audit: {error}") from None


def _value(key: str, text: str) -> Any:
    if key == "label_name" or key.startswith(GROUP):
        return text_of(text)
    if text == "":
        return None
    return int(text) if key in WHOLE else float(text)


def _data(audit: AuditDocument) -> Records | None:
    """Load the data set again, for its pictures; anything that hinders it leaves only the pictures out."""
    config = audit.environment.config
    if config is None or config.get("dataset") == OWN:
        return None
    try:
        asked = gather(None, config)
        records = load(asked.dataset, data_dir=asked.data_dir, **asked.given())
    except ReticentError:
        return None
    return records if records.digest == audit.data.digest else None
