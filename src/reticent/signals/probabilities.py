"""Probabilities as logits: their logarithms, where exact zeros are told by what the numbers can resolve."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.errors import InputError

Floats = NDArray[np.float64]
TYPES = {"bfloat16": (8, -133), "float16": (11, -24), "float32": (24, -149), "float64": (53, -1074)}
"""Binary digits of a number type, and its smallest number above zero as a power of two; the coarsest first."""
TELLING = 10
"""So many numbers between zero and one show by themselves how finely they are told; fewer do by their type."""
SAMPLE = 4096
"""So many numbers are searched for a step that all are multiples of, before all are looked at."""
MOST_STEPS = 10**6
MOST_DIGITS = 12
"""More that were printed are told as the type tells them."""
SLACK = 1e-4
"""A row's sum may be so far from one, however finely it is told."""


@dataclass(frozen=True)
class Resolution:
    """How finely probabilities are told.

    Attributes:
        unit: the distance of neighbours just below one: 2**-53 of float64, 2**-24 of float32, 2**-11 of float16,
            2**-8 of bfloat16; 10**-k of numbers that were rounded or printed with k digits, 1 / n of shares of n votes.
        least: the smallest number above zero. Of a type: 2**-1074, 2**-149, 2**-24, 2**-133. It is the unit where
            numbers were rounded, and where none lies between zero and the unit: these were made as one minus another,
            and their zeros tell no more.
        rounded: all numbers are whole multiples of the unit.
    """

    unit: float
    least: float
    rounded: bool = False

    @property
    def at_one(self) -> "Resolution":
        """The same, where what is smaller than the unit is not told either."""
        return replace(self, least=self.unit)


FLOAT64 = Resolution(2.0**-53, 2.0**-1074)


def resolution(values: NDArray[np.floating]) -> Resolution:
    """Find how finely probabilities are told: by the numbers, since a cast or a rounding shows nowhere else."""
    inside = [one for one in map(_inside, values) if len(one)]
    if sum(map(len, inside)) < TELLING:
        digits, smallest = TYPES[values.dtype.name]
        step = None
    else:
        digits, smallest = _type(inside)
        step = _step(inside, 2.0**-digits)
    if step is not None:
        return Resolution(step, step, rounded=True)
    unit = _step_near_one(inside, 2.0**-digits)
    return Resolution(unit, unit if inside and min(one.min() for one in inside) >= unit else 2.0**smallest)


def logarithms(probabilities: NDArray[np.floating], told: Resolution) -> tuple[Floats, int]:
    """Take logarithms of one model's probabilities: logits ``(N, C)``, and how many were below what can be told.

    What is at most half of the least number, such as zero, is told as that. Zeros of rounded numbers share at most what
    their row lacks to one, or half a unit if that is more, so that many classes of none do not outweigh the others.
    """
    given = np.minimum(probabilities.astype(np.float64), 1.0)
    if given.shape[1] == 1:
        zero, one = given[:, 0] <= told.least / 2, given[:, 0] == 1
        with np.errstate(divide="ignore"):
            logs = np.stack([np.log1p(-given[:, 0]), np.log(given[:, 0])], axis=1)
        logs[one, 0], logs[zero, 1] = np.log(told.unit / 2), _half(told.least)
        return logs, int(zero.sum() + one.sum())
    zeros = given <= told.least / 2
    with np.errstate(divide="ignore"):
        logs = np.log(given)
    floor = np.full(len(given), _half(told.least))
    if told.rounded:
        shared = np.maximum(1 - np.where(zeros, 0, given).sum(axis=1), told.unit / 2) / np.maximum(zeros.sum(axis=1), 1)
        floor = np.minimum(floor, np.log(shared))
    logs[zeros] = np.broadcast_to(floor[:, None], zeros.shape)[zeros]
    return logs, int(zeros.sum())


def shared_margins(probabilities: NDArray[np.floating], labels: NDArray[np.int64], unit: float) -> Floats:
    """Take margins of rounded probabilities or of shares of votes by the label's own alone, so that equal ones tie.

    They are ``log p - log(1 - p)``, ``(N,)``; what is 0 or 1 is told as half a unit from there.
    """
    steps = np.rint(np.clip(probabilities.astype(np.float64), 0, 1) / unit)
    whole = round(1 / unit)
    if steps.shape[1] == 1:
        steps = np.concatenate([whole - steps, steps], axis=1)
    own = steps[np.arange(len(labels)), labels]
    return np.asarray(np.log(np.maximum(own, 0.5)) - np.log(np.maximum(whole - own, 0.5)))


