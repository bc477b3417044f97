"""Who takes part in a comparison: finished audits, recipes to train, or outputs that were brought; checked to pair.

A comparison is paired: the same records, the same membership, the same streams, the same attacks. What differs is how
the models were made, and nothing else, so that differences are not those of other splits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from reticent.attacks.base import Problem
from reticent.data import imported
from reticent.data.options import DataOptions
from reticent.data.records import Records
from reticent.errors import CorruptFileError, InputError, MissingFileError, ReticentError, SpecError, UnknownNameError
from reticent.jobs import replicas
from reticent.jobs.attack import audited, problem_of, read_signals, runnable
from reticent.jobs.attacks import AttackConfig, gather_attacks
from reticent.jobs.comparison import pairing
from reticent.jobs.comparison.sources import (
    Defenses,
    Finished,
    Recipes,
    Source,
    check_defense,
    named,
    of_defenses,
    place,
)
from reticent.jobs.config import OWN, SHORT, AuditConfig, Job, chosen, gather, prepare
from reticent.jobs.defenses import NONE, has_defense
from reticent.jobs.reading import read_document
from reticent.spec import Spec, full, text
from reticent.training.recipe import Recipe


@dataclass(frozen=True, eq=False)
class Brought:
    """Outputs that were brought.

    Attributes:
        arrays: as `reticent.attack` takes them.
        config: which attacks, and how they are audited.
        problem: what the arrays make.
        attacks: the specs of all that run.
    """

    arrays: Mapping[str, NDArray[Any]]
    config: AttackConfig
    problem: Problem
    attacks: tuple[Spec, ...]


@dataclass(frozen=True, eq=False)
class Entrant:
    """One row of a comparison before it is measured.

    Attributes:
        name: unique among all.
        job: what to train, or to find finished; None for outputs that were brought.
        brought: the outputs, or None.
    """

    name: str
    job: Job | None = None
    brought: Brought | None = None

    @property
    def defended(self) -> bool:
        """Whether its recipe is known to have a defense."""
        return self.job is not None and has_defense(self.job.population.recipe)

    @property
    def kind(self) -> str:
        """The form of its report, "html" or "md"."""
        if self.job is not None:
            return self.job.config.format
        return "html" if self.brought is None else self.brought.config.format


def entrants(
    runs: Sequence[str | Path | Finished],
    recipes: Recipes,
    values: Mapping[str, Any],
    defenses: Defenses = (),
) -> list[Entrant]:
    """Prepare all who take part; trains nothing."""
    check_defense(values.get("defense"), alone=bool(defenses) or not (runs or recipes))
    shared = _Shared(values)
    sources = named(recipes)
    audited = [_run(place(run), shared) for run in runs]
    rows = of_defenses(defenses, [*sources, *(one.name for one in audited)])
    found = audited + shared.entrants(sources | rows)
    if rows and NONE not in rows and all(one.defended or one.name in rows for one in found):
        if NONE in [one.name for one in found]:
            raise InputError(
                f"--defense is held against the undefended recipe, which is called {NONE!r}, as a defended run or "
                "recipe here is: rename that one's folder or file"
            )
        none, *made = shared.entrants({NONE: {"defense": NONE}} | sources | rows)
        found = [none, *audited, *made]
    if found and all(one.brought is not None for one in found):
        _refuse_training(values)
    if len(found) < 2:
        raise InputError(
            f"expected at least two runs or recipes to compare, got {len(found)}: give --defense NAME (it is held "
            "against no defense), --recipe FILE, or folders of audits; in Python defenses=[...], recipes={...}, or "
            "folders, as in reticent.compare('audit-a', 'audit-b')"
        )
    names = [one.name for one in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(
            f"two runs or recipes are called {twice[0]!r}: rename a folder or file, so that rows have names"
        )
    pairing.check_pairs([(one.name, _facts(one)) for one in found])
    return found


class _Shared:
    """The values that hold for all, and the records, which are loaded once."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self._unaware = bool(self._values.pop("also_non_adaptive", None))
        self._records: dict[tuple[Any, ...], Records] = {}
        data = self._values.get("dataset")
        self._own: Records | None = None
        if data is not None and not isinstance(data, (str, Path)):
            self._own = imported.records("dataset", data, self._asked())
            self._values["dataset"] = OWN

    def _asked(self) -> DataOptions:
        """Return what holds for all of how a table is read."""
        return DataOptions(**{key: self._values[key] for key in DataOptions.model_fields if key in self._values})

    def again(self, config: AuditConfig) -> Job:
        """Prepare the job of an audit that ran.

        A delta that holds for all is that of its bounds, and moves no model.
        """
        job, delta = self.job(config, without=("delta",)), self._values.get("delta")
        return job if delta is None else replace(job, config=job.config.replace(delta=delta))

    def job(self, source: Source, without: Sequence[str] = ()) -> Job:
        """Prepare one job."""
        values = {key: value for key, value in self._values.items() if key not in without}
        if isinstance(source, Mapping):
            config = chosen(None, {**source, **values})
        elif isinstance(source, AuditConfig):
            config = chosen(source, values)
        else:
            config = chosen(Path(source), values)
        if self._own is not None:
            if config.given() != self._asked().given():
                raise InputError("the columns of one data frame are read in one way: give label and the like for all")
            return self._with_unaware(prepare(config, self._own))
        key = (config.dataset, config.data_dir, text(config.given()))
        job = prepare(config, self._records.get(key))
        self._records[key] = job.records
        return self._with_unaware(job)

    def _with_unaware(self, job: Job) -> Job:
        """Ask for the attacker who does not know of the defense, where there is one to know of."""
        if not self._unaware or not has_defense(job.population.recipe):
            return job
        replicas.check(job.attacks, job.population.recipe, unaware=True)
        return replace(job, config=job.config.replace(also_non_adaptive=True))

    def jobs(self, sources: Mapping[str, Source]) -> dict[str, Job]:
        """Prepare the jobs of all recipes, with the same roles.

        Those of the one whose defense needs the most records.
        """
        made = {name: self.job(source) for name, source in sources.items()}
        most = max((len(job.population.roles.reference) for job in made.values()), default=0)
        for name, job in made.items():
            if job.config.reference is None and len(job.population.roles.reference) < most:
                made[name] = self._with_unaware(prepare(job.config.replace(reference=most), job.records))
        return made

    def entrants(self, sources: Mapping[str, Source]) -> list[Entrant]:
        """Prepare the rows of all recipes, as `jobs` does."""
        return [Entrant(name, job=job) for name, job in self.jobs(sources).items()]

    def changing(self, config: AuditConfig, runs: list[Any]) -> list[str]:
        """Name the flags that, each by itself, would make other models than those of an audit."""
        found = []
        for key, value in self._values.items():
            alone = _Shared({key: value})
            alone._records = self._records
            try:
                changed = value is not None and _made(alone.again(config)) != runs
            except ReticentError:
                changed = True
            if changed:
                found.append(_flag(_dotted(key)))
        return found

    def brought(self, path: Path) -> Brought:
        """Read outputs, and find which attacks run on them."""
        dotted = {_dotted(key): value for key, value in self._values.items()}
        known = {key: value for key, value in dotted.items() if key.split(".")[0] in AttackConfig.model_fields}
        config = gather_attacks(None, known)
        arrays = read_signals(path, config.group_by)
        try:
            problem = problem_of(arrays)
            problem = problem.among(audited(problem, config))
            return Brought(arrays, config, problem, runnable(problem, config)[0])
        except ReticentError as error:
            raise error.prefixed(f"{path}: ") from None


