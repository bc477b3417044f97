"""How often one group's values are larger than another's: the Mann-Whitney effect, and the distance of Kolmogorov."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BLOCK = 2**18
"""Numbers of a block of replicates."""


class Ordered:
    """Values of two groups, sorted once, so that they can be weighed many times."""

    def __init__(self, values: Floats, larger: NDArray[np.bool_]) -> None:
        """Sort."""
        order = np.argsort(values, kind="stable")
        self._group, self._others = order[larger[order]], order[~larger[order]]
        of_group, of_others = values[self._group], values[self._others]
        # How many of the others lie below each of the group, and how many do not lie above it.
        self._below = np.searchsorted(of_others, of_group, "left")
        self._within = np.searchsorted(of_others, of_group, "right")
        self._tied = bool(np.any(self._below != self._within))

    def effect(self, weights: Floats) -> Floats:
        """Compute P(a value of the group > one of the others), ties half, under weights ``(R, N)``; else 0.5."""
        reached = np.zeros((len(weights), len(self._others) + 1))
        np.cumsum(weights[:, self._others], axis=1, out=reached[:, 1:])
        group = weights[:, self._group]
        below = reached[:, self._below]
        if self._tied:
            below = (below + reached[:, self._within]) / 2
        won = np.einsum("rn,rn->r", group, below)
        pairs = group.sum(axis=1) * reached[:, -1]
        found: Floats = np.divide(won, pairs, out=np.full(len(pairs), 0.5), where=pairs > 0)
        return found

    def ks(self) -> float:
        """Compute the largest distance of the two groups' distribution functions."""
        one, other = len(self._group), len(self._others)
        if not one or not other:
            return 0.0
        # The distance is largest at, or just before, a value of the group.
        before, at = np.searchsorted(self._below, self._below, "left"), np.arange(1, one + 1)
        at = np.searchsorted(self._within, self._within, "right") if self._tied else at
        gaps = np.concatenate([at / one - self._within / other, before / one - self._below / other])
        return float(np.max(np.abs(gaps)))


def effects(
    runs: Sequence[tuple[Floats, NDArray[np.bool_]]],
    *,
    replicates: int,
    confidence: float,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats]:
    """Compute the effect of each stage in each run ``(runs, S)``, limits of its mean ``(2, S)``, and KS ``(runs, S)``.

    A replicate draws records with replacement, the same draw in every run, so that a record's part in several runs is
    not taken for several records. The runs themselves, that is seeds and halves, are taken as they are.
    """
    ordered = [[Ordered(row, larger) for row in values] for values, larger in runs]
    stages, records = runs[0][0].shape
    single = np.ones((1, records))
    found = np.array([[one.effect(single)[0] for one in run] for run in ordered])
    drawn = np.empty((replicates, stages))
    for rows, weights in _weights(replicates, records, rng):
        for stage in range(stages):
            drawn[rows, stage] = np.mean([run[stage].effect(weights) for run in ordered], axis=0)
    limits = np.quantile(drawn, ((1 - confidence) / 2, (1 + confidence) / 2), axis=0)
    return found, limits, np.array([[one.ks() for one in run] for run in ordered])


def _weights(replicates: int, records: int, rng: np.random.Generator) -> Iterator[tuple[slice, NDArray[Any]]]:
    size = max(1, BLOCK // records)
    for start in range(0, replicates, size):
        rows = slice(start, min(start + size, replicates))
        draws = [
            np.bincount(rng.integers(0, records, records), minlength=records) for _ in range(rows.stop - rows.start)
        ]
        yield rows, np.array(draws, dtype=np.float64)
