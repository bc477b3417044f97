"""What a group of checks yields, and the ways to make one: near a number, within limits, or a condition."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Line:
    """One check, before it has a group and a time.

    Attributes:
        name: within its group.
        expected: what is right, for people.
        got: what this installation gives, for people.
        ok: whether the two agree.
        fault: what kind of fault makes such a number.
    """

    name: str
    expected: str
    got: str
    ok: bool
    fault: str


Lines = Iterator[Line]


@dataclass(frozen=True)
class Group:
    """Checks that run together.

    Attributes:
        about: what they look at, in one sentence.
        run: yields them, one after the other.
    """

    about: str
    run: Callable[[], Lines]


def near(name: str, expected: float, got: float, fault: str, tolerance: float = 1e-9) -> Line:
    """Compare a number with the one that it must be."""
    return Line(name, number(expected), number(got), bool(abs(got - expected) <= tolerance), fault)


def within(name: str, low: float, high: float, got: float, fault: str) -> Line:
    """Check that a number lies between two limits, both allowed."""
    return Line(name, f"{number(low)} to {number(high)}", number(got), bool(low <= got <= high), fault)


def twin(name: str, expected: ArrayLike, got: ArrayLike, fault: str, tolerance: float = 1e-9) -> Line:
    """Compare many numbers with those of a slow plain computation."""
    right, mine = np.asarray(expected, dtype=np.float64), np.asarray(got, dtype=np.float64)
    told = f"{right.size:,} numbers of a plain computation"
    if right.shape != mine.shape:
        return Line(name, told, f"another shape: {mine.shape}, not {right.shape}", ok=False, fault=fault)
    worst = float(np.max(np.abs(mine - right)))
    return Line(name, told, f"largest difference {number(worst)}", bool(worst <= tolerance), fault)


def number(value: float) -> str:
    """Write a number with up to six digits."""
    return f"{value:.6g}"
