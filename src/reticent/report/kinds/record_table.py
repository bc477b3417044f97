"""The part of a page on single records: the most exposed in pictures, and all in a table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from numpy.typing import NDArray

from reticent.findings.records import PICTURED, RecordRow, RecordTable, UnitRow, known
from reticent.report import blocks as b
from reticent.report.cells import NOTHING
from reticent.report.pictures import audit as pictures
from reticent.report.png import data_uri
from reticent.rounding import count, fraction, interval, number, p_value
from reticent.say.grammar import short
from reticent.say.records import COLUMNS

ROWS = 2000
"""Most records that a page lists; the CSV file has all of them."""
FILTERED = 4
"""Most columns of groups that can be filtered by their values."""


class _Column(NamedTuple):
    """One measure: how it is written, and what stands below it."""

    key: str
    title: str
    form: Literal["count", "p"] | int
    error: tuple[str, ...] = ()
    always: bool = True
    only: b.Media = b.EVERYWHERE

    @property
    def meaning(self) -> str:
        """What it says."""
        below = {0: "", 1: " Below it its standard error.", 2: " Below it its interval."}[len(self.error)]
        return f"{COLUMNS[self.key]}{below}"


MEASURES = (
    _Column("exposure", "Exposure", 2, ("exposure_error",)),
    _Column("distance", "Distance", 2, always=False),
    _Column("distance_p_corrected", "p of the distance, corrected", "p", always=False),
    _Column("probability", "Probability of membership", 3, ("probability_low", "probability_high"), always=False),
    _Column("memorisation", "Memorisation", 3, ("memorisation_error",)),
    _Column("memorisation_soft", "Memorisation, soft", 3, ("memorisation_soft_error",), always=False, only=b.DOCUMENTS),
    _Column("margin_in", "Margin with it", 2),
    _Column("margin_out", "Margin without it", 2),
    _Column("models_in", "Models with it", "count", only=b.DOCUMENTS),
    _Column("models_out", "Models without it", "count", only=b.DOCUMENTS),
)
"""The columns after record, class and groups; one that is not there always needs a listed record with a value."""


class Labelled(Protocol):
    """A line of a list of records."""

    @property
    def record(self) -> int:
        """Its id in the data set."""

    @property
    def label(self) -> int:
        """Its true label."""

    @property
    def label_name(self) -> str:
        """The label's name, or the number again."""


Row = TypeVar("Row", bound=Labelled)


def label(row: Labelled) -> str:
    """Name a record's class."""
    return f"class {row.label}" if row.label_name in {"", str(row.label)} else row.label_name


def gallery(rows: Sequence[RecordRow], thumbnails: Mapping[int, NDArray[Any]]) -> tuple[b.Block, ...]:
    """Show the most exposed records that are pictures."""
    return pictured("The most exposed", rows[:ROWS], thumbnails, lambda row: f"exposure {number(row.exposure, 2)}")


def pictured(
    title: str,
    rows: Sequence[Row],
    thumbnails: Mapping[int, NDArray[Any]],
    told: Callable[[Row], str],
) -> tuple[b.Block, ...]:
    """Show the first records that are pictures, with a number below each."""
    made = tuple(
        b.Picture(
            data_uri(thumbnails[row.record]),
            f"Record {row.record}, labelled {short(label(row), 40)}",
            label(row),
            (told(row), f"record {row.record}"),
        )
        for row in rows
        if row.record in thumbnails
    )
    return (b.Heading(title), b.Gallery(made[:PICTURED])) if made else ()


def listing(
    rows: Sequence[RecordRow], thumbnails: Mapping[int, NDArray[Any]], confidence: float
) -> tuple[b.Block, ...]:
    """Show the most exposed records: in pictures, how exposed all are, and one by one.

    What leaks beyond doubt, at the `confidence` of the audit, stands out.
    """
    return (
        *gallery(rows, thumbnails),
        *distribution(rows),
        b.Heading("Record by record", "record-by-record"),
        b.Prose(extent(rows)),
        table(rows, confidence),
        legend(rows),
    )


def distribution(rows: Sequence[RecordRow]) -> tuple[b.Block, ...]:
    """Draw the exposures of all records, beside what the columns of the table mean."""
    values = known(rows, "exposure")
    if not len(values):
        return ()
    meanings = tuple((one.title, one.meaning) for one in _shown(rows[:ROWS]) if one.form != "count")
    caption = "Exposure of every record. A long right tail means that a few records carry most of the leak."
    figure = b.Figure(partial(pictures.exposures, values.tolist()), caption)
    return (b.Figures((figure,), beside=(b.Terms(meanings),)),)


