"""What is said for all rows of a comparison."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

from reticent.data.load import of_python
from reticent.data.records import Records
from reticent.errors import InputError
from reticent.jobs import attack_inputs, replicas
from reticent.jobs.attacks import gather_attacks
from reticent.jobs.comparison.sources import Source
from reticent.jobs.config import Job, by_record, chosen, prepare
from reticent.jobs.defenses import has_defense
from reticent.options import OWN, AttackConfig, AuditConfig, DataOptions, Options
from reticent.spec import text


class ForAll:
    """Prepares jobs with the values that hold for all rows, by key of a configuration; loads the records once."""

    def __init__(self, values: Options) -> None:
        self.values = dict(values)
        self._unaware = bool(self.values.pop("also_non_adaptive", None))
        self._records: dict[tuple[Any, ...], Records] = {}
        data = self.values.get("dataset")
        self._own: Records | None = None
        if data is not None and not isinstance(data, (str, Path)):
            self._own = of_python("dataset", data, self._asked())
            self.values["dataset"] = OWN

    def saying(self, values: Options) -> "ForAll":
        """Take other values for all, with the records that are loaded."""
        other = copy(self)
        other.values, other._own = values, self._own if "dataset" in values else None
        return other

    def job(self, source: Source, without: Sequence[str] = ()) -> Job:
        """Prepare one job; the keys in `without` are left to the source."""
        left_out = {f"{table}{key}" for key in without for table in ("", "recipe.")}
        values = {key: value for key, value in self.values.items() if dotted(key) not in left_out}
        if isinstance(source, Mapping):
            config = chosen(None, {**source, **values})
        else:
            config = chosen(source if isinstance(source, AuditConfig) else Path(source), values)
        by_record(config)
        if self._own is not None:
            if config.given() != self._asked().given():
                raise InputError("the columns of one data frame are read in one way: give label and the like for all")
            return self._with_unaware(prepare(config, self._own))
        key = (config.dataset, config.data_dir, text(config.given()))
        job = prepare(config, self._records.get(key))
        self._records[key] = job.records
        return self._with_unaware(job)

    def with_reference(self, job: Job, records: int) -> Job:
        """Prepare a job again with so many reference non-members."""
        return self._with_unaware(prepare(job.config.replace(reference=records), job.records))

    def _with_unaware(self, job: Job) -> Job:
        """Ask for the attacker who does not know of the defense, where there is one to know of."""
        if not self._unaware or not has_defense(job.population.recipe):
            return job
        replicas.check(job.attacks, job.population.recipe, unaware=True)
        attack_inputs.check(job.attacks, job.records.kind, len(job.population.roles.population), given=False)
        return replace(job, config=job.config.replace(also_non_adaptive=True))

    def _asked(self) -> DataOptions:
        """Return what holds for all of how a table is read."""
        return DataOptions(**{key: self.values[key] for key in DataOptions.model_fields if key in self.values})


def for_all(values: Options) -> AttackConfig:
    """Take what is said for all rows of attacks and of the tests."""
    named = {dotted(key): value for key, value in values.items()}
    known = {key: value for key, value in named.items() if key.split(".")[0] in AttackConfig.model_fields}
    config = gather_attacks(None, known)
    by_record(config)
    return config


def dotted(key: str) -> str:
    """Write a key of a Python call, ``attack__lira__variance``, with dots."""
    return key.replace("__", ".")
