"""What is known of each audited record: a line of ``records.csv``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

PICTURED = 24
"""How many of the most exposed records a page shows as pictures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """One record, as `auditing` measures it; None where that cannot be measured.

    What each column says stands in `reticent.say.records.COLUMNS`; `groups` are those that it is in, by what they group
    by (``group_...`` in the file).
    """

    record: int
    label: int
    label_name: str
    exposure: float | None = None
    memorisation: float | None = None
    margin_in: float | None = None
    margin_out: float | None = None
    models_in: int
    models_out: int
    margin_std_in: float | None = None
    margin_std_out: float | None = None
    exposure_error: float | None = None
    distance: float | None = None
    distance_p: float | None = None
    distance_p_corrected: float | None = None
    memorisation_error: float | None = None
    memorisation_soft: float | None = None
    memorisation_soft_error: float | None = None
    probability: float | None = None
    probability_low: float | None = None
    probability_high: float | None = None
    found_at_own_rate: float | None = None
    found_low: float | None = None
    found_high: float | None = None
    risk_score: float | None = None
    groups: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "RecordRow":
        """Take what `to_json` gave, or a later version, whose other keys are ignored."""
        groups = {key.removeprefix(GROUP): value for key, value in plain.items() if key.startswith(GROUP)}
        return cls(**{name: plain[name] for name in COLUMNS if name in plain}, groups=groups)

    def to_json(self) -> dict[str, Any]:
        """Return plain values under the names, and in the order, of ``records.csv``."""
        return {name: getattr(self, name) for name in COLUMNS} | {f"{GROUP}{by}": of for by, of in self.groups.items()}


GROUP = "group_"
BESIDE = "column_"
COLUMNS = tuple(one.name for one in fields(RecordRow) if one.name != "groups")
"""The columns of ``records.csv`` before those of the groups."""


BLOCK = 2**13
"""Rows that are made at once."""


OF_UNITS = (
    "exposure",
    "exposure_error",
    "distance",
    "distance_p",
    "distance_p_corrected",
    "probability",
    "probability_low",
    "probability_high",
    "found_at_own_rate",
    "found_low",
    "found_high",
    "memorisation",
    "memorisation_error",
    "margin_in",
    "margin_out",
    "models_in",
    "models_out",
    "label_name",
)
"""The columns of ``records.csv`` that ``units.csv`` has too, between the number of a unit's records and its groups."""


@dataclass(frozen=True, slots=True)
class UnitRow:
    """One unit of several records, such as a person, measured as a record is: a line of ``units.csv``.

    Its margin is the mean of its records', its class and its groups are those of all of them; `measured.record` is its
    place among the units.
    """

    unit: str
    records: int
    measured: RecordRow

    def to_json(self) -> dict[str, Any]:
        """Return plain values under the names, and in the order, of ``units.csv``."""
        own = {name: getattr(self.measured, name) for name in OF_UNITS}
        groups = {f"{GROUP}{by}": of for by, of in self.measured.groups.items()}
        return {"unit": self.unit, "records": self.records, **own, **groups}


class RecordTable(Sequence[RecordRow]):
    """The rows of all records, the most exposed first, kept by column: a million take the room of their numbers.

    Args:
        columns: by name, of N records ``(N,)``; masked where a number is not known.
        groups: by what records are grouped, the groups' names and each record's code.
        names: of the classes; without them a class is named by its number.
        beside: texts ``(N,)`` that are in the file alone, by name: what tells records apart elsewhere (``column_...``).
    """

    def __init__(
        self,
        columns: Mapping[str, NDArray[Any]],
        groups: Mapping[str, tuple[Sequence[str], NDArray[np.int64]]],
        names: Sequence[str] = (),
        beside: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        self._columns, self._groups, self._names, self._beside = columns, groups, names, dict(beside or {})
        exposure = np.ma.asarray(columns["exposure"])
        self._order = np.lexsort((columns["record"], -exposure.filled(0.0), np.ma.getmaskarray(exposure)))

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[RecordRow]:
        """Make all rows, some at a time."""
        for start in range(0, len(self), BLOCK):
            yield from self[start : start + BLOCK]

    @overload
    def __getitem__(self, at: int) -> RecordRow: ...

    @overload
    def __getitem__(self, at: slice) -> list[RecordRow]: ...

    def __getitem__(self, at: int | slice) -> RecordRow | list[RecordRow]:
        """Make one row, or some."""
        here = self._order[at]
        rows = [
            RecordRow(
                **dict(zip(COLUMNS, line[: len(COLUMNS)], strict=True)),
                groups=dict(zip(self._groups, line[len(COLUMNS) :], strict=True)),
            )
            for line in self._lines(np.atleast_1d(here))
        ]
        return rows if isinstance(at, slice) else rows[0]

    @property
    def header(self) -> tuple[str, ...]:
        """Names of all columns, in their order."""
        return (*COLUMNS, *(f"{GROUP}{by}" for by in self._groups), *(f"{BESIDE}{name}" for name in self._beside))

    @property
    def beside(self) -> tuple[str, ...]:
        """Names of the columns that are in the file alone."""
        return tuple(self._beside)

    def known(self, key: str) -> NDArray[Any]:
        """Return the values of a column that are known, in the order of the rows."""
        if key not in self._columns:
            return np.array([])
        return np.ma.asarray(self._columns[key])[self._order].compressed()

    def columns(self) -> Iterator[tuple[str, NDArray[Any] | None]]:
        """Give all columns in the order of `header` and of the rows; None where nothing of one is known."""
        for key in COLUMNS:
            if key == "label_name":
                labels = self._columns["label"][self._order].tolist()
                yield key, np.array([self._names[one] if len(self._names) else str(one) for one in labels], object)
            else:
                yield key, self._columns[key][self._order] if key in self._columns else None
        for by, (names, codes) in self._groups.items():
            yield f"{GROUP}{by}", np.array(names, object)[codes[self._order]]
        for name, texts in self._beside.items():
            yield f"{BESIDE}{name}", texts[self._order]

    def blocks(self, size: int = BLOCK) -> Iterator[list[tuple[Any, ...]]]:
        """Give all rows as plain values, in the order of `header`, some at a time."""
        for start in range(0, len(self), size):
            ids = self._order[start : start + size]
            beside = zip(*(texts[ids].tolist() for texts in self._beside.values()), strict=True)
            lines = self._lines(ids)
            yield [(*a, *b) for a, b in zip(lines, beside, strict=True)] if self._beside else list(lines)

    def _lines(self, ids: NDArray[np.int64]) -> Iterator[tuple[Any, ...]]:
        """Give the rows of some records as plain values."""
        nothing = [None] * len(ids)
        values: dict[str, list[Any]] = {
            key: self._columns[key][ids].tolist() if key in self._columns else nothing for key in COLUMNS
        }
        labels = values["label"]
        values["label_name"] = [self._names[one] if len(self._names) else str(one) for one in labels]
        grouped = ([names[code] for code in codes[ids].tolist()] for names, codes in self._groups.values())
        return zip(*values.values(), *grouped, strict=True)


def known(rows: Sequence[RecordRow], key: str) -> NDArray[Any]:
    """Return the values of a column that are known, in the order of the rows."""
    if isinstance(rows, RecordTable):
        return rows.known(key)
    return np.array([value for row in rows if (value := getattr(row, key)) is not None])
