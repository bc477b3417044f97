"""Which groups of records are compared: the classes, and the columns that the user asks for."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent.auditing.partition import CLASS, COLUMN_CLASS, Partition, as_texts, by_class, by_column
from reticent.data.records import Records
from reticent.errors import InputError, Problems, UnknownNameError
from reticent.options import AttackConfig, AuditConfig


def of_records(records: Records, ids: NDArray[np.int64], group_by: Sequence[str]) -> tuple[Partition, ...]:
    """Group the audited records by their class, and by columns of the data set."""
    problems = Problems()
    for name in once(group_by):
        with problems.here():
            _check(records, name)
    problems.tell()
    asked = {name: np.asarray(records.columns[name])[ids] for name in group_by if name in records.columns}
    return (by_class(records.y[ids]), *_columns(asked, len(ids)))


def _check(records: Records, name: str) -> None:
    if name == records.label and name != CLASS:
        raise InputError(
            f"group_by: {name!r} is the label's column, and records are always grouped by their label: leave it out"
        )
    if name != CLASS and not records.columns:
        raise InputError(
            f"group_by: {records.name} has no columns besides its classes, so that there is no {name!r}: columns "
            "come with a table (csv, Parquet), as further arrays of an .npz file, or as Records.make(columns=...)"
        )
    if name != CLASS and name not in records.columns:
        raise UnknownNameError("column in group_by", name, records.columns)


def of_outputs(labels: NDArray[np.int64], groups: Mapping[str, ArrayLike]) -> tuple[Partition, ...]:
    """Group records whose outputs were brought."""
    return (by_class(labels), *_columns(groups, len(labels)))


def once(group_by: Sequence[str]) -> list[str]:
    """Refuse what is asked for twice."""
    twice = [name for name in group_by if list(group_by).count(name) > 1]
    if twice:
        raise InputError(f"group_by: expected each column once, got {twice[0]!r} more than once")
    return list(group_by)


def check_unit(config: AttackConfig) -> None:
    """Refuse a unit that records are grouped by as well, and a way of joining scores where there is no unit."""
    if config.unit is None and config.unit_score != "mean":
        raise InputError("unit_score: joins the scores of a unit's records: say whose each record is too")
    if config.unit in config.group_by:
        raise InputError(
            f"group_by: {config.unit!r} is the unit's column, and every unit is listed by itself: leave it out"
        )


def _columns(asked: Mapping[str, ArrayLike], records: int) -> list[Partition]:
    """Group by each column; one that has the classes' name gets another."""
    return [by_column(COLUMN_CLASS if name == CLASS else name, values, records) for name, values in asked.items()]


def beside(config: AuditConfig, records: Records, ids: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Write columns that are no features as texts, by which a record is found again; the unit's are there."""
    kept = [name for name in config.not_features if name in records.columns and name != config.unit]
    return {name: as_texts(np.asarray(records.columns[name])[ids])[0] for name in kept}