def extent(rows: Sequence[RecordRow]) -> b.Text:
    """Say which records the table lists."""
    listed, total = len(rows[:ROWS]), len(rows)
    if listed == total:
        return f"All {count(total)} audited records, the most exposed first. Of others nothing is known."
    every: b.Text = (b.Code("records.csv"), " has all of them.")
    return (f"The {count(listed)} most exposed of {count(total)} records; ", every)


def legend(rows: Sequence[RecordRow]) -> b.Folded:
    """Explain every column of ``records.csv`` in which some record has a value."""
    told = [key for key in COLUMNS if len(known(rows, key))]
    groups = {f"group_{by}": f"The record's group by {short(by)}." for by in (rows[0].groups if rows else ())}
    names = rows.beside if isinstance(rows, RecordTable) else ()
    beside = {f"column_{name}": f"The record's {short(name)}, which is no feature." for name in names}
    items = {key: COLUMNS[key] for key in told} | groups | beside
    return b.Folded(("What the columns of ", b.Code("records.csv"), " say"), (b.Terms(tuple(items.items())),))


def table(rows: Sequence[RecordRow], confidence: float) -> b.Table:
    """List the most exposed records."""
    listed = rows[:ROWS]
    measures = _shown(listed)
    groups = list(rows[0].groups) if rows else []
    heads = ["Record", "Class", *groups]
    first = len(heads)
    return b.table(
        "Records, the most exposed first",
        (*b.words(*heads), *map(_head, measures)),
        (_row(row, measures, groups, 1 - confidence) for row in listed),
        key="record-table",
        sortable=True,
        sorted=first,
        find="record or text",
        choices=tuple(range(1, min(first, 2 + FILTERED))),
        least=first,
        total=len(rows),
        stacks=False,
    )


def of_units(units: Sequence[UnitRow], column: str, confidence: float) -> tuple[b.Block, ...]:
    """List the most exposed units, by their value in a column, each measured with all its records."""
    if not units:
        return ()
    listed, name = units[:ROWS], short(column, 40)
    measures = _shown([one.measured for one in listed])
    groups = list(units[0].measured.groups)
    first = 3 + len(groups)
    lines: Iterable[b.Line] = (
        (
            short(one.unit, 40),
            count(one.records),
            *_named([one.measured.label_name, *(one.measured.groups[by] for by in groups)]),
            *(_cell(getattr(one.measured, of.key), of, one.measured, 1 - confidence) for of in measures),
        )
        for one in listed
    )
    told = f"All {count(len(units))}" if len(listed) == len(units) else f"The {count(len(listed))} most exposed"
    made = b.table(
        f"By {name}, the most exposed first",
        (*b.words(name), "Records", *b.words("Class", *groups), *map(_head, measures)),
        lines,
        key="unit-table",
        sortable=True,
        sorted=first,
        find=name,
        choices=tuple(range(2, min(first, 3 + FILTERED))),
        least=first,
        total=len(units),
        stacks=False,
    )
    said = f"{told}, each with all its records, whose margins are averaged. The columns say what they say of a record. "
    every: b.Text = (b.Code("units.csv"), " has all.")
    return b.Heading(f"By {name}", "by-unit"), b.Prose((said, every)), made


def _shown(listed: Sequence[RecordRow]) -> list[_Column]:
    return [one for one in MEASURES if one.always or any(getattr(row, one.key) is not None for row in listed)]


def _row(row: RecordRow, measures: Sequence[_Column], groups: Sequence[str], alpha: float) -> b.Line:
    names = _named([str(row.record), label(row), *(row.groups[by] for by in groups)])
    return *names, *(_cell(getattr(row, one.key), one, row, alpha) for one in measures)


def _named(texts: Sequence[str]) -> list[str]:
    return [short(text, 40) or "(empty)" for text in texts]


def _head(column: _Column) -> b.Column:
    return b.Column(column.title, only=column.only)


def _cell(value: float | None, column: _Column, row: RecordRow, alpha: float) -> b.Cell:
    """Write a value and, where there is one, its error or interval."""
    if value is None:
        return NOTHING
    if column.form == "count":
        return b.Cell(count(value))
    if column.form == "p":
        return b.Cell(p_value(value, alpha), tone="bad" if value <= alpha else "usual")
    errors = [error for name in column.error if (error := getattr(row, name)) is not None]
    below = f"±\N{NO-BREAK SPACE}{number(errors[0], column.form)}" if len(errors) == 1 else ""
    if len(errors) > 1:
        return b.Cell(fraction(value, column.form), below=(interval(errors, partial(fraction, digits=column.form)),))
    return b.Cell(number(value, column.form), below=(below,) if below else ())
