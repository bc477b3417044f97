"""What a user gives, a file, a folder or an object of Python, as named columns or as arrays, not yet as records."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent import arrays, checks, user_files
from reticent.data import arrow, conversion, delimited, images
from reticent.data.records import Facts, Records
from reticent.errors import CorruptFileError, InputError, MissingFileError, ShapeError, about, meant, nearest
from reticent.options import DataOptions

log = logging.getLogger(__name__)

TABLES = (*delimited.SUFFIXES, ".parquet")
"""One record a row, with a header."""
ARRAYS = (".npz", ".npy")
SUFFIXES = (*ARRAYS, *TABLES)

PAIRS = (("x", "y"), ("features", "labels"), ("X", "Y"), ("X", "y"), ("images", "labels"))
"""Names of the two arrays in an npz file or a mapping."""
SPLITS = ("train", "val", "test")
SPLIT_PAIRS = ("{}_images", "{}_labels"), ("x_{}", "y_{}")
"""Names of two arrays a split, as in MedMNIST's files and in those of Keras."""
NAMES = {name.format(split) for pair in (*PAIRS, *SPLIT_PAIRS) for name in pair for split in SPLITS}
"""All of these."""
KINDS = {"b": "booleans", "u": "whole numbers", "i": "whole numbers", "f": "numbers", "U": "texts", "O": "objects"}
FACTS = Facts.__annotations__.keys() - {"label", "readings"}
"""Further keys that a returned dictionary may have; the two others come from tables."""
NPZ = "an .npz file of plain arrays"


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns with names, of a file or a data frame; labels may stand beside them."""

    names: list[str]
    values: list[NDArray[Any]]
    y: Any = None


@dataclass(frozen=True, eq=False)
class Arrays:
    """Features and labels in any form of `arrays.array`, and what else `Records.make` is told."""

    x: Any
    y: Any
    facts: Facts = field(default_factory=Facts)


def suffix(path: str | Path) -> str:
    """Say which form a file has, by the end of its name in capitals or not; empty if it has none."""
    name = Path(path).name.lower()
    return max((end for end in SUFFIXES if name.endswith(end)), key=len, default="")


def of_path(path: Path, asked: DataOptions) -> Columns | Arrays:
    """Read a file, or a folder with ``x.npy`` and ``y.npy`` or with pictures by class."""
    form, folder = suffix(path), path.is_dir()
    if not path.exists():
        raise MissingFileError(f"no file {str(path)!r} (looked in {Path.cwd()})")
    if not folder and not form:
        packed = path.suffix.lower() in {".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".tar", ".tgz"}
        raise InputError(
            f"{path}: expected a file of type {', '.join(SUFFIXES)}, or a folder, got {path.suffix or 'no suffix'}"
            f"{': unpack it first' if packed else ''}"
        )
    asked.check("pictures" if folder else "arrays" if form in ARRAYS else "table", path)
    try:
        if folder and not (path / "x.npy").exists():
            return Arrays(*images.read_folder(path, asked.image_size))
        if folder or form == ".npy":
            return _npy(path)
        user_files.check(path)
        if form == ".npz":
            return _npz(path)
        read = arrow.of_parquet(path, asked.not_features) if form == ".parquet" else delimited.read(path)
        return Columns(*read)
    except OSError as error:
        raise CorruptFileError(f"{path}: cannot be read: {error.strerror or error}") from None


def of_object(value: Any, asked: DataOptions) -> Columns | Arrays | Records:
    """Take what a user's Python holds: records, a data frame, a pair (x, y), a mapping, or a data set of pairs."""
    pair = pair_of(value)
    frame = pair[0] if pair else value
    if arrow.is_frame(frame):
        asked.check("table", "a data frame")
        y = pair[1] if pair else None
        checks.aligned("x", x=frame, y=y)
        return Columns(*arrow.of_frame(frame, asked.not_features), y)
    asked.check("arrays", "arrays")
    if isinstance(value, Records):
        return value
    if pair:
        return Arrays(*pair)
    if isinstance(value, Mapping):
        return _of_mapping(value)
    if not hasattr(value, "__getitem__") or not hasattr(value, "__len__") or isinstance(value, (tuple, list, str)):
        raise InputError(
            f"got {type(value).__name__}: expected a pair of arrays (x, y), a mapping with x and y, "
            "reticent.Records, or a map-style data set of such pairs"
        )
    if isinstance(value, np.ndarray) or hasattr(value, "detach"):
        raise InputError(f"got one array of shape {tuple(value.shape)}: expected a pair (x, y)")
    return _of_items(value)


def pair_of(value: Any) -> tuple[Any, Any] | None:
    """Find features and labels that stand side by side, with nothing else."""
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return value[0], value[1]
    if isinstance(value, Mapping):
        return next(((value[x], value[y]) for x, y in PAIRS if {x, y} == value.keys()), None)
    return None


def _of_mapping(value: Mapping[Any, Any]) -> Arrays:
    for x, y in PAIRS:
        if x in value and y in value:
            facts: Any = {str(key): one for key, one in value.items() if key not in {x, y}}
            for key in facts:
                if key not in FACTS:
                    raise InputError(f"got an unknown key {key!r}: {nearest(key, FACTS)}")
            return Arrays(value[x], value[y], facts)
    raise InputError(f"got a mapping with {sorted(map(str, value))}: expected x and y")


