"""Load a data set: by its name in the table, from a user's files, or from a user's Python."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent import arrays, checks, user_files, usercode
from reticent.data import conversion, sources, table
from reticent.data.datasets import DATASETS
from reticent.data.features import as_texts
from reticent.data.notices import tell
from reticent.data.official import check_folder, find
from reticent.data.records import Facts, Records
from reticent.data.sources import Arrays, Columns
from reticent.errors import CorruptFileError, DataError, InputError, UnknownNameError, about
from reticent.options import DataOptions

Ids = NDArray[np.int64]
KEPT = {"class_names", "mean", "std"}
"""What is told of the first of several parts, and holds for all."""


def load(
    name_or_path: str | Path,
    *,
    data_dir: Path | str | None = None,
    verify: bool = True,
    **columns: Any,
) -> Records:
    """Load a data set.

    Args:
        name_or_path: a name that `reticent data list` shows; or a file or a folder of one's own, as ``docs/files.md``
            says; or an import string ``module:function``.
        data_dir: where official files are looked for first; then ``RETICENT_DATA``, then the user's cache folder.
        verify: whether official files must have the published checksums and counts. Without it, files of the same form
            are taken.
        **columns: how own data are read: keys of `DataOptions`, such as ``label="outcome"``.

    Returns:
        The records.

    Raises:
        UnknownNameError: it is none of the three.
        MissingFileError: a file, or the folder `data_dir`, is not there; the message says how to come by it.
        ChecksumError: an official file has other bytes.
        CorruptFileError: a file cannot be read as what it should be.
        InputError: a user's arrays are not what they must be.
        DataError: a user's function fails.

    Example:
        >>> import reticent
        >>> reticent.load("digits").x.shape
        (1797, 64)
    """
    text = str(name_or_path)
    if text not in DATASETS or not DATASETS[text].files:  # else the message lists all folders, and the files
        check_folder(data_dir)
    asked = DataOptions(**columns)
    if text in DATASETS:
        asked.check("arrays", text)
        return _official(text, data_dir, verify=verify)
    if usercode.is_import_string(text):
        function = usercode.load(text)
        with usercode.reported(text, DataError):
            return of_python(text, function(), asked)
    path = user_files.path(text)
    if path.exists() or sources.suffix(path) or "/" in text or os.sep in text:
        return _made(path, sources.of_path(path, asked), asked)
    unknown = UnknownNameError("data set", text, DATASETS)
    raise unknown.retold(f"{unknown} (or give your own: a file, {', '.join(sources.SUFFIXES)}, or module:function)")


def _official(name: str, data_dir: Path | str | None, *, verify: bool) -> Records:
    entry = DATASETS[name]
    folder = find(entry, data_dir) if entry.files else Path()
    try:
        return entry.load(folder, verify=verify)
    except InputError as error:
        raise CorruptFileError(f"{name} in {folder}: {error}") from None


def of_python(name: str, value: Any, asked: DataOptions | None = None) -> Records:
    """Make records of what a user's Python holds, as a copy: what is done to it later changes no record."""
    asked = asked or DataOptions()
    with about(name):
        found = sources.of_object(value, asked)
    if isinstance(found, Records):
        return tell(found.take(np.arange(len(found))))
    return _made(name, found, asked)


def _made(name: Path | str, found: Columns | Arrays, asked: DataOptions) -> Records:
    if isinstance(found, Columns):
        return tell(table.records(name, found.names, found.values, asked, found.y))
    told: Facts = {"name": str(name), **found.facts}
    return tell(conversion.records(found.x, found.y, **told))


def together(
    parts: Mapping[str, Any], *, asked: DataOptions | None = None, mean: Sequence[float] = (), std: Sequence[float] = ()
) -> tuple[Records, dict[str, Ids]]:
    """Make one set of records of several parts, such as the members and the non-members of a model, a file each.

    They are put together before anything is made of them: texts become categories, and labels numbers, for all parts
    alike, and a class that one part lacks is there all the same.
    """
    asked = asked or DataOptions()
    folders = {
        name for name, value in parts.items() if isinstance(value, (str, Path)) and user_files.path(value).is_dir()
    }
    beside = asked.replace(image_size=None) if folders else asked  # what else there is has its size already
    columns: dict[str, Columns] = {}
    pairs: dict[str, Arrays] = {}
    for name, value in parts.items():
        with about(name):
            found = _part(value, asked if name in folders else beside)
            (columns if isinstance(found, Columns) else pairs)[name] = found  # type: ignore[assignment]
            if columns and pairs:
                forms = f"a table ({', '.join(sources.TABLES)})", f"arrays ({', '.join(sources.ARRAYS)}, or a folder)"
                expected, got = forms if name in pairs else forms[::-1]
                raise InputError(f"expected {expected}, as the {next(iter(parts))} are, got {got}")
    if columns and (mean or std):
        raise InputError("mean and std are for pictures, got tables: leave them out")
    scale: Any = {key: values for key, values in (("mean", mean), ("std", std)) if values}
    if columns:
        whole: Columns | Arrays = _joined_columns(columns)
    else:
        known: Any = {key: value for key, value in next(iter(pairs.values())).facts.items() if key in KEPT}
        whole = sources.joined(pairs, known | scale)
    sizes = [len(one.values[0]) for one in columns.values()] + [len(one.y) for one in pairs.values()]
    rows = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    return _made(" and ".join(parts), whole, asked), dict(zip(parts, rows, strict=True))


def _part(value: Any, asked: DataOptions) -> Columns | Arrays:
    pair = sources.pair_of(value)
    found: Columns | Arrays | Records
    if pair:
        asked.check("arrays", "arrays")
        found = Arrays(pair[0], pair[1])
    elif isinstance(value, (str, Path)):
        found = sources.of_path(user_files.path(value), asked)
    else:
        found = sources.of_object(value, asked)
    if isinstance(found, Columns):
        return found
    if isinstance(found, Records):
        found = Arrays(found.x, found.y, {"mean": found.mean, "std": found.std} if found.mean else {})
    checks.aligned("x", x=found.x, y=found.y)
    return Arrays(arrays.array(found.x, "x"), arrays.array(found.y, "y"), found.facts)


def _joined_columns(parts: Mapping[str, Columns]) -> Columns:
    first = next(iter(parts))
    header = parts[first].names
    for name, part in parts.items():
        odd = sorted(set(header) ^ set(part.names))
        if odd or len(header) != len(part.names):
            raise InputError(f"{name}: expected the columns of the {first}, got others: {', '.join(odd[:5])}")
    found = [[part.values[part.names.index(name)] for part in parts.values()] for name in header]
    return Columns(header, [np.concatenate(_of_one_kind(columns)) for columns in found])


def _of_one_kind(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Bring a column to texts where it is read as something else in another part."""
    kinds = {"number" if column.dtype.kind in "biuf" else column.dtype.kind for column in columns}
    return columns if len(kinds) == 1 or "O" in kinds else [as_texts(column) for column in columns]
