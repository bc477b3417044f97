"""Training sets: which models have nearly the same members, such as checkpoints of one run, and what they count for.

Models of one training set say alike, so that their number says little of what other models would say.
"""

from dataclasses import dataclass

import numpy as np

from reticent.arrays import Bools, Floats, Ints
from reticent.data.membership import FAR, Membership, divided

SAMPLE = 2**12
"""Records by which models are compared that differ on some."""
SURELY = 0.9
"""Correlation of two rows from which they are nearly the same, or opposite, whatever the other rows are."""


@dataclass(frozen=True)
class TrainingSets:
    """What T models count for.

    Attributes:
        models: their number T.
        count: how many training sets they have.
        even: how many models of a training set each would say as much of a mean over all: ``T^2 / sum n^2`` for n
            models of each (Kish, 1965).
    """

    models: int
    count: int
    even: float

    @classmethod
    def of(cls, membership: Bools) -> "TrainingSets":
        """Count those of models ``(T, N)``."""
        sizes = np.bincount(training_sets(membership))
        return cls(len(membership), len(sizes), float(len(membership) ** 2 / (sizes**2).sum()))

    @classmethod
    def apart(cls, models: int) -> "TrainingSets":
        """Take each model for one of a training set of its own."""
        return cls(models, models, float(models))

    def by_models(self, spread: Floats) -> Floats:
        """Compute what other models add to the variance of a mean over all, from the variance between these.

        ``max(0, spread) / T (T - 1) / (D - 1)`` where D would say as much: models of one training set are taken to be
        wholly alike, so that the spread sees only that of D. 0 where there is one.
        """
        if self.count == 1:
            return np.zeros_like(spread)
        return np.asarray(np.maximum(0.0, spread) / self.models * ((self.models - 1) / (self.even - 1)))


def training_sets(membership: Bools) -> Ints:
    """Number the training set of each model, from 0: ``(T,)`` of membership ``(T, N)``.

    A model that holds none of the records, or all, has one of its own.
    """
    known, packed = divided(membership), np.packbits(membership, axis=1)
    rows = np.unique(packed, axis=0, return_inverse=True)[1].reshape(-1)
    sample = membership[:, :: -(-membership.shape[1] // SAMPLE)]
    return grouped(np.maximum(near(Membership(sample)), (rows[:, None] == rows) & known))[1]


def near(membership: Membership) -> Ints:
    """Tell which models have the same members, or nearly, 1, and which the opposite ones, or nearly, -1: ``(M, M)``.

    As `Membership.likeness` does, but that rows must be as like beyond what records in many models, or in few, make of
    all rows: after a mean over models, of which those that are like others share a vote, is taken from each record.
    Rows that are all but equal, or opposite, are so whatever the others are.
    """
    shared, like, correlation = membership.shared, membership.likeness, membership.correlation
    held, known = np.diagonal(shared), divided(membership.matrix)
    votes = 1 / np.maximum(1, (like != 0).sum(axis=1))
    votes /= votes.sum()
    mean, apart = shared @ votes, held - held @ votes
    rest = shared - mean - mean[:, None] + mean @ votes - np.outer(apart, apart) / membership.records
    deviation = np.sqrt(np.maximum(np.diagonal(rest), 0))
    found = np.where(like * rest > FAR * np.outer(deviation, deviation), like, 0)
    found[correlation > SURELY] = 1
    opposite = (shared == 0) & (held + held[:, None] == membership.records) & np.outer(known, known)
    found[opposite | (correlation < -SURELY) & (like < 0)] = -1
    np.fill_diagonal(found, 1)
    return found


def grouped(found: Ints) -> tuple[Ints, Ints]:
    """Put each model to the earliest that it is near, which is near no earlier one: these, and which is whose."""
    chosen: list[int] = []
    of = np.empty(len(found), dtype=np.int64)
    for model, row in enumerate(found):
        earlier = np.flatnonzero(row[chosen])
        if not len(earlier):
            chosen.append(model)
        of[model] = earlier[0] if len(earlier) else len(chosen) - 1
    return np.array(chosen), of
