"""One target's records in order of score: sorted once, for all that is counted above or below a score.

Equal scores stand in the order of the records.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.arrays import Bools, Floats, Ints


def parted(values: NDArray[Any], chosen: Bools) -> tuple[NDArray[Any], NDArray[Any]]:
    """Divide values ``(N,)`` into those chosen and the others; by numbers, in a quarter of the time of booleans."""
    return values.take(np.flatnonzero(chosen)), values.take(np.flatnonzero(~chosen))


@dataclass(frozen=True, eq=False)
class Ranked:
    """N records, the highest score first: their ids, scores, and which are members."""

    order: Ints
    scores: Floats
    members: Bools

    @classmethod
    def of(cls, scores: Floats, members: Bools) -> "Ranked":
        """Sort the scores ``(N,)`` of one target."""
        order = np.argsort(-scores)
        falling = scores[order]
        if (falling[1:] == falling[:-1]).any():  # Sorts differ between machines in how they leave equal scores.
            group = np.cumsum(np.append(np.False_, falling[1:] != falling[:-1]))
            order = np.sort(group << 32 | order) & 0xFFFFFFFF
        return cls(order, falling, members[order])

    @cached_property
    def ends(self) -> Ints:
        """Where each group of equal scores ends: the place after its last record ``(V,)``."""
        return np.flatnonzero(np.append(self.scores[1:] != self.scores[:-1], np.True_)) + 1

    @cached_property
    def found(self) -> Ints:
        """How many members there are among the first records, from none of them to all ``(N + 1,)``."""
        return np.concatenate([[0], np.cumsum(self.members)])

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """Number of members and of non-members."""
        return int(self.found[-1]), len(self.order) - int(self.found[-1])

    def at_least(self, threshold: float) -> tuple[int, int]:
        """Count the members and the non-members whose score is at or above a threshold."""
        last = len(self.scores) - int(np.searchsorted(self.scores[::-1], threshold, side="left"))
        return int(self.found[last]), last - int(self.found[last])

    @cached_property
    def beaten(self) -> tuple[tuple[Floats, Ints], tuple[Floats, Ints]]:
        """How many of the other kind lie below, an equal one half; rising, and how often that is so.

        Of members, and of non-members ``(V,)`` each.
        """
        hits = self.found[self.ends]
        misses = self.ends - hits
        own = [np.diff(one, prepend=0) for one in (hits, misses)]
        below = [size - one + tied / 2 for size, one, tied in zip(self.sizes, (hits, misses), own, strict=True)]
        return (below[1][::-1], own[0][::-1]), (below[0][::-1], own[1][::-1])

    def auc(self) -> float:
        """Compute the probability that a member scores above a non-member, ties half, from ranks."""
        (below, times), _ = self.beaten
        return float((below * times).sum() / (self.sizes[0] * self.sizes[1]))

    def delong(self) -> tuple[float, float]:
        """Compute the AUC and its variance; see `intervals.delong`."""
        (m, n), (inside, outside) = self.sizes, self.beaten
        # The structural components V10 (a member's share of non-members below it) and V01, in their order.
        v10, v01 = np.repeat(*inside) / n, 1 - np.repeat(*outside) / m
        area = float(v10.mean())
        if min(m, n) < 2:
            return area, area * (1 - area) / min(m, n)
        return area, float(v10.var(ddof=1) / m + v01.var(ddof=1) / n)
