"""From distances to a finding: the effect at each stage with its interval, and the rule for the first risky one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray

from reticent.findings.training import OnsetFacts, StageEffect
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
    """One pair of networks: their distances ``(S, N)``, and which records only the one on all has seen ``(N,)``."""

    distances: Floats
    one: NDArray[np.bool_]


def judged(
    names: Sequence[str],
    sizes: Sequence[int],
    contrasts: Sequence[Contrast],
    options: Layers,
    rng: np.random.Generator,
) -> OnsetFacts:
    """Turn distances into an onset.

    The effect is ``U_s = P(d_s(x2) > d_s(x1))``, ties half, with x1 seen by both networks and x2 by one, averaged over
    the contrasts. The onset is the first stage s with ``U_t >= 1/2 + margin`` and the interval of U_t above 1/2 for
    every t from s on. It goes by the size of the effect: with many records, any difference is significant.
    """
    runs = [(one.distances, one.one) for one in contrasts]
    each, limits, ks = effects(runs, replicates=options.replicates, confidence=options.confidence, rng=rng)
    stages = tuple(
        StageEffect(
            name=name,
            size=size,
            effect=(mean := float(each[:, i].mean())),
            low=low,
            high=high,
            ks=float(ks[:, i].mean()),
            runs=tuple(each[:, i].tolist()),
            above=mean >= 0.5 + options.margin and low > 0.5,
        )
        for i, (name, size, low, high) in enumerate(zip(names, sizes, *limits.tolist(), strict=True))
    )
    index = first([stage.above for stage in stages])
    name = None if index is None else stages[index].name
    return OnsetFacts(stages=stages, index=index, margin=options.margin, confidence=options.confidence, name=name)


def first(above: Sequence[bool]) -> int | None:
    """Find the first stage from which on all are above."""
    below = [index for index, one in enumerate(above) if not one]
    start = below[-1] + 1 if below else 0
    return start if start < len(above) else None