def _dotted(key: str) -> str:
    """Write a key of a Python call, ``attack__lira__variance``, with dots."""
    return key.replace("__", ".")


def _flag(key: str) -> str:
    short = {"recipe.architecture.name": "architecture", **{long: name for name, long in SHORT.items()}}
    name = short.get(key, key.removeprefix("recipe."))
    return f"--set {key}" if "." in name else f"--{name.replace('_', '-')}"


def _refuse_training(values: Mapping[str, Any]) -> None:
    """Refuse what has no meaning where nothing is trained."""
    keys = [_dotted(key).split(".")[0] for key, value in values.items() if value is not None]
    known = {*AuditConfig.model_fields, *Recipe.model_fields, *SHORT}
    for key in keys:
        if key not in known:
            raise UnknownNameError("key", key, known)
        if key not in AttackConfig.model_fields:
            raise SpecError(
                f"{key}: all that is compared are outputs that were brought, of which nothing is trained here, so that "
                f"{key} would change nothing: leave it out"
            )


def _run(path: Path, shared: _Shared) -> Entrant:
    if path.suffix == ".npz":
        return Entrant(path.stem, brought=shared.brought(path))
    try:
        document = read_document(path)
    except MissingFileError:
        raise MissingFileError(
            f"no audit at {str(path)!r}: expected a folder that reticent audit wrote, with audit.json in it, or an "
            ".npz file of outputs"
        ) from None
    except CorruptFileError as error:
        raise error.prefixed(f"{path}: cannot be read as an audit: ") from None
    return Entrant(_name(path), job=_again(path, document, shared))


