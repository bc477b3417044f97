"""From a column of the data to groups: texts as they are, ranges of numbers, and one group for what is missing."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent import arrays
from reticent.arrays import Bools, Floats, Ints
from reticent.errors import InputError, ShapeError

CLASS = "class"
"""What records are always grouped by."""
COLUMN_CLASS = "column class"
"""What a column of the user's is called that has the same name."""
MOST_NUMBERS = 20
"""A column of more different numbers is cut into ranges that hold a quarter of the records each."""
MOST_GROUPS = 200
"""Groups that a column may make."""
MISSING = "(missing)"
"""The group of the records that have no value."""
UNKNOWN = frozenset({"nan", "NaT", "<NA>"})
"""How missing numbers, times and pandas' values print; texts may say so and mean it."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Which group each record belongs to.

    Attributes:
        by: what the records are grouped by: "class", or a column's name.
        names: of the G groups, all different.
        codes: ``int64 (N,)`` from 0 to G - 1.
        cut: they are ranges of a column's numbers, cut at the quartiles.
    """

    by: str
    names: tuple[str, ...]
    codes: Ints
    cut: bool = False

    def among(self, ids: Ints) -> "Partition":
        """Keep some of the records, and the groups that have one."""
        kept, codes = np.unique(self.codes[ids], return_inverse=True)
        return replace(self, names=tuple(self.names[code] for code in kept), codes=codes.astype(np.int64))

    def values(self) -> list[str]:
        """Return each record's group."""
        return [self.names[code] for code in self.codes]


def by_class(labels: Ints) -> Partition:
    """Group records by their class; classes without a record are left out."""
    present, codes = np.unique(labels, return_inverse=True)
    return Partition(CLASS, tuple(str(label) for label in present), codes.astype(np.int64))


def by_column(by: str, values: Any, records: int) -> Partition:
    """Group records by a column.

    Numbers of more than `MOST_NUMBERS` different values (also as texts) are cut at the quartiles of these records; a
    range is named by the smallest and the largest value in it. None, NaN and empty texts are a group of their own. More
    than `MOST_GROUPS` groups are refused.
    """
    column = arrays.array(values, f"groups: {by!r}")
    if column.shape != (records,):
        raise ShapeError(f"groups: {by!r}: expected one value a record, {(records,)}, got shape {column.shape}")
    texts, missing = as_texts(column)
    numbers = _numbers(column, texts, missing)
    names = np.full(records, MISSING, dtype=object)
    if numbers is not None:
        order, names[~missing] = _ranges(numbers)
    else:
        names[~missing] = texts[~missing]
        order = _sorted(column, texts, missing)
    groups = list(dict.fromkeys([*order, MISSING] if missing.any() else order))
    if len(groups) > MOST_GROUPS:
        raise InputError(
            f"group_by: {by!r} has {len(groups):,} different values, at most {MOST_GROUPS} make groups that can be "
            "compared: give a coarser column, such as a region in place of a place"
        )
    place = {name: code for code, name in enumerate(groups)}
    codes = np.array([place[name] for name in names], dtype=np.int64)
    return Partition(by, tuple(groups), codes, cut=numbers is not None)


def as_texts(column: NDArray[Any]) -> tuple[NDArray[Any], Bools]:
    """Write every value as a text, and say which are missing."""
    if column.dtype.kind == "S":
        column = np.char.decode(column, "utf-8", "replace")
    texts = np.array([_text(value) for value in column], dtype=object)
    return texts, np.array([text == "" for text in texts], dtype=np.bool_)


def _text(value: Any) -> str:
    text = str(value).strip()
    if isinstance(value, str):
        return text
    if value is None or text in UNKNOWN:
        return ""
    return text.removesuffix(".0") if isinstance(value, (float, np.floating)) else text


def _numbers(column: NDArray[Any], texts: NDArray[Any], missing: Bools) -> Floats | None:
    """Return the values that are not missing as numbers, if they are numbers and too many to be groups."""
    known = texts[~missing]
    if len(set(known)) <= MOST_NUMBERS or column.dtype.kind in "bmM":
        return None
    try:
        numbers = np.array([float(text) for text in known])
    except ValueError:
        return None
    return None if np.isnan(numbers).any() else numbers


def _ranges(numbers: Floats) -> tuple[list[str], NDArray[Any]]:
    """Cut numbers at their quartiles; return the names in order, and each number's."""
    cuts = np.unique(np.quantile(numbers, [0.25, 0.5, 0.75], method="inverted_cdf"))
    parts = np.searchsorted(cuts, numbers, side="left")
    ends = [(numbers[parts == part].min(), numbers[parts == part].max()) for part in np.unique(parts)]
    for digits in (4, 8, 17):
        names = [_span(low, high, digits) for low, high in ends]
        if len(set(names)) == len(names):
            break
    chosen = np.array(names, dtype=object)[np.searchsorted(np.unique(parts), parts)]
    return names, chosen


def _span(low: float, high: float, digits: int) -> str:
    first, last = _number(low, digits), _number(high, digits)
    return first if low == high else f"{first} to {last}"


def _number(value: float, digits: int) -> str:
    whole = value.is_integer() and abs(value) < 1e15
    return f"{value:.0f}" if whole else f"{value:.{digits}g}"


def _sorted(column: NDArray[Any], texts: NDArray[Any], missing: Bools) -> list[str]:
    """Order the texts, numbers by their size."""
    known = set(texts[~missing].tolist())
    if column.dtype.kind in "iuf":
        return sorted(known, key=float)
    return sorted(known)