def _of_items(dataset: Any) -> Arrays:
    if len(dataset) == 0:
        raise InputError("the data set has no items")
    features, labels = [], []
    for i in range(len(dataset)):
        item = dataset[i]
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise InputError(f"item {i} is {type(item).__name__}: expected a pair (x, label)")
        features.append(arrays.array(item[0], f"item {i}"))
        labels.append(arrays.array(item[1], f"label of item {i}"))
        if features[-1].shape != features[0].shape:
            raise InputError(f"item {i} has shape {features[-1].shape}, item 0 {features[0].shape}: expected one size")
    return Arrays(conversion.bytes_of_images(np.stack(features)), np.stack(labels))


def _npy(path: Path) -> Arrays:
    folder = path if path.is_dir() else path.parent
    x, y = folder / "x.npy" if path.is_dir() else path, folder / "y.npy"
    if x == y:
        raise InputError(f"{path}: holds the labels: give the file of the features, or the folder of x.npy and y.npy")
    for file in (x, y):
        if not file.exists():
            raise MissingFileError(f"{path}: expected x.npy and y.npy in one folder, but there is no {file}")
    return Arrays(_array(x), _array(y))


def _array(path: Path) -> NDArray[Any]:
    expected = "an .npy file of one plain array"
    user_files.check(path, expected)
    with user_files.loading(path, expected):
        return np.asarray(np.load(path, allow_pickle=False))


def _npz(path: Path) -> Arrays:
    # A stream of one's own: NumPy forgets to close the file if it is broken.
    with user_files.loading(path, NPZ), path.open("rb") as stream:
        content = np.load(stream, allow_pickle=False)
        if isinstance(content, np.ndarray):
            raise CorruptFileError(f"{path}: expected {NPZ}, got one array, an .npy file: call it x.npy, beside y.npy")
        found = {name: _member(path, content, name) for name in content.files}
    for x, y in PAIRS:
        if x in found and y in found:
            return Arrays(found.pop(x), labels := found.pop(y), _facts(path, found, labels.shape[:1]))
    for x, y in SPLIT_PAIRS:
        names = [split for split in SPLITS if x.format(split) in found and y.format(split) in found]
        if names:
            parts = {split: Arrays(found[x.format(split)], found[y.format(split)]) for split in names}
            column = np.repeat(names, [len(part.y) for part in parts.values()])
            with about(str(path)):
                return joined(parts, {"columns": {"split": column}})
    raise InputError(
        f"{path}: expected arrays x and y, or features and labels; got {', '.join(found) or 'none'}"
        f"{meant(found, NAMES)}"
    )


def _member(path: Path, content: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    with user_files.loading(path, NPZ, name):
        return content[name]


def _facts(path: Path, further: Mapping[str, NDArray[Any]], records: tuple[int, ...]) -> Facts:
    """Take what an archive holds beside the records: facts, and columns of one value a record; name what is neither."""
    columns: dict[str, NDArray[Any]] = {}
    facts: Facts = {"columns": columns}
    unread = []
    for name, one in further.items():
        if name == "class_names":
            facts["class_names"] = tuple(map(str, one.tolist()))
        elif name == "vocabulary" and one.ndim == 0:
            facts["vocabulary"] = one.item()
        elif one.shape == records:
            columns[name] = one
        else:
            unread.append(name)
    if unread:
        expected = (
            f"expected one value a record, class_names or vocabulary{meant(unread, ('class_names', 'vocabulary'))}"
        )
        log.warning("%s: %s: not read: %s", path, ", ".join(unread), expected)
    return facts


def joined(parts: Mapping[str, Arrays], facts: Facts) -> Arrays:
    """Put parts together, such as the splits of a file, which are all like the first."""
    first, like = next(iter(parts.items()))
    for name, part in parts.items():
        with about(name):
            _check_part(part.x, part.y)
            for what, wanted, got in (("x", like.x, part.x), ("y", like.y, part.y)):
                if wanted.shape[1:] != got.shape[1:]:
                    told = f"as the {first} have, got {got.shape[1:]}"
                    raise ShapeError(f"{what}: expected records of shape {wanted.shape[1:]}, {told}")
                if _kind(wanted, what) != _kind(got, what):
                    told = f"got {_kind(got, what)} ({got.dtype})"
                    raise InputError(f"{what}: expected {_kind(wanted, what)}, as the {first} have, {told}")
    x, y = (np.concatenate([getattr(part, key) for part in parts.values()]) for key in "xy")
    return Arrays(x, y, facts)


def _check_part(x: NDArray[Any], y: NDArray[Any]) -> None:
    if min(x.ndim, y.ndim) == 0 or len(x) != len(y) or len(y) == 0:
        raise ShapeError(
            f"expected at least one record, and as many labels as records, got x of shape {x.shape} and y of shape "
            f"{y.shape}"
        )
    checks.complete(x, "x")
    checks.complete(y, "y")
    if x.dtype.kind == "f":
        checks.floats(x=x, ndim=tuple(range(8)), axes=("record", "feature") if x.ndim == 2 else ("record",))


def _kind(values: NDArray[Any], what: str) -> str:
    """Say what an array holds; labels may be any kind of numbers, since they are only told apart."""
    if what == "y":
        return "numbers" if values.dtype.kind in "buif" else "texts"
    return "bytes from 0 to 255" if values.dtype == np.uint8 else KINDS.get(values.dtype.kind, str(values.dtype))
