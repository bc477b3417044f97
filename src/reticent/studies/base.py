"""What a study is: a frozen description of a paper's table or figure, of what is trained for it, and of its claims.

A study names its settings by scale, one function that measures a setting with one seed, claims that are judged from
what was measured, and figures. The rest (seeds, intervals, resuming, files) is the runner's.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from reticent.data.records import Records
from reticent.errors import UnknownNameError
from reticent.findings.study import AnyPanel, Column, Figure, Level, Origin, Points
from reticent.jobs.base import Work
from reticent.jobs.config import Job, gather, prepare
from reticent.options import Options
from reticent.population.in_store import using
from reticent.population.train import train
from reticent.population.worker import Made
from reticent.store import Store
from reticent.studies.judging import Part
from reticent.studies.numbers import Estimate, Pooled

PANELS: TypeAdapter[tuple[AnyPanel, ...]] = TypeAdapter(tuple[AnyPanel, ...])


@dataclass(frozen=True)
class Published:
    """A table as a paper printed it.

    Attributes:
        reference: paper and table.
        group: which part of it, such as an architecture; a setting names the group it stands beside.
        rows: by row and metric, the value and its standard deviation or None; shares as fractions.
        remarks: by row and metric, what a reader must know of an entry.
        note: what a reader must know of all of it.
    """

    reference: str
    group: str
    rows: Mapping[str, Mapping[str, tuple[float, float | None]]]
    remarks: Mapping[tuple[str, str], str] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Setting:
    """One combination of data and architecture.

    Attributes:
        key: unique in its scale.
        base: options that hold for all that is trained: keys of `AuditConfig` or `Recipe`, dotted where they are deep.
        options: what the study's own measurement asks for.
        published: the group of the published tables that stand beside its numbers.
        network: the kind of its network, such as ResNet; kinds are judged apart.
        unlike: what makes it neither the paper's own setting nor a fair stand-in for it; empty where it is one. Only
            there a claim of the paper's is reproduced or not.
        seeds: how many, where these are not as many as the scale says, and the caller asks for no number.
    """

    key: str
    label: str
    base: Options
    options: Options = field(default_factory=dict)
    published: str | None = None
    network: str = ""
    unlike: str = ""
    seeds: int | None = None


@dataclass(frozen=True)
class Scale:
    """How much is trained; each seed draws roles, memberships and initial weights anew."""

    settings: tuple[Setting, ...]
    seeds: int
    about: str


@dataclass
class Found:
    """What one setting gave with one seed.

    Attributes:
        rows: names of the table's rows, in order, each with a word on what it is.
        numbers: by name (of a row, or of a contrast between rows) and metric.
        panels: drawings of this setting and seed alone.
    """

    rows: dict[str, str] = field(default_factory=dict)
    numbers: dict[tuple[str, str], Estimate] = field(default_factory=dict)
    panels: tuple[AnyPanel, ...] = ()
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        """Write it as a text, from which `from_json` makes the same again."""
        numbers = [[*key, *astuple(one)] for key, one in self.numbers.items()]
        panels = [one.to_json() for one in self.panels]
        return json.dumps([self.rows, numbers, panels, self.notes], allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Found":
        """Take what `to_json` wrote."""
        rows, numbers, panels, notes = json.loads(text)
        each = {(name, metric): Estimate(*rest) for name, metric, *rest in numbers}
        return cls(rows, each, PANELS.validate_python(panels), notes)


@dataclass(frozen=True)
class Results:
    """All that a study measured: by setting, one entry a seed."""

    settings: tuple[Setting, ...]
    found: Mapping[str, Sequence[Found]]

    def get(self, setting: str, name: str, metric: str) -> Pooled | None:
        """Look a number up; None where a seed has none."""
        each = [one.numbers.get((name, metric)) for one in self.found[setting]]
        known = tuple(one for one in each if one is not None)
        return Pooled(known) if known and len(known) == len(each) else None

    def points(
        self, setting: Setting, rows: Iterable[str], metric: str, label: str = "", x: Sequence[float] = ()
    ) -> Points:
        """Gather the numbers of some rows for a figure."""
        numbers = (self.get(setting.key, name, metric) for name in rows)
        return Points(
            label=label, x=tuple(x), estimates=tuple(None if one is None else one.finding() for one in numbers)
        )

    def levels(self, setting: Setting, rows: Iterable[str], metric: str) -> tuple[Level, ...]:
        """Gather the numbers of those rows that have one, as lines across a figure."""
        numbers = {name: self.get(setting.key, name, metric) for name in rows}
        return tuple(Level(label=name.lower(), value=one.value) for name, one in numbers.items() if one is not None)

    def rows(self, setting: str) -> dict[str, str]:
        """List the rows of a setting's table, each with the words of the first seed that has it."""
        return {name: about for one in reversed(self.found[setting]) for name, about in one.rows.items()}


