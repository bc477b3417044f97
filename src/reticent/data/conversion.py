"""A user's arrays, brought to what `Records.make` takes: labels of any common form, images as floats."""

from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from reticent import arrays, checks
from reticent.data.records import Facts, Records, renumber
from reticent.errors import InputError, ShapeError, about


def records(x: Any, y: Any, **facts: Unpack[Facts]) -> Records:
    """Make records of arrays, tensors or lists."""
    with about(facts.get("name", "own data")):
        for key, value, what in (("x", x, "features"), ("y", y, "labels")):
            if value is None:
                raise ShapeError(f"{key}: the {what} are missing: expected an array with one entry a record, got None")
        checks.aligned("x", x=x, y=y)
        labels, names = arrays.array(y, "y"), tuple[str, ...]()
        checks.complete(labels, "y")
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels[:, 0]
        if labels.ndim == 1 and hasattr(y, "to_numpy"):
            labels, names = numbered(labels)
        if labels.dtype.kind in "OUS":
            _in_reach(labels, "y")
            classes, codes = np.unique(labels.astype(np.str_), return_inverse=True)
            labels, names = codes.reshape(labels.shape), tuple(classes.tolist())
        elif not names:
            labels = whole(labels)
        if names:
            facts.setdefault("class_names", names)
        return Records.make(bytes_of_images(arrays.array(x, "x")), labels, **facts)


def numbered(labels: NDArray[Any]) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Number the labels of a table: whole numbers other than 0 to C - 1 are classes in sorted order.

    In an array such labels are refused, since who makes an array knows how to number them, and a gap there is a slip.
    """
    floats = labels.dtype.kind == "f"
    if not (labels.dtype.kind in "iu" or (floats and np.isfinite(labels).all() and (labels == np.rint(labels)).all())):
        return labels, ()
    # From the limit on, a float may be two whole numbers.
    limit = 2.0 ** (np.finfo(labels.dtype).nmant + 1) if floats else np.inf
    if len(labels) and np.abs(labels).max() >= limit:
        raise InputError(
            f"expected labels below {limit:.0f}, got {labels[np.abs(labels).argmax()]:.0f}: larger numbers were read "
            "as floats, in which neighbours are one; number the classes from 0, or put a letter in front of each"
        )
    values, codes = np.unique(labels, return_inverse=True)
    if len(values) < 2 or np.array_equal(values, np.arange(len(values))):
        return labels, ()
    return codes.astype(np.int64), tuple(str(int(value)) for value in values)


def whole(labels: NDArray[Any], name: str = "y") -> NDArray[Any]:
    """Take labels that are numbers in any common form: a column, one-hot rows, booleans, whole floats."""
    checks.complete(labels, name)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.dtype.kind not in "biuf" or labels.ndim == 0:
        return labels
    if labels.ndim > 1:
        return _one_hot(labels, name)
    if labels.dtype.kind == "b":
        return labels.astype(np.int64)
    _in_reach(labels, name)
    if labels.dtype.kind == "f":
        wrong = ~np.isfinite(labels) | (labels != np.rint(labels))
        if wrong.any():
            bad = int(np.argmax(wrong))
            hint = ": targets of a regression are not supported" if np.isfinite(labels[bad]) else ""
            raise InputError(f"{name}: expected whole numbers as labels, got {labels[bad]} for record {bad}{hint}")
        return labels.astype(np.int64)
    return labels


def _one_hot(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Read rows with a single 1, and refuse several labels a record."""
    expected = f"{name}: expected one label a record, or rows with a single 1, got shape {labels.shape}"
    turned = labels.ndim == 2 and labels.shape[0] < labels.shape[1]
    if turned and (len(labels) == 1 or (labels.sum(axis=0) == 1).all()):
        raise ShapeError(f"{expected}: are records the columns? Give {name}.T")
    if labels.ndim > 2 or not np.isin(labels, (0, 1)).all():
        raise ShapeError(
            f"{expected} of other numbers: several labels a record, such as one a token, or shares of classes are not "
            "supported"
        )
    ones = labels.sum(axis=1, dtype=np.int64)
    if (ones != 1).any():
        bad = int(np.argmax(ones != 1))
        raise InputError(f"{expected} with {ones[bad]} ones for record {bad}: multi-label data are not supported")
    return np.asarray(labels.argmax(axis=1))


def _in_reach(labels: NDArray[Any], name: str) -> None:
    """Refuse labels that 64-bit integers do not hold; what is not finite is told elsewhere."""
    if labels.dtype.kind == "O":  # Python's own whole numbers have no end.
        large = np.array([isinstance(value, int) and abs(value) >= checks.INT64 for value in labels.flat])
    elif labels.dtype.kind == "f" or labels.dtype == np.uint64:
        large = np.isfinite(labels) & (np.abs(labels.astype(np.float64)) >= checks.INT64)
    else:
        return
    if large.any():
        place = int(large.argmax())
        raise InputError(
            f"{name}: expected labels that count from 0, got {int(labels.flat[place])} for record {place}; "
            f"{renumber(name)}"
        )


def bytes_of_images(features: NDArray[Any]) -> NDArray[Any]:
    """Bring images of other numbers back to bytes from 0 to 255; other features stay."""
    checks.complete(features, "x")
    if features.dtype.kind == "O":
        raise ShapeError("x: expected a rectangular array of numbers, got Python objects (records of several shapes?)")
    image = features.ndim in {3, 4} and features.dtype.kind in "buif" and features.size
    if not image or features.dtype == np.uint8:
        return features
    if features.dtype.kind == "f":
        checks.floats(x=features, ndim=features.ndim, axes=("record",))
    low, high = float(features.min()), float(features.max())
    # A picture read as floats has been divided by 255 (torchvision's ToTensor) or left as it was.
    scale = 255.0 if features.dtype.kind in "fb" and high <= 1 else 1.0
    scaled = features.astype(np.float64) * scale
    whole_bytes = np.rint(scaled)
    if not (low >= 0 and high * scale <= 255) or np.abs(scaled - whole_bytes).max() > 1e-3:
        raise InputError(
            f"x: images must be uint8 from 0 to 255; got {features.dtype} from {low:.4g} to {high:.4g} that are no "
            "multiples of 1/255. Take Normalize and random augmentation out of the transform (reticent does both), "
            "or give numpy.rint(255 * x).astype('uint8') of images from 0 to 1, and say what the network's inputs were "
            "normalised by: mean 0 and std 1 if it takes images from 0 to 1 (else 0.5 and 0.25 are taken)"
        )
    return whole_bytes.astype(np.uint8)
