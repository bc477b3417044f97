"""One set of records that comes in several parts, such as the members and the non-members of a model, a file each.

The parts are put together before anything is made of them: texts become categories, and labels numbers, for all parts
alike, and a class that one part lacks is there all the same.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent import arrays, checks, opening
from reticent.data import arrow, given, imported, own, table
from reticent.data.features import as_texts
from reticent.data.forms import ARRAYS, TABLES, form, refused
from reticent.data.notices import tell
from reticent.data.records import Records
from reticent.errors import CorruptFileError, InputError, MissingFileError, NonFiniteError, ShapeError
from reticent.options import DataOptions

Ids = NDArray[np.int64]
KINDS = {"b": "booleans", "u": "whole numbers", "i": "whole numbers", "f": "numbers", "U": "texts", "O": "objects"}


def together(
    parts: Mapping[str, Any], *, asked: DataOptions | None = None, **facts: Any
) -> tuple[Records, dict[str, Ids]]:
    """Make one set of records of several parts."""
    if not parts:
        raise InputError("expected at least one part, got none")
    asked = asked or DataOptions()
    tables = {name: _is_table(value) for name, value in parts.items()}
    first = next(iter(parts))
    for name, is_table in tables.items():
        if is_table != tables[first]:
            raise InputError(f"{name}: expected {_form(tables[first])}, as the {first} are, got {_form(is_table)}")
    if tables[first]:
        read = {name: _columns(name, Path(value), asked.not_features) for name, value in parts.items()}
        records, sizes = _of_tables(first, read, asked)
        if facts.get("mean") or facts.get("std"):
            raise InputError("mean and std are for pictures, got tables: leave them out")
        return tell(records), _rows(sizes)
    folders = any(isinstance(value, (str, Path)) and opening.path(value).is_dir() for value in parts.values())
    asked.check("pictures" if folders else "arrays", "folders of pictures" if folders else "arrays")
    records, rows = _of_arrays(
        first, {name: _arrays(name, value, asked.image_size) for name, value in parts.items()}, facts
    )
    return tell(records), rows


def _is_table(value: Any) -> bool:
    return isinstance(value, (str, Path)) and form(value) in TABLES


def _form(is_table: bool) -> str:
    return f"a table ({', '.join(TABLES)})" if is_table else f"arrays ({', '.join(ARRAYS)}, or a folder)"


def _rows(sizes: Mapping[str, int]) -> dict[str, Ids]:
    ends = np.cumsum(list(sizes.values()))
    return {name: np.arange(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}


def _columns(name: str, path: Path, not_features: Sequence[str]) -> tuple[list[str], list[NDArray[Any]]]:
    file = _there(name, path)
    try:
        opening.check(file)
        return arrow.parquet_columns(file, not_features) if form(file) == ".parquet" else table.csv_columns(file)
    except CorruptFileError as error:
        raise error.prefixed(f"{name}: ") from None
    except OSError as error:
        raise CorruptFileError(f"{name}: {file}: cannot be read: {error.strerror or error}") from None


def _there(name: str, path: Path) -> Path:
    file = opening.path(path)
    if not file.exists():
        raise MissingFileError(f"{name}: no file {str(path)!r} (looked in {Path.cwd()})")
    return file


def _of_tables(
    first: str,
    read: Mapping[str, tuple[list[str], list[NDArray[Any]]]],
    asked: DataOptions,
) -> tuple[Records, dict[str, int]]:
    header = read[first][0]
    for name, (other, _) in read.items():
        if sorted(other) != sorted(header):
            odd = sorted(set(header) ^ set(other))
            raise InputError(f"{name}: expected the columns of the {first}, got others: {', '.join(odd[:5])}")
    found = {name: [columns[other.index(key)] for key in header] for name, (other, columns) in read.items()}
    joined = [np.concatenate(_alike(list(columns))) for columns in zip(*found.values(), strict=True)]
    records = table.of_columns(" and ".join(read), header, joined, asked)
    return records, {name: len(columns[0]) for name, columns in found.items()}


def _alike(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Bring a column to texts where it is read as something else in another part."""
    kinds = {"number" if column.dtype.kind in "biuf" else column.dtype.kind for column in columns}
    return columns if len(kinds) == 1 or "O" in kinds else [as_texts(column) for column in columns]


