"""Who is compared: finished audits, recipes to train, or outputs that were brought; checked to pair.

A comparison is paired: the same records, the same membership, the same streams, the same attacks. What differs is how
the models were made, and nothing else, so that differences are not those of other splits.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reticent.data.load import of_python
from reticent.data.records import Records
from reticent.errors import CorruptFileError, InputError, MissingFileError, ReticentError, SpecError, UnknownNameError
from reticent.findings.audit import AuditDocument
from reticent.jobs import attack_inputs, replicas
from reticent.jobs.attack import Outputs, audited, runnable
from reticent.jobs.attacks import gather_attacks
from reticent.jobs.comparison.pairing import Shared, check_pairs
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
from reticent.jobs.config import Job, by_record, chosen, gather, prepare
from reticent.jobs.defenses import NONE, has_defense
from reticent.jobs.read_audit import read_document
from reticent.jobs.signals_file import read_signals
from reticent.options import ALL, OWN, SHORT, AttackConfig, AuditConfig, DataOptions, Options
from reticent.say.grammar import agree
from reticent.spec import text
from reticent.training.augmentation import usual
from reticent.training.recipe import Recipe


@dataclass(frozen=True, eq=False)
class RowSpec:
    """One row of a comparison before it is measured: a job, or outputs that were brought."""

    name: str
    config: AttackConfig
    shared: Shared
    job: Job | None = None
    outputs: Outputs | None = None

    @classmethod
    def of_job(cls, name: str, job: Job) -> "RowSpec":
        """Take a job."""
        return cls(name, job.config, Shared.of_job(job), job)

    @property
    def defended(self) -> bool:
        """Whether its recipe is known to have a defense."""
        return self.job is not None and has_defense(self.job.population.recipe)


AUGMENTED = "augmented"
"""The row of the baseline with augmentation, each model stopped at its best validation loss."""
CONTROLLED = {AUGMENTED: ("augmentation",)}
"""What that row says for itself, whatever holds for all."""
PATIENCE = 10
"""Epochs without a lower validation loss after which a model of that row stops."""
VALIDATION = 10
"""One record of so many is set aside for it, where the user does not say how many; at most half as many as are audited,
as each epoch asks about them all."""


def row_specs(
    runs: Sequence[str | Path | Finished],
    recipes: Recipes,
    values: Options,
    defenses: Defenses = (),
    *,
    augmented: bool = False,
) -> list[RowSpec]:
    """Prepare all who take part; trains nothing."""
    check_defense(values.get("defense"), alone=bool(defenses) or not (runs or recipes))
    every = _ForAll(values)
    if augmented:
        every.validated(bool(runs))
    sources = named(recipes)
    audited = [_run(place(run), every) for run in runs]
    rows = of_defenses(defenses, [*sources, *(one.name for one in audited)])
    known = [*(one.name for one in audited), *sources, *rows]
    if augmented and AUGMENTED in known:
        raise InputError(f"augmented: a row is called {AUGMENTED!r} already: rename that folder or file")
    control = {AUGMENTED: every.augmented()} if augmented else {}
    found = audited + every.rows(sources | rows | control)
    others = [one for one in found if one.name not in control]
    if rows and NONE not in rows and all(one.defended or one.name in rows for one in others):
        if NONE in known:
            raise InputError(
                f"--defense is held against the undefended recipe, which is called {NONE!r}, as a defended run or "
                "recipe here is: rename that one's folder or file"
            )
        none, *made = every.rows({NONE: {"defense": NONE}} | sources | rows | control)
        found = [none, *audited, *made]
    if found and all(one.job is None for one in found):
        _refuse_training(key for key, value in values.items() if value is not None)
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
    check_pairs([(one.name, one.shared) for one in found])
    return found


def baseline_of(found: Sequence[RowSpec], name: str | None) -> RowSpec:
    """Choose the row that all others are held against: the named one, else the first, or the only undefended one."""
    if name is None:
        plain = [one for one in found if not one.defended]
        return plain[0] if found[0].defended and len(plain) == 1 else found[0]
    by_name = {one.name: one for one in found}
    if name not in by_name:
        error = UnknownNameError("baseline", name, by_name)
        hint = f"; the undefended recipe is a row where it is asked for, with --defense {NONE} (defenses=['{NONE}'])"
        raise error.retold(f"{error}{hint}") if name == NONE else error
    return by_name[name]


class _ForAll:
    """The values that hold for all rows, and the records, which are loaded once."""

    def __init__(self, values: Options) -> None:
        self._values = dict(values)
        self._unaware = bool(self._values.pop("also_non_adaptive", None))
        self._records: dict[tuple[Any, ...], Records] = {}
        data = self._values.get("dataset")
        self._own: Records | None = None
        if data is not None and not isinstance(data, (str, Path)):
            self._own = of_python("dataset", data, self._asked())
            self._values["dataset"] = OWN

    def _asked(self) -> DataOptions:
        """Return what holds for all of how a table is read."""
        return DataOptions(**{key: self._values[key] for key in DataOptions.model_fields if key in self._values})

    def again(self, config: AuditConfig) -> Job:
        """Prepare the job of an audit that ran; a delta for all is that of its bounds, and moves no model."""
        job, delta = self.job(config, without=("delta",)), self._values.get("delta")
        return job if delta is None else replace(job, config=job.config.replace(delta=delta))

    def job(self, source: Source, without: Sequence[str] = ()) -> Job:
        """Prepare one job."""
        left_out = {f"{table}{key}" for key in without for table in ("", "recipe.")}
        values = {key: value for key, value in self._values.items() if _dotted(key) not in left_out}
        if isinstance(source, Mapping):
            config = chosen(None, {**source, **values})
        else:
            config = chosen(source if isinstance(source, AuditConfig) else Path(source), values)
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
        by_record(job.config)
        if not self._unaware or not has_defense(job.population.recipe):
            return job
        replicas.check(job.attacks, job.population.recipe, unaware=True)
        attack_inputs.check(job.attacks, job.records.kind, len(job.population.roles.population), given=False)
        return replace(job, config=job.config.replace(also_non_adaptive=True))

    def rows(self, sources: Mapping[str, Source]) -> list[RowSpec]:
        """Prepare the rows of all recipes, with the roles of the one whose defense needs the most records."""
        made = {name: self.job(source, without=CONTROLLED.get(name, ())) for name, source in sources.items()}
        most = max((len(job.population.roles.reference) for job in made.values()), default=0)
        for name, job in made.items():
            if job.config.reference is None and len(job.population.roles.reference) < most:
                made[name] = self._with_unaware(prepare(job.config.replace(reference=most), job.records))
        # Where all attacks that fit are asked for, only those are compared by that fit every row.
        if any(ALL in job.config.attacks for job in made.values()):
            common = set.intersection(*({one.method for one in job.attacks} for job in made.values()))
            for name, job in made.items():
                made[name] = replace(job, attacks=tuple(one for one in job.attacks if one.method in common))
        return [RowSpec.of_job(name, job) for name, job in made.items()]

    def validated(self, runs: bool) -> None:
        """Set validation records aside for all rows, by which the augmented one is stopped."""
        if runs:
            raise InputError(
                "augmented: its models are stopped by validation records, which finished audits may lack: "
                "give recipes or defenses in place of folders (their models are found in the store)"
            )
        if not self._values.get("validation"):
            job = self.job({"defense": NONE})
            audited = len(job.population.roles.audited)
            self._values["validation"] = min(len(job.records) // VALIDATION, audited // 2)

    def augmented(self) -> Source:
        """Make the recipe of the augmented control."""
        job = self.job({"defense": NONE})
        own = job.population.recipe.augmentation
        kind = usual(job.records.kind, job.records.x) if own == "none" else own
        return {"defense": NONE, "augmentation": kind, "patience": PATIENCE}

    def changing(self, config: AuditConfig, runs: list[str | None]) -> list[str]:
        """Name the flags that, each by itself, would make other models than those of an audit."""
        found = []
        for key, value in self._values.items():
            alone = _ForAll({key: value})
            alone._records = self._records
            try:
                changed = value is not None and _made(alone.again(config)) != runs
            except ReticentError:
                changed = True
            if changed:
                found.append(_flag(_dotted(key)))
        return found

    def brought(self, path: Path) -> RowSpec:
        """Read outputs, and find which attacks run on them."""
        config = for_all(self._values)
        outputs = read_signals(path, config.group_by)
        try:
            problem = outputs.problem()
            problem = problem.among(audited(problem, config))
            shared = Shared.of_outputs(problem, runnable(problem, config)[0], config.confidence)
            return RowSpec(path.stem, config, shared, outputs=outputs)
        except ReticentError as error:
            raise error.prefixed(f"{path}: ") from None


def for_all(values: Options) -> AttackConfig:
    """Take what is said for all rows of attacks and of the tests."""
    dotted = {_dotted(key): value for key, value in values.items()}
    known = {key: value for key, value in dotted.items() if key.split(".")[0] in AttackConfig.model_fields}
    return gather_attacks(None, known)


def _dotted(key: str) -> str:
    """Write a key of a Python call, ``attack__lira__variance``, with dots."""
    return key.replace("__", ".")


def _flag(key: str) -> str:
    short = {"recipe.architecture.name": "architecture", **{long: name for name, long in SHORT.items()}}
    name = short.get(key, key.removeprefix("recipe."))
    return f"--set {key}" if "." in name else f"--{name.replace('_', '-')}"


def _refuse_training(given: Iterable[str]) -> None:
    """Refuse what has no meaning where nothing is trained."""
    known = {*AuditConfig.model_fields, *Recipe.model_fields, *SHORT}
    for key in [_dotted(key).split(".")[0] for key in given]:
        if key not in known:
            raise UnknownNameError("key", key, known)
        if key not in AttackConfig.model_fields:
            raise SpecError(
                f"{key}: all that is compared are outputs that were brought, of which nothing is trained here, so that "
                f"{key} would change nothing: leave it out"
            )


def _run(path: Path, every: _ForAll) -> RowSpec:
    """Find what a folder or a file of outputs holds."""
    if path.suffix == ".npz":
        return every.brought(path)
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


def _again(path: Path, document: AuditDocument, every: _ForAll) -> Job:
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
    try:
        written = gather(None, config)
        job = every.again(written)
    except SpecError as error:
        raise error.prefixed(f"{path}: ") from None
    runs = [one.run for one in document.population.per_model]
    alone = replace(job, population=replace(job.population, stack=1))  # A store may have models of both ways.
    job = alone if runs == _made(alone) else job
    if runs != _made(job):
        flags = every.changing(written, runs)
        advice = f"{' and '.join(flags)} would make other ones: leave {agree(len(flags), 'it', 'them')} out, "
        raise InputError(
            f"{path}: its models were made of other data, code or options than those at hand now: "
            f"{advice if flags else ''}run reticent audit again, or compare from the state in which it was made"
        )
    return job


def _made(job: Job) -> list[str]:
    return [job.population.training_id(model) for model in range(job.population.models)]
