"""Who guesses on many records of one run: the highest scores are guessed to be members, the lowest not to be."""

from dataclasses import dataclass

import numpy as np

from reticent.arrays import Floats
from reticent.auditing.epsilon.base import Groups
from reticent.auditing.epsilon.rank_thresholds import ranks
from reticent.errors import InputError

RATIO = 2.0
"""From one number of guesses to the next."""
FAR = 6.0
"""Standard deviations from one half, at which a share of members is no coin's."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """C ways to guess: ``(C,)`` scores from which a record is guessed to be a member, or up to which it is not."""

    high: Floats
    low: Floats

    def __getitem__(self, place: int) -> "Cuts":
        return Cuts(self.high[place : place + 1], self.low[place : place + 1])

    def count(self, groups: Groups) -> tuple[Floats, Floats]:
        """Count the right guesses and all guesses."""
        found, false = groups.at_least(self.high)
        missed = np.searchsorted(groups.members, self.low, side="right")
        cleared = np.searchsorted(groups.non_members, self.low, side="right")
        return np.asarray(found + cleared, float), np.asarray(found + false + missed + cleared, float)


def balanced(members: int, records: int) -> bool:
    """Tell whether so many members can come from fair coins: they are within `FAR` standard deviations of one half."""
    return bool(abs(members - records / 2) <= FAR * records**0.5 / 2)


def check_balanced(groups: Groups, method: str) -> None:
    """Refuse records whose membership was not drawn by fair coins."""
    if not balanced(len(groups.members), len(groups)):
        raise InputError(
            f"members: the method {method!r} needs records that are members with probability 1/2 each, "
            f"got {len(groups.members)} members of {len(groups)}; use 'all-thresholds' or 'split'"
        )


def cuts(groups: Groups) -> Cuts:
    """Guess the k highest as members, the k lowest as non-members, or both, for k = 1, 2, 4, ...; ties all together."""
    pooled = np.sort(np.concatenate([groups.members, groups.non_members]))
    count = ranks(len(pooled), RATIO)
    high, low = pooled[len(pooled) - count], pooled[count - 1]
    never = np.full(len(count), np.inf)
    apart = np.where(low < high, low, -np.inf)
    return Cuts(np.concatenate([high, never, high]), np.concatenate([-never, low, apart]))
