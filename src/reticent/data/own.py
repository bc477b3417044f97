"""Files of a user: npz, npy, csv, tsv, Parquet, and folders of pictures."""

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent import opening
from reticent.data import class_folders, given, table
from reticent.data.forms import ARRAYS, form, is_table, refused
from reticent.data.notices import tell
from reticent.data.records import Records
from reticent.errors import CorruptFileError, InputError, MissingFileError
from reticent.options import DataOptions

PAIRS = (("x", "y"), ("features", "labels"), ("X", "Y"), ("X", "y"), ("images", "labels"))
"""Names of the two arrays in an npz file."""

SPLITS = ("train", "val", "test")
SPLIT_PAIRS = ("{}_images", "{}_labels"), ("x_{}", "y_{}")
"""Names of two arrays a split, as in MedMNIST's files and in those of Keras."""

NO_ARRAYS = (
    "it is cut off or no NumPy file, or holds Python objects (a pickle), which reticent never loads: save plain arrays "
    "of numbers or of fixed-length texts with numpy.savez"
)
"""What is said in place of NumPy's advice to load a pickle all the same."""


def read(path: Path, asked: DataOptions) -> Records:
    """Read a file, or a folder with ``x.npy`` and ``y.npy`` or with pictures by class."""
    if not path.exists():
        raise MissingFileError(f"no file {str(path)!r} (looked in {Path.cwd()})")
    if not path.is_dir() and not form(path):
        raise InputError(f"{path}: {refused(path)}")
    try:
        asked.check("table" if is_table(path) else "pictures" if path.is_dir() else "arrays", path)
        if path.is_dir() or form(path) in ARRAYS:
            x, y, facts = arrays(path, asked.image_size)
            return tell(given.records(x, y, name=str(path), **facts))
        opening.check(path)
        reader = table.read_parquet if form(path) == ".parquet" else table.read_csv
        return tell(reader(path, asked))
    except OSError as error:
        raise CorruptFileError(f"{path}: cannot be read: {error.strerror or error}") from None


def arrays(path: Path, image_size: int | None = None) -> tuple[NDArray[Any], NDArray[Any], dict[str, Any]]:
    """Read the arrays of a NumPy file, or of a folder with ``x.npy`` and ``y.npy`` or with pictures."""
    if path.is_dir() and not (path / "x.npy").exists():
        return class_folders.read(path, image_size)
    return _npz(path) if form(path) == ".npz" and not path.is_dir() else _npy(path)


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
    opening.check(path)
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, EOFError) as error:
        raise CorruptFileError(_broken(path, error)) from None


def _npz(path: Path) -> tuple[NDArray[Any], NDArray[Any], dict[str, Any]]:
    opening.check(path)
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
    for images, labels in SPLIT_PAIRS:
        names = [split for split in SPLITS if images.format(split) in found and labels.format(split) in found]
        if names:
            return _joined(path, {split: (found[images.format(split)], found[labels.format(split)]) for split in names})
    raise InputError(f"{path}: expected arrays x and y, or features and labels; got {', '.join(found) or 'none'}")


def _joined(
    path: Path, splits: Mapping[str, tuple[NDArray[Any], NDArray[Any]]]
) -> tuple[NDArray[Any], NDArray[Any], dict[str, Any]]:
    """Put the splits of a file together: who is a member is drawn anew."""
    x, y = next(iter(splits.values()))
    for split, (images, labels) in splits.items():
        if images.shape[1:] != x.shape[1:] or labels.shape[1:] != y.shape[1:]:
            raise InputError(
                f"{path}: {split}: expected records of shape {x.shape[1:]} with labels of shape {y.shape[1:]}, as "
                f"{next(iter(splits))} has, got {images.shape[1:]} with {labels.shape[1:]}"
            )
        if len(images) != len(labels):
            raise InputError(f"{path}: {split}: got {len(images)} records and {len(labels)} labels: expected as many")
    if y.ndim == 2 and y.shape[1] > 1 and y.dtype.kind in "biuf" and (y.sum(axis=1) != 1).any():
        raise InputError(
            f"{path}: several labels a record ({y.shape[1]}, multi-label) are not supported: give one, such as whether "
            "there is any"
        )
    if x.ndim == 5 or (x.ndim == 4 and x.shape[3] not in {1, 3, 4} and x.shape[1] not in {1, 3, 4}):
        raise InputError(f"{path}: pictures in three dimensions {x.shape[1:]} are not supported: give slices of them")
    column = np.concatenate([np.full(len(labels), split) for split, (_, labels) in splits.items()])
    features, marks = (np.concatenate([pair[i] for pair in splits.values()]) for i in (0, 1))
    return features, marks, {"columns": {"split": column}}


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