@dataclass(frozen=True, eq=False)
class Bench:
    """What a study measures with: one setting and one seed, its records, and populations that are trained or found.

    Attributes:
        seed: of roles, memberships and models.
        machine: keys of `AuditConfig` that say where and how to run: ``store``, ``workers``, ``device``.
        folder: for what a measurement keeps.
    """

    setting: Setting
    seed: int
    records: Records
    machine: Options = field(default_factory=dict)
    folder: Path = Path("reticent-study")
    work: Work = field(default_factory=Work)

    @property
    def options(self) -> Options:
        """What the setting asks of the study's own measurement."""
        return self.setting.options

    def say(self, what: str) -> None:
        """Tell what is measured now."""
        self.work.tell(what)

    def job(self, defense: str | None = None, **more: Any) -> Job:
        """Prepare a population."""
        chosen = {} if defense is None else {"defense": defense}
        values = {**self.setting.base, "seed": self.seed, **self.machine, **more, **chosen}
        return prepare(gather(None, values), self.records)

    @contextmanager
    def made(self, job: Job) -> Iterator[tuple[Store, list[Made]]]:
        """Train what is not finished of a population, and keep it in the store until the block ends."""
        with using(job.config.store, job.population) as store:
            yield store, train(job.population, store, executor=job.executor, progress=self.work.progress)


Parts = Callable[[Results], Sequence[Part]]
"""Takes the numbers that a claim stands on out of the results."""


@dataclass(frozen=True)
class Claim:
    """What a paper says, or what we say beside it, and how it is judged here.

    Attributes:
        key: unique in the study.
        source: where the paper says it.
        rule: what makes it reproduced or not, in words; it was written before anything was measured.
        parts: the numbers that it rests on, of all settings of the results that it is given: those of one kind of
            network.
        origin: paper, or ours: a control that the paper lacks, or what follows from what it says.
        networks: the kinds of network that it is about; by default any.
    """

    key: str
    text: str
    source: str
    rule: str
    parts: Parts
    origin: Origin = "paper"
    networks: tuple[str, ...] = ()


def each(ask: Callable[[Results, Setting], Iterable[Part]]) -> Parts:
    """Ask the same of each setting."""
    return lambda results: [replace(part, setting=one.label) for one in results.settings for part in ask(results, one)]


@dataclass(frozen=True)
class Study:
    """A paper's table or figure as one command.

    Attributes:
        scales: by name; `tiny` ends within minutes on two cores.
        measure: measures one setting with one seed.
        draw: makes the figures of a setting.
        caution: sentences on what no scale of this study can say.
        over: what is redrawn for the intervals of one seed, in words; by default as `collect` does it.
    """

    name: str
    title: str
    paper: str
    scales: Mapping[str, Scale]
    measure: Callable[[Bench], Found]
    columns: tuple[Column, ...]
    claims: tuple[Claim, ...]
    published: tuple[Published, ...] = ()
    draw: Callable[[Results, Setting], Iterable[Figure]] = lambda *_: ()
    caution: tuple[str, ...] = ()
    over: str = "models and records"

    def untellable(self, scale: Scale) -> tuple[int, int]:
        """Count the paper's claims that a scale cannot tell, whatever comes out, and all of them.

        It has no network that the claim is about in the paper's setting, or in a fair stand-in for it.
        """
        claims = [one.networks for one in self.claims if one.origin == "paper"]
        fair = {one.network for one in scale.settings} - {one.network for one in scale.settings if one.unlike}
        return sum(not (fair & {*about} if about else fair) for about in claims), len(claims)

    def scale(self, name: str) -> Scale:
        """Look a scale up."""
        if name not in self.scales:
            raise UnknownNameError("scale", name, self.scales)
        return self.scales[name]
