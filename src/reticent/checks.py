"""Guards at the public doors: each takes its argument by keyword, and returns what it checked.

The keyword is the argument's name as the caller knows it, so that the message names it:
``membership = checks.boolean(membership=value, ndim=2)``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import arrays, scratch
from reticent.errors import InputError, ShapeError

Value = TypeVar("Value")
INT64 = 2**63
"""The first number that is too large for 64-bit integers."""


def _only(named: Mapping[str, Value]) -> tuple[str, Value]:
    if len(named) != 1:
        raise TypeError(f"a guard takes exactly one named argument, got {sorted(named)}")
    return next(iter(named.items()))


def array(*, ndim: int | tuple[int, ...], **named: ArrayLike) -> NDArray[Any]:
    """Check that an argument is a numeric or boolean array with the right number of axes."""
    name, value = _only(named)
    allowed = (ndim,) if isinstance(ndim, int) else ndim
    checked = arrays.array(value, name)
    complete(checked, name)
    if checked.dtype.kind not in "biuf":
        raise ShapeError(
            f"{name}: expected numbers or booleans, got {arrays.described(checked)}{_converted(checked, name)}"
        )
    if checked.ndim not in allowed:
        expected = " or ".join(str(n) for n in allowed)
        raise ShapeError(
            f"{name}: expected {expected} {'axis' if expected == '1' else 'axes'}, got shape {checked.shape}"
        )
    return checked


def _converted(texts: NDArray[Any], name: str) -> str:
    """Say what makes numbers or booleans of texts that stand for these, else nothing."""
    if (texts.dtype.kind not in "US" and not all(isinstance(one, str) for one in texts.flat)) or not texts.size:
        return ""
    if np.isin(texts.astype(np.str_), ("True", "False")).all():
        return f': give numpy.asarray({name}) == "True"'
    try:
        texts.astype(np.float64)
    except (TypeError, ValueError):
        return ""
    return f": give numpy.asarray({name}).astype(float)"


def complete(values: NDArray[Any], name: str) -> None:
    """Check that no value is missing among objects; NaN among numbers is left to others."""
    if values.dtype.kind != "O":
        return
    gone = arrays.missing(values)
    if gone.any():
        place = np.argwhere(gone)[0]
        raise InputError(
            f"{name}: {int(gone.sum())} of {values.size} values are missing, the first is {values[tuple(place)]} for "
            f"record {int(place[0]) if len(place) else 0}: expected a value everywhere: leave these records out"
        )


def aligned(first: str, **named: Any) -> None:
    """Check that tables and columns of pandas have their rows in one order; what has no index is left alone."""
    indices = {name: value.index for name, value in named.items() if hasattr(getattr(value, "index", None), "equals")}
    index = indices.get(first, ())
    for name, other in indices.items():
        if 1 < len(index) == len(other) and not other.equals(index) and set(index) == set(other):
            raise InputError(
                f"{name}: rows go together by position, and its index has the labels of {first}'s in another order: "
                f"give {name}.loc[{first}.index], or {name}.to_numpy() if the positions are right"
            )


def floats(*, ndim: int | tuple[int, ...], axes: Sequence[str] = (), **named: ArrayLike) -> NDArray[Any]:
    """Check that an argument is an array of finite numbers; `axes` are what its axes are of, for the message."""
    name, _ = _only(named)
    checked = array(ndim=ndim, **named)
    if checked.dtype.kind != "f":
        checked = checked.astype(np.float64)
    bad = sum(np.count_nonzero(~np.isfinite(row)) for (row,) in scratch.rows(np.atleast_2d(checked)))
    if bad:
        raise InputError(
            f"{name}: expected finite numbers, got {bad} NaN or infinite of {checked.size}, the first is "
            f"{first(checked, ~np.isfinite(checked), axes)}"
        )
    return checked


def first(values: NDArray[Any], wrong: NDArray[np.bool_], axes: Sequence[str] = ()) -> str:
    """Say which is the first wrong value, and where it stands: numbers count from 0."""
    at = tuple(np.argwhere(wrong)[0].tolist())
    named = ", ".join(f"{axis} {i}" for axis, i in zip(axes, at, strict=False))
    return f"{values[at]} " + (f"of {named} (from 0)" if named else f"at index {at}")


def boolean(*, ndim: int, **named: ArrayLike) -> NDArray[np.bool_]:
    """Check that an argument is a boolean array; numbers are refused, since 0/1 often hides a wrong file."""
    name, _ = _only(named)
    checked = array(ndim=ndim, **named)
    if checked.dtype != np.bool_:
        hint = f"`{name}.astype(bool)`" if np.isin(checked, (0, 1)).all() else f"a comparison, such as `{name} > 0`"
        raise ShapeError(f"{name}: expected booleans, got {checked.dtype}; convert it with {hint}")
    return checked


def integers(
    *, ndim: int, low: int | None = None, high: int | None = None, remedy: str = "", **named: ArrayLike
) -> NDArray[np.int64]:
    """Check that an argument is an array of whole numbers in a range; `remedy` is what to do if one is out of it."""
    name, _ = _only(named)
    checked = array(ndim=ndim, **named)
    if checked.dtype.kind not in "iu":
        raise ShapeError(f"{name}: expected integers, got {checked.dtype}")
    if checked.dtype.kind == "u" and int(checked.max(initial=0)) >= INT64:
        raise InputError(f"{name}: expected integers below 2**63, got {checked.max()} at position {checked.argmax()}")
    result = checked.astype(np.int64)
    for bound, wrong in ((low, low is not None and result < low), (high, high is not None and result >= high)):
        if bound is not None and np.any(wrong):
            where = int(np.argmax(np.ravel(wrong)))
            span = f"of at least {low}" if high is None else f"from {low if low is not None else '-inf'} to {high - 1}"
            got = f"got {np.ravel(result)[where]} at position {where}"
            raise InputError(f"{name}: expected integers {span}, {got}{f': {remedy}' if remedy else ''}")
    return result


def shape(*, expected: tuple[int | None, ...], meaning: str, **named: NDArray[Any]) -> NDArray[Any]:
    """Check an array's shape."""
    value: NDArray[Any]
    name, value = _only(named)
    got = tuple(value.shape)
    if len(got) != len(expected) or any(e is not None and e != g for e, g in zip(expected, got, strict=True)):
        wanted = "(" + ", ".join("any" if e is None else str(e) for e in expected) + ")"
        raise ShapeError(f"{name}: expected shape {wanted} {meaning}, got {got}")
    return value


def between(*, low: float, high: float, **named: float) -> float:
    """Check that a number lies in a closed range."""
    name, value = _only(named)
    if not low <= value <= high:
        raise InputError(f"{name}: expected a number from {low} to {high}, got {value}")
    return float(value)
