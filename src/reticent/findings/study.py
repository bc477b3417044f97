"""The document of a study: what `study.json` holds."""

from typing import Annotated, Final, Literal

from pydantic import Field

from reticent.findings.base import Document, Finding, Interval, Number, Plain
from reticent.findings.environment import Environment
from reticent.findings.numbers import Count

SCHEMA: Final = "reticent.study/2"

Form = Literal["share", "small share", "points", "number", "difference", "seconds", "bytes"]
"""How a number is written: a share in percent, a difference of shares in percentage points, others as they are."""
Answer = Literal["yes", "no", "open"]
Origin = Literal["paper", "ours"]
"""Who makes a claim; ours are controls that the paper lacks, or follow from what it says."""
Verdict = Literal["reproduced", "not reproduced", "holds", "does not hold", "can't tell"]
Reason = Literal["condition", "unmatched", "unmeasured", "interval", "network", "setting", "disagree"]
"""Why nothing can be told: the claim takes for granted what does not hold; no control is as accurate; the number is not
measured; its interval leaves both open; no network of the kinds that the claim is about was run; what was run is
neither the paper's setting nor a fair stand-in; the kinds of network disagree."""
FEW: Final = 3
"""Seeds from which on their spread is a part of the intervals."""
OPEN: Final = "can't tell"
VERDICTS: dict[Origin, dict[Answer, Verdict]] = {
    "paper": {"yes": "reproduced", "no": "not reproduced", "open": OPEN},
    "ours": {"yes": "holds", "no": "does not hold", "open": OPEN},
}


class SeedsEstimate(Finding):
    """A number over seeds."""

    mean: Number | None = None
    "`null` if the scale does not measure it."
    interval: Interval | None = None
    "By which claims are judged: on each side the wider end of the next two."
    within: Interval | None = None
    "The mean of the seeds' limits; `null` where they have none."
    over_seeds: Interval | None = None
    "Student's interval of the seeds' values, from three seeds on."
    seeds: tuple[Number, ...] = ()
    "A value each."


class Part(SeedsEstimate):
    """A number that a claim stands on, and what is asked of it."""

    label: str
    setting: str = ""
    "What it is measured in, in words."
    metric: Form = "number"
    "How it is written."
    better: Literal["higher", "lower"]
    yes: Number
    "Yes if the whole interval lies on the better side of this, and the estimate reaches `no` too."
    no: Number
    "No if the whole interval, widened for the number of parts, lies on the worse side of this."
    answer: Answer
    reason: Reason | None = None
    "Why it is open."


class Kind(Finding):
    """What one kind of network says of a claim."""

    network: str
    "Such as `ResNet`."
    settings: tuple[str, ...]
    "Keys of those with such a network."
    counts: bool
    "Whether it has a part in the verdict."
    found: Answer
    reason: Reason | None = None
    "Why it is open."
    parts: tuple[Part, ...]


class Claim(Finding):
    """A claim, its rule, and the verdict."""

    key: str
    text: str
    source: str
    "Where the paper says it."
    origin: Origin
    networks: tuple[str, ...] = ()
    "The kinds of network that it is about; empty: any."
    rule: str
    "Written before anything was measured."
    verdict: Verdict
    reason: Reason | None = None
    "Why it can't be told."
    kinds: tuple[Kind, ...]


class Column(Finding):
    """A column of a table."""

    key: str
    "The metric."
    label: str
    form: Form = "number"


class Printed(Finding):
    """A number as a paper prints it."""

    value: Number
    std: Number | None = None


class Row(Finding):
    """A row of a table that every seed has."""

    name: str
    about: str = ""
    values: dict[str, SeedsEstimate | None]
    "By column."
    paper: dict[str, Printed] | None = None
    "The paper's numbers in that place, by column."


class Table(Finding):
    """The numbers of one setting."""

    title: str
    setting: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


class Remark(Finding):
    """What a reader must know of an entry of the paper's."""

    row: str
    column: str
    text: str


class PublishedTable(Finding):
    """A table as the paper prints it."""

    title: str
    note: str = ""
    columns: tuple[Column, ...]
    rows: dict[str, dict[str, Printed]]
    remarks: tuple[Remark, ...] = ()


class Level(Finding):
    """A line across a panel."""

    label: str
    value: Number


class Panel(Finding):
    """One drawing of a figure."""

    title: str
    x: str = ""
    "Of the horizontal axis."
    y: str = ""
    form: Form = "number"
    "How the numbers are written."


class Points(Finding):
    """Numbers that are drawn alike."""

    label: str = ""
    x: tuple[Number, ...] = ()
    "Of `lines` alone."
    estimates: tuple[SeedsEstimate | None, ...]


class LinesPanel(Panel):
    """Numbers against numbers, or against names."""

    kind: Literal["lines"] = "lines"
    log_x: bool = False
    ticks: tuple[str, ...] = ()
    "Names in place of numbers on the horizontal axis."
    series: tuple[Points, ...]
    levels: tuple[Level, ...] = ()


class DotsPanel(Panel):
    """A line a name, from the top, with the number of each series."""

    kind: Literal["dots"] = "dots"
    names: tuple[str, ...]
    series: tuple[Points, ...]
    levels: tuple[Level, ...] = ()


class CloudPanel(Panel):
    """Counts of things by the decimal logarithms of two numbers each."""

    kind: Literal["cloud"] = "cloud"
    points: tuple[tuple[Number, Number, Number], ...]


class Heights(Finding):
    """Heights of one histogram."""

    label: str
    heights: tuple[Number, ...]


class DensityPanel(Panel):
    """Histograms with the same edges."""

    kind: Literal["density"] = "density"
    edges: tuple[Number, ...]
    series: tuple[Heights, ...]


AnyPanel = Annotated[LinesPanel | DotsPanel | CloudPanel | DensityPanel, Field(discriminator="kind")]


class Figure(Finding):
    """A figure, and the names of its files."""

    name: str
    title: str
    svg: str = ""
    png: str = ""
    panels: tuple[AnyPanel, ...]


class Setting(Finding):
    """What was run: data and architecture."""

    key: str
    label: str
    network: str = ""
    "The kind of network."
    unlike: str = ""
    "What makes it no fair stand-in for the paper's setting; empty where it is one."
    digest: str
    "Of the data."
    facts: Plain
    notes: tuple[str, ...] = ()
    "What was chosen, or went otherwise than meant, while it ran."


class Scale(Finding):
    """How much was trained."""

    name: str
    seeds: Count
    about: str


class StudyDocument(Document):
    """What `study.json` holds."""

    schema_: Annotated[Literal["reticent.study/2"], Field(alias="schema")] = SCHEMA
    study: str
    title: str
    "What it asks."
    paper: str
    scale: Scale
    confidence: Number
    "Of every interval."
    over: str
    "What the intervals of one seed are over."
    sentence: str = ""
    "The verdicts, counted."
    claims: tuple[Claim, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    published: tuple[PublishedTable, ...] = ()
    settings: tuple[Setting, ...]
    cannot_say: tuple[str, ...] = ()
    "What does not follow from these numbers."
    environment: Environment = Environment()
    "Also `parts_found`: how many settings and seeds were measured before."