def check_probabilities(probabilities: NDArray[np.floating], told: Resolution, name: str) -> None:
    """Check that one model's numbers ``(N, C)``, or ``(N, 1)`` of class 1 of two, are probabilities."""
    sums = probabilities.sum(axis=1, dtype=np.float64)
    classes = probabilities.shape[1]
    wrong = ~((probabilities >= 0) & (probabilities <= 1 + SLACK))
    if wrong.any():
        record = int(np.argmax(wrong.any(axis=1)))
        value = probabilities[record][wrong[record]][0]
        total = f", a row that sums to {sums[record]:.6g} and not to 1" if classes > 1 else ""
        raise InputError(
            f"{name}: expected numbers from 0 to 1, got {value:.6g} for record {record}{total}: logits are "
            "given as logits, percentages divided by 100, counts by their sum"
        )
    off = np.abs(sums - 1)
    far = off > max(SLACK, told.unit * classes / 2)
    if classes > 1 and far.any():
        record = int(off.argmax())
        most = int((probabilities[far] > 0).sum(axis=1).max())
        why = (
            "one sigmoid a class makes none (and multi-label models are not supported): give the logits, from before it"
        )
        if most < classes and (sums[far] < 1).all():
            why = (
                f"at most {most} of {classes} numbers of such a row are above 0, as where the largest alone were kept: "
                "give all of them, or, if no more is known, share what is missing of 1 evenly among the others"
            )
        raise InputError(
            f"{name}: expected rows that sum to 1, as after a softmax, got {sums[record]:.6g} for record {record}: "
            + why
        )


def clipped_words(count: int, of: int, told: Resolution) -> str:
    """Say that probabilities were too small, or too near to one, to be told."""
    return (
        f"{count:,} of {of:,} probabilities are too near to 0 or 1 to be told (steps of {told.unit:.2g} "
        f"near 1, and of {told.least:.2g} near 0), and are taken as half a step from there: how sure the models really "
        "were is not known, and what attacks find in it may be more or less than there is."
    )


def _half(number: float) -> float:
    """Return the logarithm of half a number, which may itself be too small for float64."""
    return float(np.log(number) - np.log(2))


def _inside(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Leave out zeros and ones, which every type holds."""
    return values[(values > 0) & (values < 1)]


def _type(inside: Sequence[NDArray[np.floating]]) -> tuple[int, int]:
    """Find the coarsest type that holds all numbers."""
    return next((one for one in TYPES.values() if all(_holds(*one, values) for values in inside)), TYPES["float64"])


def _holds(digits: int, smallest: int, values: NDArray[np.floating]) -> bool:
    scaled = np.frexp(values.astype(np.float64))[0] * 2.0**digits
    return bool(values.min() >= 2.0**smallest and (scaled == np.rint(scaled)).all())


def _step(inside: Sequence[NDArray[np.floating]], unit: float, most: int = 6) -> float | None:
    """Find the largest step, of so many digits at most, that all numbers are whole multiples of."""
    stride = max(1, sum(map(len, inside)) // SAMPLE)
    sample = np.unique(np.concatenate([values[::stride] for values in inside]).astype(np.float64))
    for steps in _candidates(sample, most):
        if steps * unit <= 1 and all(_multiples(values, steps, unit) for values in (sample, *inside)):
            return 1.0 / steps
    return None


def _step_near_one(inside: Sequence[NDArray[np.floating]], unit: float) -> float:
    """Find how finely numbers near one are told: by the type, or coarser where they were printed with k digits."""
    near = [one for one in (values[values > 0.5] for values in inside) if len(one)]
    if sum(map(len, near)) < TELLING:
        return unit
    return max(_step(near, unit, MOST_DIGITS) or unit, unit)


def _candidates(sample: Floats, most: int) -> Iterator[int]:
    """Guess into how many steps the way from zero to one is divided."""
    gaps = np.diff(sample, prepend=0.0, append=1.0)
    nearest = float(gaps[gaps > 1 / MOST_STEPS].min(initial=1.0))  # Closer ones differ by rounding errors.
    yield from sorted({round(1 / nearest), *(10**digits for digits in range(1, most + 1))})


def _multiples(values: NDArray[np.floating], steps: int, unit: float) -> bool:
    """Tell whether all numbers are multiples of a step: as nearly as their type tells, where that is telling."""
    scaled, error = values.astype(np.float64) * steps, steps * unit
    near = np.abs(scaled - np.rint(scaled)) <= 1e-6 + (error if error < 0.07 else 0)
    residues = (scaled < 0.5) & (scaled > 8 * error)  # Smaller ones are rounding errors of a difference that is zero.
    return bool(near.all()) and not residues.any()