def _name(path: Path) -> str:
    return (path.resolve().parent if path.name == "audit.json" else path.resolve()).name


def _again(path: Path, document: Mapping[str, Any], shared: _Shared) -> Job:
    """Prepare the job that made an audit, and check that it would make the same models."""
    environment = document.get("environment")
    config = environment.get("config") if isinstance(environment, dict) else None
    if not isinstance(config, dict):
        what = "outputs that were brought" if document.get("recipe", 1) is None else ""
        raise InputError(
            f"{path}: it does not say how to find its models again"
            + (f", since it is of {what}: give the .npz file in its place" if what else ": run the audit again")
        )
    if config.get("dataset") == OWN:
        raise InputError(
            f"{path}: was made in Python from data that no file holds: call reticent.compare(recipes={{...}}, "
            "dataset=...)"
        )
    try:
        written = gather(None, config)
        job = shared.again(written)
    except SpecError as error:
        raise error.prefixed(f"{path}: ") from None
    runs = _runs(document)
    if runs != _made(job):
        flags = [] if runs is None else shared.changing(written, runs)
        advice = f"{' and '.join(flags)} would make other ones: leave {'it' if len(flags) == 1 else 'them'} out, "
        raise InputError(
            f"{path}: its models were made of other data, code or options than those at hand now: "
            f"{advice if flags else ''}run reticent audit again, or compare from the state in which it was made"
        )
    return job


def _made(job: Job) -> list[str]:
    """Name the runs of a job's models."""
    return [job.population.training_id(model) for model in range(job.population.models)]


def _runs(document: Mapping[str, Any]) -> list[Any] | None:
    """List the runs of an audit's models; None where the document does not name them."""
    try:
        return [row["run"] for row in document["population"]["per_model"]]
    except (KeyError, TypeError):
        return None


def _facts(entrant: Entrant) -> dict[str, Any]:
    if entrant.brought is not None:
        problem = entrant.brought.problem
        return {
            pairing.LABELS: problem.signals.labels.tolist(),
            pairing.MEMBERSHIP: problem.membership.digest,
            pairing.TARGETS: problem.targets.tolist(),
            pairing.REFERENCES: problem.references.tolist(),
            pairing.ATTACKS: [full(spec) for spec in entrant.brought.attacks],
            pairing.CONFIDENCE: entrant.brought.config.confidence,
        }
    job = entrant.job
    assert job is not None
    population = job.population
    return {
        pairing.RECORDS: population.records.digest,
        pairing.ROLES: population.roles.to_json(),
        pairing.LABELS: population.records.y[population.roles.audited].tolist(),
        pairing.MEMBERSHIP: population.membership.digest,
        pairing.TARGETS: list(range(population.models)),
        pairing.REFERENCES: list(range(population.models)),
        pairing.SEEDS: population.seed,
        pairing.QUERIES: full(population.queries),
        pairing.ATTACKS: [full(spec) for spec in job.attacks],
        pairing.CONFIDENCE: job.config.confidence,
    }
