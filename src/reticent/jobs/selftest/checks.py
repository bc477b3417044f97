"""The ways to make a check: near a number, within limits, as a slow twin, or by a condition."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from reticent.findings.selftest import Check, Fault

Checks = Iterator[Check]


def check(name: str, expected: str, got: str, ok: bool, cause: Fault) -> Check:
    """Check a condition; `expected` and `got` are for people, `cause` is what makes it wrong."""
    return Check(name=name, expected=expected, got=got, ok=ok, cause=cause)


def near(name: str, expected: float, got: float, cause: Fault, tolerance: float = 1e-9) -> Check:
    """Compare a number with the one that it must be."""
    return check(name, number(expected), number(got), bool(abs(got - expected) <= tolerance), cause)


def within(name: str, low: float, high: float, got: float, cause: Fault) -> Check:
    """Check that a number lies between two limits, both allowed."""
    return check(name, f"{number(low)} to {number(high)}", number(got), bool(low <= got <= high), cause)


def twin(name: str, expected: ArrayLike, got: ArrayLike, cause: Fault, tolerance: float = 1e-9) -> Check:
    """Compare many numbers with those of a slow plain computation."""
    right, mine = np.asarray(expected, dtype=np.float64), np.asarray(got, dtype=np.float64)
    told = f"{right.size:,} numbers of a plain computation"
    if right.shape != mine.shape:
        return check(name, told, f"another shape: {mine.shape}, not {right.shape}", False, cause)
    worst = float(np.max(np.abs(mine - right)))
    return check(name, told, f"largest difference {number(worst)}", bool(worst <= tolerance), cause)


def number(value: float) -> str:
    """Write a number with up to six digits."""
    return f"{value:.6g}"
