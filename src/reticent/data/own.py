"""Files of a user: npz, npy, csv, Parquet."""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.data import given, table
from reticent.data.asked import TableOptions
from reticent.data.reading import tell
from reticent.data.records import Records
from reticent.errors import CorruptFileError, InputError, MissingFileError

PAIRS = (("x", "y"), ("features", "labels"), ("X", "Y"), ("X", "y"), ("images", "labels"))
"""Names of the two arrays in an npz file."""

SUFFIXES = (".npz", ".npy", ".csv", ".parquet")

NO_ARRAYS = (
    "it is cut off or no NumPy file, or holds Python objects (a pickle), which reticent never loads: save plain arrays "
    "of numbers or of fixed-length texts with numpy.savez"
)
"""What is said in place of NumPy's advice to load a pickle all the same."""


def read(path: Path, asked: TableOptions) -> Records:
    """Read a file, or a folder with ``x.npy`` and ``y.npy``.

    Args:
        path: a ``.npz`` file with arrays x and y, or features and labels, and if wanted further ones with one value a
            record, to group by; an ``x.npy`` with ``y.npy`` beside it, or
            their folder; a ``.csv`` file with a header; a ``.parquet`` file.
        asked: for csv and Parquet, how to read the columns.

    Returns:
        The records.

    Raises:
        MissingFileError: there is no such file.
        CorruptFileError: it cannot be read.
        InputError: it has another suffix, or its arrays have other names.
    """
    if not path.exists():
        raise MissingFileError(f"no file {str(path)!r} (looked in {Path.cwd()})")
    try:
        if path.is_dir() or path.suffix in {".npy", ".npz"}:
            x, y, facts = arrays(path)
            return tell(given.records(x, y, name=str(path), **facts))
        if path.suffix == ".csv":
            return tell(table.read_csv(path, asked))
        if path.suffix == ".parquet":
            return tell(table.read_parquet(path, asked))
    except OSError as error:
        raise CorruptFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    raise InputError(f"{path}: expected a file of type {', '.join(SUFFIXES)}, got {path.suffix or 'no suffix'}")


def arrays(path: Path) -> tuple[NDArray[Any], NDArray[Any], dict[str, Any]]:
    """Read the arrays of a NumPy file, or of a folder with ``x.npy`` and ``y.npy``.

    Args:
        path: a ``.npz`` or ``.npy`` file, or a folder.

    Returns:
        Features, labels, and further facts for `Records.make`.

    Raises:
        MissingFileError: a file is not there.
        CorruptFileError: it cannot be read.
        InputError: its arrays have other names.
    """
    return _npz(path) if path.suffix == ".npz" and not path.is_dir() else _npy(path)


def _npy(path: Path) -> tuple[NDArray[Any], NDArray[Any], dict[str, Any]]:
    folder = path if path.is_dir() else path.parent
    x, y = folder / "x.npy" if path.is_dir() else path, folder / "y.npy"
    if x == y:
        raise InputError(f"{path}: holds the labels: give the file of the features, or the folder of x.npy and y.npy")
    for file in (x, y):
        if not file.is_file():
            raise MissingFileError(f"{path}: expected x.npy and y.npy in one folder, but there is no {file}")
    return _array(x), _array(y), {}


def _array(path: Path) -> NDArray[Any]:
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, EOFError) as error:
        raise CorruptFileError(_broken(path, error)) from None


def _npz(path: Path) -> tuple[NDArray[Any], NDArray[Any], dict[str, Any]]:
    try:
        # A stream of one's own: NumPy forgets to close the file if it is broken.
        with path.open("rb") as stream:
            content = np.load(stream, allow_pickle=False)
            found = (
                {name: content[name] for name in content.files} if hasattr(content, "files") else {"one array": content}
            )
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise CorruptFileError(_broken(path, error)) from None
    for x, y in PAIRS:
        if x in found and y in found:
            facts: dict[str, Any] = {"columns": _columns(found, x, y)}
            if "class_names" in found:
                facts["class_names"] = _names(found["class_names"])
            return found[x], found[y], facts
    raise InputError(f"{path}: expected arrays x and y, or features and labels; got {', '.join(found) or 'none'}")


def _columns(arrays: dict[str, NDArray[Any]], x: str, y: str) -> dict[str, NDArray[Any]]:
    """Find the arrays with one value a record, which are facts about the records that a model does not see."""
    rest = {name: values for name, values in arrays.items() if name not in {x, y, "class_names"}}
    return {name: values for name, values in rest.items() if values.shape == arrays[y].shape[:1]}


def _names(names: NDArray[Any]) -> tuple[str, ...]:
    return tuple(str(name) for name in names.tolist())


def _broken(path: Path, error: Exception) -> str:
    if "Object arrays" in str(error):
        return f"{path}: holds Python objects, which are never loaded: save arrays of numbers or of fixed-length texts"
    if "pickle" in str(error):  # NumPy's own advice is to load it all the same.
        return f"{path}: cannot be read: {NO_ARRAYS}"
    return f"{path}: cannot be read, it is cut off or no NumPy file ({error}): write it again with numpy.savez"
