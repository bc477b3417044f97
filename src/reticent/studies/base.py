"""What a study is: a frozen description of a paper's table or figure, of what is trained for it, and of its claims.

One file a study. It names its settings by scale, one function that measures a setting with one seed, claims that are
judged from what was measured, and a picture. The rest (seeds, intervals, resuming, files) is the runner's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from reticent.errors import UnknownNameError
from reticent.studies.judging import Origin, Part
from reticent.studies.numbers import Estimate, Pooled

if TYPE_CHECKING:
    from reticent.studies.bench import Bench

Plain = Mapping[str, Any]
Form = Literal["share", "small share", "points", "number", "difference", "seconds"]
SCALES = ("tiny", "small", "paper")


@dataclass(frozen=True)
class Column:
    """One column of a study's tables.

    Attributes:
        metric: the key that measurements are kept under.
        label: its head.
        form: how its numbers are written; "share" as percent.
    """

    metric: str
    label: str
    form: Form = "number"


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
        key: short and unlike any other of the scale.
        label: in words.
        base: keys of `AuditConfig` or `Recipe` that hold for all that is trained, dotted where they are deep.
        options: what the study's own measurement asks for.
        beside: the group of the published tables that its numbers stand beside.
        network: the kind of its network, such as ResNet; kinds are judged apart.
        unlike: what makes it neither the paper's own setting nor a fair stand-in for it; empty where it is one. Only
            there a claim of the paper's is reproduced or not.
    """

    key: str
    label: str
    base: Plain
    options: Plain = field(default_factory=dict)
    beside: str | None = None
    network: str = ""
    unlike: str = ""


@dataclass(frozen=True)
class Scale:
    """How much is trained.

    Attributes:
        settings: in the order of the tables.
        seeds: how many seeds, from 0; each draws roles, memberships and initial weights anew.
        about: what it takes, in words.
    """

    settings: tuple[Setting, ...]
    seeds: int
    about: str


@dataclass
class Found:
    """What one setting gave with one seed.

    Attributes:
        rows: names of the table's rows, in order, each with a word on what it is.
        numbers: by name (of a row, or of a contrast between rows) and metric.
        series: plain values for the figure.
        notes: sentences that a reader must know.
    """

    rows: dict[str, str] = field(default_factory=dict)
    numbers: dict[tuple[str, str], Estimate] = field(default_factory=dict)
    series: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, from which `from_json` makes the same again."""
        numbers = [[name, metric, *one.to_json()] for (name, metric), one in self.numbers.items()]
        return {"rows": self.rows, "numbers": numbers, "series": self.series, "notes": self.notes}

    @classmethod
    def from_json(cls, plain: Plain) -> "Found":
        """Take what `to_json` gave."""
        numbers = {(name, metric): Estimate(*rest) for name, metric, *rest in plain["numbers"]}
        return cls(dict(plain["rows"]), numbers, dict(plain["series"]), list(plain["notes"]))


@dataclass(frozen=True)
class Results:
    """All that a study measured.

    Attributes:
        settings: in order.
        found: by setting, one entry a seed.
    """

    settings: tuple[Setting, ...]
    found: Mapping[str, Sequence[Found]]

    def get(self, setting: str, name: str, metric: str) -> Pooled | None:
        """Look a number up."""
        each = [one.numbers.get((name, metric)) for one in self.found[setting]]
        return None if not each or None in each else Pooled(tuple(one for one in each if one is not None))

    def rows(self, setting: str) -> dict[str, str]:
        """List the rows of a setting's table."""
        return {name: about for one in reversed(self.found[setting]) for name, about in one.rows.items()} | (
            self.found[setting][0].rows if self.found[setting] else {}
        )

    def series(self, setting: str, key: str) -> list[Any]:
        """Look up what is drawn."""
        return [one.series[key] for one in self.found[setting] if key in one.series]


@dataclass(frozen=True)
class Claim:
    """What a paper says, or what we say beside it, and how it is judged here.

    Attributes:
        key: short and unlike any other of the study.
        text: the claim, in our words.
        source: where the paper says it.
        rule: what makes it reproduced or not, in words; it was written before anything was measured.
        parts: the numbers that it stands on, of all settings of the results that it is given: those of one kind of
            network. It is also called before anything is measured, when `Results.get` gives None for each: so the
            runner learns which numbers are asked for.
        origin: paper, or ours: a control that the paper lacks, or what follows from what it says.
        networks: the kinds of network that it is about; by default any.
    """

    key: str
    text: str
    source: str
    rule: str
    parts: Callable[[Results], Sequence[Part]]
    origin: Origin = "paper"
    networks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A paper's table or figure as one command.

    Attributes:
        name: as it is asked for.
        title: what it asks, in one sentence.
        paper: what to cite.
        scales: by name, of `SCALES`.
        measure: measures one setting with one seed.
        columns: of the tables.
        claims: in order.
        published: the paper's own numbers.
        draw: makes the figures of ``study.json`` (`reticent.report.study.picture` says what they hold).
        caution: sentences on what no scale of this study can say.
        over: what is redrawn for the intervals of one seed, in words; by default as `collect` does it.
    """

    name: str
    title: str
    paper: str
    scales: Mapping[str, Scale]
    measure: Callable[["Bench"], Found]
    columns: tuple[Column, ...]
    claims: tuple[Claim, ...]
    published: tuple[Published, ...] = ()
    draw: Callable[[Results], Sequence[Plain]] = lambda _: ()
    caution: tuple[str, ...] = ()
    over: str = "models and records"

    def scale(self, name: str) -> Scale:
        """Look a scale up."""
        if name not in self.scales:
            raise UnknownNameError("scale", name, self.scales)
        return self.scales[name]
