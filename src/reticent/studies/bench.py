"""What a study measures with: one setting and one seed, its records, and populations that are trained or found."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reticent.data.records import Records
from reticent.jobs.config import Job, gather, prepare
from reticent.population.population import Population
from reticent.population.train import Callback, train
from reticent.population.using import using
from reticent.population.worker import Made
from reticent.store import Store
from reticent.studies.base import Setting


@dataclass(frozen=True, eq=False)
class Bench:
    """One setting with one seed.

    Attributes:
        setting: what is trained.
        seed: of roles, memberships and models.
        records: the setting's data.
        machine: keys of `AuditConfig` that say where and how to run: ``store``, ``workers``, ``device``.
        work: a folder for what a measurement writes beside.
        progress: called after every model.
        tell: called with words before each part.
    """

    setting: Setting
    seed: int
    records: Records
    machine: Mapping[str, Any] = field(default_factory=dict)
    work: Path = Path("reticent-study")
    progress: Callback | None = None
    tell: Callable[[str], None] = lambda _: None

    @property
    def options(self) -> Mapping[str, Any]:
        """What the setting asks of the study's own measurement."""
        return self.setting.options

    def values(self, **more: Any) -> dict[str, Any]:
        """Gather the keys of a configuration."""
        given = {key.replace("__", "."): value for key, value in more.items()}
        return {**self.setting.base, "seed": self.seed, **self.machine, **given}

    def job(self, defense: str | None = None, **more: Any) -> Job:
        """Prepare a population."""
        chosen = {} if defense is None else {"defense": defense}
        return prepare(gather(None, {**self.values(**more), **chosen}), self.records)

    @contextmanager
    def made(self, job: Job) -> Iterator[tuple[Store, list[Made]]]:
        """Train what is not finished of a population, and keep it in the store until the block ends."""
        with self.population(job.population, job) as found:
            yield found

    @contextmanager
    def population(self, population: Population, job: Job) -> Iterator[tuple[Store, list[Made]]]:
        """Do as `made` does for a population that was put together otherwise."""
        with using(job.config.store, population) as store:
            made = train(population, store, workers=job.workers, device=job.device, progress=self.progress)
            yield store, made
