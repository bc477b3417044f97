"""Records: the examples of one data set, in the one form that everything else takes."""

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import arrays, checks
from reticent.errors import InputError, ShapeError
from reticent.findings.population import ColumnReading

log = logging.getLogger(__name__)

Kind = Literal["image", "tabular", "tokens"]
NumberKind = Literal["number", "number in another notation", "percentage", "date", "time of day"]
FEW = 5
"""So many labels are listed in a message."""
KEPT = 0.95
"""A warning is given where fewer of a feature's distinct values than this share survive float32."""
LOOKED_AT = 20_000
"""Of an array with more records, about so many are looked at for what 32 bits do not tell apart."""
MOST_TOKENS = 10_000_000
"""A token from here on is a measurement or the number of a record, unless the user says how many tokens there are."""
TOKENS = "whole numbers of 2 axes are tokens of texts"
AS_FLOATS = "give features as floats, for example x.astype('float32')"
SAY_VOCABULARY = "say how many tokens there are, as vocabulary beside x and y in the .npz or Python's mapping"
"""How a user says that whole numbers are tokens."""
FITTED = (
    "Categories, medians and scales of columns are fixed in advance or taken over all records, members or not, without "
    "the label: every model gets the same features."
)
"""On what encoders were fitted."""


class Facts(TypedDict, total=False):
    """What is told of records beside features, labels and classes: attributes of `Records`."""

    name: str
    classes: int | None
    class_names: Sequence[str]
    mean: Sequence[float]
    std: Sequence[float]
    vocabulary: int
    columns: Mapping[str, NDArray[Any]]
    licence: str
    citation: str
    label: str
    readings: tuple[ColumnReading, ...]
    picture: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Records:
    """Examples and labels; a record's id is its row.

    Use `Records.make` for arrays of a user: it checks and converts them.

    Attributes:
        x: images ``uint8 (N, channels, height, width)``, features ``float32 (N, D)`` or tokens ``int64 (N, length)``.
        y: labels ``int64 (N,)``, from 0 to ``classes - 1``.
        classes: number of classes C.
        kind: what a record is.
        name: the data set's name.
        class_names: C names, or empty.
        mean: for images, what is subtracted from ``x / 255``, one a channel.
        std: for images, what the difference is divided by, one a channel.
        vocabulary: for tokens, one more than the largest token.
        columns: facts about the records that a model does not see, such as a group, each ``(N,)``.
        licence: under which terms the data may be used.
        citation: what to cite.
        label: the column of a table that the labels were read from; empty if they come from elsewhere.
        readings: how each column of a table was read, those of the features in the order of the features.
        picture: for features that are the pixels of a grey picture, from 0 to 1: its height and width. For display
            only: models see a row.
    """

    x: NDArray[Any]
    y: NDArray[np.int64]
    classes: int
    kind: Kind
    name: str = "own data"
    class_names: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    vocabulary: int = 0
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    licence: str = "not stated"
    citation: str = "not stated"
    label: str = ""
    readings: tuple[ColumnReading, ...] = ()
    picture: tuple[int, ...] = ()

    @classmethod
    def make(cls, x: ArrayLike, y: ArrayLike, **facts: Unpack[Facts]) -> "Records":
        """Check and convert a user's arrays, which are copied: what is done to them later changes no record.

        Args:
            x: ``uint8`` of 3 or 4 axes is images, ``(N, H, W)``, ``(N, H, W, channels)`` or ``(N, channels, H, W)``
                with 1, 3 or 4 channels; integers of 2 axes but ``uint8`` are tokens, which is told where `vocabulary`
                is not given; anything else of 2 axes is tabular features.
            y: ``(N,)`` labels from 0, each class at least once; `x` and `y` in any form of `arrays.array`.
            **facts: further attributes, such as ``name`` or ``columns``; ``classes`` is by default one more than the
                largest label.

        Returns:
            The records, which share no memory with the arrays: both are held for as long as the arrays are.

        Raises:
            ShapeError: the arrays do not fit each other, are of no known form, or hold no feature.
            InputError: labels out of range, an empty class, features that are not finite, or too large as tokens.
        """
        classes = facts.pop("classes", None)
        beside = {f"columns[{name!r}]": values for name, values in facts.get("columns", {}).items()}
        checks.aligned("x", x=x, y=y, **beside)
        features = checks.array(x=_no_texts(x), ndim=(2, 3, 4))
        labels = checks.integers(y=y, ndim=1, low=0, high=classes, remedy="" if classes else renumber("y"))
        if len(features) != len(labels):
            raise ShapeError(f"x has {len(features)} records, y has {len(labels)}: expected as many labels as records")
        if len(labels) == 0:
            raise ShapeError("x: expected at least one record, got none")
        if not features.size:
            raise ShapeError(f"x: expected at least one feature a record, got none: shape {features.shape}")
        count = classes if classes is not None else int(labels.max()) + 1
        _no_empty_class(labels, count, facts.get("class_names") or ())
        if features.ndim == 2:
            converted, kind = _flat(features)
        else:
            converted, kind = _images(features), "image"
            facts.setdefault("mean", (0.5,) * converted.shape[1])
            facts.setdefault("std", (0.25,) * converted.shape[1])
        if kind == "tokens":
            facts["vocabulary"] = _vocabulary(converted, facts.get("vocabulary"))
        names, picture = facts.get("class_names", ()), facts.get("picture", ())
        if names and len(names) != count:
            raise ShapeError(f"class_names: expected {count} names, one a class, got {len(names)}")
        if picture and (kind != "tabular" or len(picture) != 2 or picture[0] * picture[1] != converted.shape[1]):
            raise ShapeError(
                f"picture: expected a height and a width that fit {converted.shape[1]} features, got {picture}"
            )
        return cls(x=converted, y=labels, classes=count, kind=kind, **_converted(facts, len(labels)))

    def __len__(self) -> int:
        return len(self.y)

    def take(self, ids: NDArray[np.int64]) -> "Records":
        """Return the records of some rows, in the order given; the classes stay."""
        columns = {name: values[ids] for name, values in self.columns.items()}
        return replace(self, x=self.x[ids], y=self.y[ids], columns=columns)

    def thumbnail(self, i: int) -> NDArray[np.uint8] | None:
        """Draw a record, ``uint8 (height, width)`` if it is grey, ``(height, width, 3)`` if coloured; else None."""
        pixels: NDArray[Any] = self.x[i]
        if self.kind == "image":
            return pixels[0] if len(pixels) == 1 else pixels[:3].transpose(1, 2, 0)
        return np.rint(np.clip(pixels, 0, 1) * 255).astype(np.uint8).reshape(self.picture) if self.picture else None

    def thumbnails(self, ids: Iterable[int]) -> dict[int, NDArray[np.uint8]]:
        """Draw those records that are pictures, by their ids, as `thumbnail` does."""
        drawn = {record: self.thumbnail(record) for record in ids}
        return {record: picture for record, picture in drawn.items() if picture is not None}

    @cached_property
    def digest(self) -> str:
        """Content hash of everything that a model can see of the records (SHA-256, hexadecimal)."""
        head = repr((self.kind, self.classes, self.mean, self.std, self.vocabulary, self.x.shape, self.x.dtype.str))
        content = hashlib.sha256(head.encode())
        content.update(np.ascontiguousarray(self.x).data)
        content.update(np.ascontiguousarray(self.y).data)
        return content.hexdigest()

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """``(N,)``: the first row that holds exactly the same ``x`` (labels aside); duplicates share it."""
        return first_rows(self.x)

    @property
    def duplicates(self) -> int:
        """How many records repeat an earlier one exactly (labels aside)."""
        return int(np.count_nonzero(self.groups != np.arange(len(self))))


