"""Tables of a user, one record a row: which column is the label, which are features, and what is refused."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.data import conversion
from reticent.data.delimited import Source, header_hint
from reticent.data.features import Feature, feature
from reticent.data.label_column import classes, doubt
from reticent.data.options import DataOptions
from reticent.data.records import Facts, Reading, Records
from reticent.errors import ColumnsError, CorruptFileError, InputError, UnknownNameError, nearest

LABELS = ("label", "labels", "y", "target", "class")
"""Names that tell the label's column, where there is just one of them; else the user says which it is."""

MOST_COLUMNS = 200
"""A wider table's columns are features only; a narrower one's are kept as they are, too, to group records by."""

WAYS = {
    "--not-feature": "leaves a column out",
    "--rare": "COLUMN=N joins texts of fewer than N records",
    "--hash": "COLUMN=N puts texts into N features",
    "--missing": "indicator fills gaps by the median and says where",
}
"""What the flags do that an error proposes."""


def records(
    path: Path | str, header: Sequence[str], columns: Sequence[NDArray[Any]], asked: DataOptions, y: Any = None
) -> Records:
    """Make records of the columns of a table."""
    twice = [(name, count) for name, count in Counter(header).items() if count > 1]
    if twice:
        raise CorruptFileError(
            f"{path}: {twice[0][1]} columns are called {twice[0][0]!r}: rename them, or leave out one"
            f"{header_hint(header)}"
        )
    if y is not None and asked.label is not None:
        raise InputError(f"{path}: label: the labels stand beside the columns: leave it out, or give the columns alone")
    label = _label(path, header, asked.label) if y is None else None
    _check_names(path, header, label, asked)
    source, table, names = Source(path), dict(zip(header, columns, strict=True)), tuple[str, ...]()
    seen = [name for name in header if name != label and name not in asked.not_features]
    if not seen:
        beside = "" if label is None else f" beside the label {label!r}"
        raise CorruptFileError(f"{path}: expected columns{beside}, got no feature")
    if label is not None:
        y, names = classes(source, label, table[label])
    features = {name: feature(source, name, table[name], asked) for name in seen}
    readings = tuple(
        features[name].reading if name in features else _reading(name, column, label=name == label)
        for name, column in table.items()
    )
    _check_features(path, list(features.values()), readings)
    wide = len(header) > MOST_COLUMNS
    kept = {n: column for n, column in table.items() if n != label and (n in asked.not_features or not wide)}
    x = np.concatenate([one.x for one in features.values() if one.x is not None], axis=1)
    facts: Facts = {"name": str(path), "columns": kept, "readings": readings, "label": label or ""}
    if names:
        facts["class_names"] = names
    return conversion.records(x, y, **facts)


def _label(path: Path | str, header: Sequence[str], asked: str | None) -> str:
    """Find the label's column: the one that is named, or the only one of a telling name."""
    if asked is not None and asked not in header:
        raise InputError(f"{path}: no column {asked!r}: {nearest(asked, header)}{header_hint(header)}")
    telling = [name for name in header if name.lower() in LABELS] if asked is None else [asked]
    if len(telling) == 1:
        return telling[0]
    found = f"both {' and '.join(telling)}" if telling else ", ".join([*header[:8], *["..."] * (len(header) > 8)])
    raise InputError(
        f"{path}: which column is the label? Expected one named {', '.join(LABELS)}, got {found}: give --label COLUMN"
        f"{header_hint(header)}"
    )


def _check_names(path: Path | str, header: Sequence[str], label: str | None, asked: DataOptions) -> None:
    """Refuse options of columns that are not there, of the label's, and of one that is no feature."""
    named = {option: getattr(asked, option) for option in ("not_features", "rare", "hash")}
    for option, names in named.items():
        for name in names:
            if name not in header:
                raise UnknownNameError(f"column in {option} of {path}", name, header)
            if name == label:
                raise InputError(f"{path}: {option}: {name!r} is the label's column, which is no feature: leave it out")
            others = [other for other, those in named.items() if name in those]
            if len(others) > 1:
                raise InputError(
                    f"{path}: column {name!r} is in {' and in '.join(others)}: leave it out of all but one"
                )


def _reading(name: str, column: NDArray[Any], *, label: bool) -> Reading:
    """Count what a column holds that is no feature."""
    gaps = sum(value is None or value != value or value == "" for value in column.tolist())  # noqa: PLR0124  # NaN
    if not label:
        return Reading(name, "not a feature", None, gaps, 0)
    note = doubt(column)
    return Reading(name, "label", len(np.unique(column)), gaps, 0, note, bool(note))


def _check_features(path: Path | str, features: Sequence[Feature], readings: tuple[Reading, ...]) -> None:
    """Refuse all columns at once that cannot be features as they are."""
    bad = [one for one in features if one.problem]
    if not bad:
        return
    flags = " ".join(dict.fromkeys(one.remedy for one in bad))
    ways = "; ".join(f"{way} {what}" for way, what in WAYS.items() if way in flags.split())
    if len(bad) == 1:
        told = f"column {bad[0].reading.column!r} {bad[0].problem}: mend it"
    else:
        lines = "".join(f"\n  {one.reading.column!r} {one.problem}" for one in bad)
        told = f"{len(bad)} columns cannot be features as they are:{lines}\nmend them"
    raise ColumnsError(f"{path}: {told}, or add {flags} ({ways})", readings)