def _arrays(name: str, value: Any, image_size: int | None) -> tuple[NDArray[Any], NDArray[Any], dict[str, Any]]:
    if isinstance(value, (str, Path)):
        file = _there(name, Path(value))
        if not file.is_dir() and form(file) not in ARRAYS:
            raise InputError(f"{name}: {file}: {refused(file)}")
        try:
            return own.arrays(file, image_size)
        except OSError as error:
            raise CorruptFileError(f"{name}: {file}: cannot be read: {error.strerror or error}") from None
    if isinstance(value, Mapping) and {"x", "y"} <= value.keys():
        value = value["x"], value["y"]
    if isinstance(value, (tuple, list)) and len(value) == 2:
        try:
            checks.aligned("x", x=value[0], y=value[1])
        except InputError as error:
            raise error.prefixed(f"{name}: ") from None
        x, y = (arrays.array(one, f"{name}: {what}") for one, what in zip(value, "xy", strict=True))
        return x, y, {}
    records = imported.records(name, value)
    return records.x, records.y, {"mean": records.mean, "std": records.std} if records.mean else {}


def _of_arrays(
    first: str, read: Mapping[str, tuple[NDArray[Any], NDArray[Any], dict[str, Any]]], facts: dict[str, Any]
) -> tuple[Records, dict[str, Ids]]:
    x, y, known = read[first]
    for name, (features, labels, _) in read.items():
        if features.ndim == 0 or labels.ndim == 0 or len(features) != len(labels) or len(labels) == 0:
            raise ShapeError(
                f"{name}: expected at least one record, and as many labels as records, got x of shape {features.shape} "
                f"and y of shape {labels.shape}"
            )
        for what, one, other in (("x", x, features), ("y", y, labels)):
            if one.shape[1:] != other.shape[1:]:
                raise ShapeError(
                    f"{name}: {what}: expected records of shape {one.shape[1:]}, as the {first} have, got "
                    f"{other.shape[1:]}"
                )
            wanted, got = _kind(one, what), _kind(other, what)
            if wanted != got:
                raise InputError(f"{name}: {what}: expected {wanted}, as the {first} have, got {got} ({other.dtype})")
        checks.complete(features, f"{name}: x")
        checks.complete(labels, f"{name}: y")
        _finite(name, features)
    kept = {key: known[key] for key in ("class_names", "mean", "std") if key in known}
    records = given.records(
        np.concatenate([one for one, _, _ in read.values()]),
        np.concatenate([two for _, two, _ in read.values()]),
        name=" and ".join(read),
        **(kept | facts),
    )
    return records, _rows({name: len(labels) for name, (_, labels, _) in read.items()})


def _kind(values: NDArray[Any], what: str) -> str:
    """Say what an array holds; labels may be any kind of numbers, since they are only told apart."""
    if what == "y":
        return "numbers" if values.dtype.kind in "buif" else "texts"
    return "bytes from 0 to 255" if values.dtype == np.uint8 else KINDS.get(values.dtype.kind, str(values.dtype))


def _finite(name: str, features: NDArray[Any]) -> None:
    """Find NaN and infinity while the part that holds them is known."""
    if features.dtype.kind != "f":
        return
    bad = np.flatnonzero(~np.isfinite(features.reshape(len(features), -1)).all(axis=1))
    if len(bad):
        raise NonFiniteError(
            f"{name}: x holds NaN or infinity in {len(bad)} of {len(features)} records, the first is record {bad[0]}: "
            "expected finite numbers"
        )