def first_rows(x: NDArray[Any]) -> NDArray[np.int64]:
    """Find exact duplicates: for each record the first row that holds the same values."""
    first: dict[bytes, int] = {}
    keys = (hashlib.blake2b(row.data, digest_size=16).digest() for row in np.ascontiguousarray(x).reshape(len(x), -1))
    return np.array([first.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.int64)


def _no_texts(x: ArrayLike) -> NDArray[Any]:
    found = arrays.array(x, "x")
    first = next(iter(found.flat), None) if found.dtype.kind in "USO" else None
    if isinstance(first, (str, bytes)):
        raise ShapeError(
            f"x: expected numbers or booleans, got {arrays.described(found)}: give texts as the numbers of their "
            "tokens (docs/architectures.md), and categories as columns of a .csv (docs/tables.md)"
        )
    return found


def _converted(facts: Facts, records: int) -> Any:
    """Convert what a user may give as arrays: columns, and the scale of pictures."""
    given = facts.get("columns", {}).items()
    columns = {name: np.array(arrays.array(values, f"columns[{name!r}]")) for name, values in given}
    for column, values in columns.items():
        if values.shape != (records,):
            raise ShapeError(f"columns[{column!r}]: expected shape ({records},), got {values.shape}")
    told = {key: facts[key] for key in ("mean", "std") if key in facts}
    scale = {key: tuple(arrays.array(values, key).ravel().tolist()) for key, values in told.items()}
    return {**facts, "columns": columns, **scale}


def _no_empty_class(labels: NDArray[np.int64], classes: int, names: Sequence[str]) -> None:
    if (labels == labels[0]).all():
        only = names[labels[0]] if labels[0] < len(names) else labels[0]
        raise InputError(
            f"y: expected at least 2 classes, got 1: every record has the label {only}, nothing can be learned"
        )
    present = np.unique(labels)
    empty = classes - len(present)
    if empty:
        # No array of all classes: a label may be any number. So many of the first ones hold five gaps, if there are.
        first = np.setdiff1d(np.arange(min(classes, len(present) + FEW)), present)[:FEW]
        quantity = "; targets of a regression are not supported" if 2 * len(present) > len(labels) > 2 * FEW else ""
        raise InputError(
            f"y: {empty} of {classes} classes have no record (class {listed(first, empty)}): expected labels 0 to "
            f"{classes - 1} without gaps, found {listed(present)}; if these {len(present)} are all the classes, "
            f"{renumber('y')}; else give records of the others too{quantity}"
        )


def listed(labels: NDArray[Any], count: int | None = None) -> str:
    """Write labels for a message."""
    more = (len(labels) if count is None else count) > FEW
    return ", ".join(str(label) for label in labels[:FEW]) + (", ..." if more else "")


def renumber(name: str) -> str:
    """Say what to do about labels that do not count from 0."""
    return f"renumber them, for example with numpy.unique({name}, return_inverse=True)[1]"


def _flat(features: NDArray[Any]) -> tuple[NDArray[Any], Kind]:
    if features.dtype.kind == "i" or (features.dtype.kind == "u" and features.dtype.itemsize > 1):
        return checks.integers(x=features, ndim=2, low=0, remedy=f"{TOKENS}; {AS_FLOATS}"), "tokens"
    if features.dtype.kind in "bu":
        return features.astype(np.float32), "tabular"
    axes = ("record", "feature")
    features = checks.floats(x=features, ndim=2, axes=axes)
    with np.errstate(over="ignore"):
        rounded = checks.floats(x=features.astype(np.float32), ndim=2, axes=axes)
    _tell_lost(features)
    return rounded, "tabular"


def lost_in_32_bits(values: NDArray[Any]) -> str:
    """Say how many of a feature's values are still different as models get them; empty where nearly all are."""
    known = np.unique(values)
    left = len(np.unique(known.astype(np.float32)))
    if left >= KEPT * len(known):
        return ""
    return f"of {len(known):,} different values the 32 bits of a feature keep {left:,} apart"


def _tell_lost(features: NDArray[Any]) -> None:
    if features.dtype.itemsize <= np.dtype(np.float32).itemsize:
        return
    for at, values in enumerate(features[:: len(features) // LOOKED_AT + 1].T):
        if lost := lost_in_32_bits(values):
            log.warning("x: feature %d: %s: take its mean from it first", at, lost)


def _vocabulary(tokens: NDArray[Any], given: int | None) -> int:
    """Count the tokens that there may be, for each of which a model of texts has a vector."""
    largest = int(tokens.max())
    if given is not None:
        return int(checks.integers(vocabulary=given, ndim=0, low=largest + 1))
    if largest >= MOST_TOKENS:
        raise InputError(
            f"x: {TOKENS}, expected below {MOST_TOKENS:,}, got {largest}: {AS_FLOATS}, number the tokens from 0, or "
            f"{SAY_VOCABULARY}"
        )
    log.warning(
        "x: whole numbers of 2 axes are read as texts of %d tokens each, and models learn a meaning for each number: "
        "if it is a table of numbers, give x.astype('float32'); if it is texts, %s",
        tokens.shape[1],
        SAY_VOCABULARY,
    )
    return largest + 1


def _images(features: NDArray[Any]) -> NDArray[np.uint8]:
    if features.dtype != np.uint8:
        raise ShapeError(f"x: expected images as uint8 from 0 to 255, got {features.dtype} of shape {features.shape}")
    if features.ndim == 3:
        return np.array(features[:, None], order="C")
    if features.shape[1] in {1, 3, 4}:
        return np.array(features, order="C")
    if features.shape[3] in {1, 3, 4}:
        return np.array(features.transpose(0, 3, 1, 2), order="C")
    raise ShapeError(f"x: expected 1, 3 or 4 channels as the second or the last axis, got shape {features.shape}")
