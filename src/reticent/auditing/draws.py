"""Draws: which sets of models chance could have trained on a record, and how likely each.

Models of the same members, such as checkpoints of one run, are one draw, of which the mean margin is looked at: they
say alike, and chance put a record into all of them at once. A model that holds more of the records than another is
likelier to hold each of them. Where it is surer of all of them, too, records would else seem to leak that do not.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.shares import together
from reticent.data.membership import divided

LEVEL = 1e-4
"""How often models that hold equally many records but for chance are taken to differ."""


@dataclass(frozen=True, eq=False)
class Draws:
    """D draws of M models.

    Attributes:
        membership: booleans ``(D, N)``.
        first: the first model of each, ascending ``(D,)``.
        rows: the models, ordered by their draw ``(M,)``.
        starts: where in `rows` each draw begins ``(D,)``.
        drawn: draws that hold some of the records and not others; each other model is one by itself.
        log_odds: of the drawn ones, how much likelier each is to hold a record: the logarithm of the odds, with mean 0;
            0 for all where their numbers of records differ by no more than chance.
    """

    membership: Bools
    first: Ints
    rows: Ints
    starts: Ints
    drawn: Ints
    log_odds: Floats

    @classmethod
    def of(cls, membership: Bools) -> "Draws":
        """Find the draws of models ``(M, N)``. Cost: a sort of M rows of N bits."""
        models, known, draw = len(membership), divided(membership), _draws(membership)
        rows = np.argsort(draw, kind="stable")
        first, starts = np.unique(draw[rows], return_index=True)
        own = membership if len(first) == models else membership[first]
        drawn = np.flatnonzero(known[first])
        return cls(own, first, rows, starts, drawn, log_odds(own if len(drawn) == len(own) else own[drawn]))

    @property
    def repeated(self) -> bool:
        """Whether some models have the same members."""
        return len(self.rows) > len(self.first)

    def mean(self, margins: Floats) -> Floats:
        """Average the margins ``(M, n)`` over the models of each draw, ``(D, n)``."""
        if not self.repeated:
            return margins
        counts = np.diff(np.append(self.starts, len(self.rows)))
        return np.asarray(np.add.reduceat(margins[self.rows], self.starts, axis=0) / counts[:, None])


def apart(membership: Bools, targets: Ints, references: Ints) -> list[tuple[Ints, Bools]]:
    """Divide targets into parts that are each compared with one model a membership, a target being that of its own.

    A copy of a target's membership among its references would be without the record exactly where the target is.

    Args:
        membership: booleans ``(M, N)``.
        targets: rows of the audited models ``(T,)``.
        references: rows of models that they are compared with ``(R,)``.

    Returns:
        For each part where in `targets` it is, and which models are its references ``(M,)``; one part where no two
        references have the same members. No part if a target that is no reference has a copy among them.
    """
    draw = _draws(membership)
    references = np.sort(references)
    outside = ~np.isin(targets, references)
    if np.isin(draw[targets[outside]], draw[references]).any():
        return []
    order = np.argsort(draw[references], kind="stable")
    _, starts, counts = np.unique(draw[references][order], return_index=True, return_counts=True)
    turn = np.zeros(len(membership), dtype=np.int64)
    turn[references[order]] = np.arange(len(order)) - np.repeat(starts, counts)
    parts = []
    for one in np.unique(turn[targets]).tolist():
        among = np.zeros(len(membership), dtype=np.bool_)
        among[references[order][starts + np.minimum(one, counts - 1)]] = True
        parts.append((np.flatnonzero(turn[targets] == one), among))
    return parts


def _draws(membership: Bools) -> Ints:
    """Find for each model the first that has its members; one that holds none of the records, or all, is its own."""
    models = len(membership)
    _, codes = np.unique(np.packbits(membership, axis=1), axis=0, return_inverse=True)
    codes = np.where(divided(membership), codes.reshape(-1), models + np.arange(models))
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(first[codes])


def log_odds(membership: Bools) -> Floats:
    """Compute the logarithm of each model's odds of holding a record ``(D,)``, with mean 0.

    Of records that some hold and others do not. 0 for all where Cochran's Q (1950) does not show that their numbers
    differ; records that are always in the same models, such as those of a person, count as one in it.
    """
    models, equal = len(membership), np.zeros(len(membership))
    holders = membership.sum(axis=0)
    every, told = int((holders == models).sum()), int(((holders > 0) & (holders < models)).sum())
    if models < 2 or not told:
        return equal
    held = membership.sum(axis=1) - every
    excess = ((held - held.mean()) ** 2).sum() * models * (models - 1) / (holders * (models - holders)).sum()
    enough = chi2.isf(LEVEL, models - 1)
    if excess <= enough or excess <= enough * together(membership):
        return equal
    share = np.clip(held / told, 0.5 / told, 1 - 0.5 / told)
    odds = np.log(share) - np.log1p(-share)
    return np.asarray(odds - odds.mean())
