"""Rows of a comparison that need no recipe: finished audits, and outputs that were brought."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reticent.errors import CorruptFileError, InputError, MissingFileError, ReticentError, about
from reticent.findings.audit import AuditDocument
from reticent.jobs.attack_choice import audited, runnable
from reticent.jobs.comparison.for_all import ForAll, dotted, for_all
from reticent.jobs.comparison.pairing import RowSpec, Shared
from reticent.jobs.config import Job, gather
from reticent.jobs.output_facts import copied
from reticent.jobs.read_audit import read_document
from reticent.jobs.signals_file import read_signals
from reticent.options import OWN, SHORT, AuditConfig, Options, spelled
from reticent.say.grammar import agree


def of_run(path: Path, every: ForAll) -> RowSpec:
    """Find what a folder or a file of outputs holds."""
    if path.suffix == ".npz":
        return _of_outputs(path, every.values)
    try:
        document = AuditDocument.read(read_document(path), str(path))
    except MissingFileError:
        raise MissingFileError(
            f"no audit at {str(path)!r}: expected a folder that reticent audit wrote, with audit.json in it, or an "
            ".npz file of outputs"
        ) from None
    except CorruptFileError as error:
        raise error.prefixed(f"{path}: cannot be read as an audit: ") from None
    job = _again(path, document, every)
    folder = path.resolve()
    return RowSpec.of_job((folder.parent if path.name == "audit.json" else folder).name, job)


def _of_outputs(path: Path, values: Options) -> RowSpec:
    """Read outputs, and find which attacks run on them."""
    config = for_all(values)
    outputs = read_signals(path, config.group_by)
    with about(str(path)):
        problem = outputs.problem()
        judged = problem.among(audited(problem, copied(problem), config))
        shared = Shared.of_outputs(problem, runnable(judged, config)[0], config.confidence)
        return RowSpec(path.stem, config, shared, outputs=outputs)


def _again(path: Path, document: AuditDocument, every: ForAll) -> Job:
    """Prepare the job that made an audit, and check that it would make the same models."""
    config = document.environment.config
    if config is None:
        what = "run the audit again"
        if document.recipe is None:
            what = "it is of outputs that were brought: give their .npz file in its place"
        raise InputError(f"{path}: it does not say how to find its models again: {what}")
    if config.get("dataset") == OWN:
        raise InputError(
            f"{path}: was made in Python from data that no file holds: call reticent.compare(recipes={{...}}, "
            "dataset=...)"
        )
    with about(str(path)):
        written = gather(None, config)
        job = _job_again(every, written)
    runs = [one.run for one in document.population.per_model]
    alone = replace(job, population=replace(job.population, stack=1))  # A store may have models of both ways.
    job = alone if runs == _made(alone) else job
    if runs != _made(job):
        flags = _changing(every, written, runs)
        advice = f"{' and '.join(flags)} would make other ones: leave {agree(len(flags), 'it', 'them')} out, "
        raise InputError(
            f"{path}: its models were made of other data, code or options than those at hand now: "
            f"{advice if flags else ''}run reticent audit again, or compare from the state in which it was made"
        )
    return job


def _job_again(every: ForAll, config: AuditConfig) -> Job:
    """Prepare the job of an audit that ran; a delta for all is that of its bounds, and moves no model."""
    job, delta = every.job(config, without=("delta",)), every.values.get("delta")
    return job if delta is None else replace(job, config=job.config.replace(delta=delta))


def _changing(every: ForAll, config: AuditConfig, runs: Sequence[str | None]) -> list[str]:
    """Name the flags that, each by itself, would make other models than those of an audit."""
    found = []
    for key, value in every.values.items():
        try:
            changed = value is not None and _made(_job_again(every.saying({key: value}), config)) != runs
        except ReticentError:
            changed = True
        if changed:
            found.append(_flag(dotted(key)))
    return found


def _made(job: Job) -> list[str]:
    return [job.population.training_id(model) for model in range(job.population.models)]


def _flag(key: str) -> str:
    short = {"recipe.architecture.name": "architecture", **{long: name for name, long in SHORT.items()}}
    name = short.get(key, key.removeprefix("recipe."))
    return f"--set {key}" if "." in name else f"--{spelled(name)}"
