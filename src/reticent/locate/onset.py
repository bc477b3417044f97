"""From distances to a finding: the effect at each stage with its interval, and the rule for the first risky one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray

from reticent.locate.mann_whitney import effects
from reticent.spec import Spec

Floats = NDArray[np.float64]


class Layers(Spec):
    """Options of finding where in a network membership begins to show."""

    stages: tuple[str, ...] = ()
    """Module names or patterns, one a stage in forward order, several of one stage separated by commas; by default the
    network's own stages."""
    seeds: Annotated[int, Ge(1)] = 2
    """How often all is repeated, with other initial weights, other order and other halves."""
    swap: bool = True
    """Also train on the other half, with the roles of the halves exchanged."""
    equalise: Literal["epochs", "steps"] = "epochs"
    """What the network on half of the records has as many of as the one on all: epochs (so half as many steps), as in
    the paper, or steps of the optimizer (so twice as many epochs)."""
    margin: Annotated[float, Ge(0), Lt(0.5)] = 0.05
    """By so much the effect must exceed one half, at a risky stage and at every later one."""
    replicates: Annotated[int, Ge(100)] = 1000
    """Of the bootstrap over records."""
    confidence: Annotated[float, Gt(0), Lt(1)] = 0.95
    """Of the intervals; the lower limit must exceed one half, too."""


@dataclass(frozen=True, eq=False)
class Contrast:
    """One pair of networks, one on all records and one on half of them.

    Attributes:
        distances: of their feature maps, ``(S, N)``.
        one: ``(N,)``: records that only the one on all has seen.
    """

    distances: Floats
    one: NDArray[np.bool_]


@dataclass(frozen=True)
class Evidence:
    """What is known of one stage.

    Attributes:
        name: of the stage.
        size: how many numbers its feature map has, for one record.
        effect: chance that a record seen by one network lies farther apart than one seen by both; 0.5 is no trace.
        low: lower confidence limit of it, over records.
        high: upper confidence limit.
        ks: Kolmogorov's distance between the two groups' distributions; secondary.
        runs: the effect in each contrast: repetitions, and in each the halves.
        above: the effect exceeds one half by the margin, and its lower limit exceeds one half.
    """

    name: str
    size: int
    effect: float
    low: float
    high: float
    ks: float
    runs: tuple[float, ...]
    above: bool


@dataclass(frozen=True)
class Onset:
    """The first stage from which on membership shows, with its evidence.

    Attributes:
        stages: the evidence of each stage, in forward order.
        index: of the first risky stage, from 0; None where there is none.
        margin: the rule's.
        confidence: of the intervals.
    """

    stages: tuple[Evidence, ...]
    index: int | None
    margin: float
    confidence: float

    @property
    def name(self) -> str | None:
        """Name of the first risky stage; None where there is none."""
        return None if self.index is None else self.stages[self.index].name

    @property
    def safe(self) -> tuple[str, ...]:
        """Names of the stages before the first risky one; all of them where there is none."""
        return tuple(stage.name for stage in self.stages[: self.index])

    @property
    def risky(self) -> tuple[str, ...]:
        """Names of the first risky stage and all later ones."""
        return () if self.index is None else tuple(stage.name for stage in self.stages[self.index :])


def judged(
    names: Sequence[str],
    sizes: Sequence[int],
    contrasts: Sequence[Contrast],
    options: Layers,
    rng: np.random.Generator,
) -> Onset:
    """Turn distances into an onset.

    The effect is ``U_s = P(d_s(x2) > d_s(x1))``, ties half, with x1 seen by both networks and x2 by one, averaged over
    the contrasts. The onset is the first stage s with ``U_t >= 1/2 + margin`` and the interval of U_t above 1/2 for
    every t from s on. It goes by the size of the effect: with many records, any difference is significant.
    """
    runs = [(one.distances, one.one) for one in contrasts]
    each, limits, ks = effects(runs, replicates=options.replicates, confidence=options.confidence, rng=rng)
    evidence = []
    for i, (name, size, low, high) in enumerate(zip(names, sizes, *limits.tolist(), strict=True)):
        mean, apart = float(each[:, i].mean()), float(ks[:, i].mean())
        above = mean >= 0.5 + options.margin and low > 0.5
        evidence.append(Evidence(name, size, mean, low, high, apart, tuple(each[:, i].tolist()), above))
    return Onset(tuple(evidence), first([stage.above for stage in evidence]), options.margin, options.confidence)


def first(above: Sequence[bool]) -> int | None:
    """Find the first stage from which on all are above."""
    below = [index for index, one in enumerate(above) if not one]
    start = below[-1] + 1 if below else 0
    return start if start < len(above) else None
