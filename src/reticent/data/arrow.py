"""Columns of Parquet files and data frames, through Arrow: as arrays of numbers, texts, dates and times."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.errors import CorruptFileError, InputError, MissingExtraError

Named = tuple[list[str], list[NDArray[Any]]]
"""The names of columns, and their values."""


def is_frame(value: Any) -> bool:
    """Tell a table of Python: a data frame of pandas or polars, or a table of pyarrow."""
    return hasattr(value, "columns") and (hasattr(value, "__arrow_c_stream__") or hasattr(value, "iloc"))


def of_parquet(path: Path, not_features: Sequence[str] = ()) -> Named:
    """Read the columns of a Parquet file."""
    pa = _pyarrow("reading Parquet files")
    import pyarrow.parquet as pq

    try:
        return _columns(pq.read_table(path), not_features)
    except (pa.ArrowException, OSError) as error:
        raise CorruptFileError(f"{path}: cannot be read as Parquet: {error}") from None


def of_frame(frame: Any, not_features: Sequence[str] = ()) -> Named:
    """Read the columns of a data frame."""
    pa = _pyarrow("reading data frames")
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False) if hasattr(frame, "iloc") else pa.table(frame)
        return _columns(table, not_features)
    except (pa.ArrowException, TypeError) as error:
        raise InputError(f"the data frame cannot be read as columns of one kind each: {error}") from None


def _pyarrow(purpose: str) -> ModuleType:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", purpose) from None
    return pyarrow  # type: ignore[no-any-return]


def _columns(table: Any, not_features: Sequence[str]) -> Named:
    named = zip(table.column_names, map(_plain, table.columns), strict=True)
    return list(table.column_names), [
        _objects(column) if name in not_features else _array(column) for name, column in named
    ]


def _objects(column: Any) -> NDArray[Any]:
    return np.fromiter(column.to_pylist(), dtype=object, count=len(column))


def _plain(column: Any) -> Any:
    """Write out a dictionary, and round down to microseconds: Python has no nanoseconds."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", column.type.tz), safe=False)
    if types.is_time(column.type):
        return column.cast(pa.time64("us"), safe=False)
    return column.cast(pa.duration("us"), safe=False) if types.is_duration(column.type) else column


def _array(column: Any) -> NDArray[Any]:
    """Bring an Arrow column to an array of numbers, texts, dates or times; anything else to objects."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_decimal(kind):
        column = column.cast(pa.float64())
    elif types.is_time(kind):
        column = column.cast(pa.int64()).cast(pa.duration("us"))
    elif types.is_date(kind):
        column = column.cast(pa.timestamp("us"))
    elif types.is_boolean(kind) and column.null_count:
        column = column.cast(pa.int8())
    elif types.is_null(kind):
        return np.full(len(column), np.nan)
    elif types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return np.array(["" if text is None else text.strip() for text in column.to_pylist()], dtype=np.str_)
    elif not (types.is_timestamp(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        return _objects(column)
    return np.asarray(column.to_numpy())
