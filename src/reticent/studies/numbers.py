"""A number of a study: of one seed, with its error over models and records; and the same over several seeds.

Seeds share the records of a data set, so their errors are not independent. Over seeds a number therefore has two
intervals, and is judged by the wider end of each side: the mean of the seeds' own limits, which holds however much the
seeds have in common, and from three seeds on Student's interval of the seeds' values, which holds whatever else varies.
An error that leaves out some of what varies (the networks, or the records) is no interval of its own: such a number
needs the seeds.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from reticent.auditing.bootstrap import MANY, NO_SPREAD, crossed_variance
from reticent.auditing.intervals import degenerate, tail
from reticent.errors import InputError
from reticent.findings.base import Interval
from reticent.findings.study import FEW, SeedsEstimate

Floats = NDArray[np.float64]
CONFIDENCE = 0.95
"""Of every interval that is shown."""


@dataclass(frozen=True)
class Estimate:
    """A number of one seed.

    Attributes:
        error: its standard error over models and records; 0 where it is not known.
        freedom: degrees of freedom of the error.
        partial: the error leaves out something that another seed would draw anew, networks or records.
    """

    value: float
    error: float = 0.0
    freedom: float = MANY
    partial: bool = False

    def limits(self, confidence: float = CONFIDENCE) -> Interval:
        """Bound the number by Student's interval."""
        alpha = tail(confidence)
        arm = -float(stdtrit(self.freedom, alpha) if self.freedom < MANY else ndtri(alpha)) * self.error
        return self.value - arm, self.value + arm

    @classmethod
    def over(cls, values: Iterable[float], *, partial: bool = False) -> "Estimate":
        """Take the mean of values that are independent, such as one a seed.

        The models of one population are not: any two share about half of their members, and all share the records. Of
        these the error is but that over models as they are, so partial.
        """
        array = np.asarray(list(values), np.float64)
        if len(array) < 2:
            return cls(float(array.mean()), partial=partial)
        return cls(float(array.mean()), float(array.std(ddof=1)) / len(array) ** 0.5, len(array) - 1.0, partial)

    @classmethod
    def between(
        cls, value: float, low: float, high: float, confidence: float = CONFIDENCE, *, partial: bool = False
    ) -> "Estimate":
        """Take a number whose interval is known."""
        return cls(value, (high - low) / 2 / -float(ndtri(tail(confidence))), partial=partial)


@dataclass(frozen=True, eq=False)
class Replicated:
    """One statistic of T targets ``(T,)``, and what it is when records are drawn again ``(B, T)``.

    All measures of a seed take the same records in the same replicate. `counted` are the records behind a value.
    """

    observed: Floats
    values: Floats
    counted: int

    def estimate(self) -> Estimate:
        """Take the mean over targets."""
        return combined([(1.0, self)], low=0.0)


def combined(parts: Sequence[tuple[float, Replicated]], low: float = -1.0) -> Estimate:
    """Add measures up, each with a weight, target by target: a difference, or a difference of differences.

    What the measures share (which records are hard, which model got which half) cancels out before the error is taken.
    """
    observed = np.sum([weight * one.observed for weight, one in parts], axis=0)
    values = np.sum([weight * one.values for weight, one in parts], axis=0)
    value, found = float(observed.mean()), crossed_variance(values, observed)
    if found.total > NO_SPREAD:
        return Estimate(value, found.total**0.5, found.freedom)
    if not low <= value <= 1:
        return Estimate(value)
    ends = degenerate((value - low) / (1 - low), min(one.counted for _, one in parts), CONFIDENCE)
    return Estimate.between(value, *(low + (1 - low) * end for end in ends))


@dataclass(frozen=True)
class Pooled:
    """A number over seeds, one estimate each."""

    each: tuple[Estimate, ...]

    def __post_init__(self) -> None:
        if not self.each:
            raise InputError("expected a number of at least one seed, got none")

    @property
    def value(self) -> float:
        """Mean over seeds."""
        return math.fsum(one.value for one in self.each) / len(self.each)

    @property
    def bounded(self) -> bool:
        """Whether there is an interval: the whole error of each seed, or seeds enough to see their spread."""
        return len(self.each) >= FEW or all(one.error > 0 and not one.partial for one in self.each)

    def within(self, confidence: float = CONFIDENCE) -> Interval:
        """Bound the mean as if all seeds erred together: by the mean of their limits."""
        low, high = np.mean([one.limits(confidence) for one in self.each], axis=0)
        return float(low), float(high)

    def over_seeds(self, confidence: float = CONFIDENCE) -> Interval | None:
        """Bound the mean by the spread of the seeds' values alone (Student)."""
        if len(self.each) < FEW:
            return None
        return Estimate.over(one.value for one in self.each).limits(confidence)

    def limits(self, confidence: float = CONFIDENCE) -> Interval:
        """Bound the mean by the wider end of both intervals; by this a claim is judged."""
        within, over = self.within(confidence), self.over_seeds(confidence)
        return within if over is None else (min(within[0], over[0]), max(within[1], over[1]))

    def finding(self) -> SeedsEstimate:
        """State it for the document."""
        return SeedsEstimate(
            mean=self.value,
            interval=self.limits() if self.bounded else None,
            within=self.within() if all(one.error > 0 for one in self.each) else None,
            over_seeds=self.over_seeds(),
            seeds=tuple(one.value for one in self.each),
        )
