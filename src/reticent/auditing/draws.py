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
        models = len(membership)
        _, codes = np.unique(np.packbits(membership, axis=1), axis=0, return_inverse=True)
        codes = np.where(divided(membership), codes.reshape(-1), models + np.arange(models))
        _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
        codes = np.argsort(np.argsort(first))[codes]  # In the order in which they come.
        rows = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[rows], np.arange(len(first)))
        first = rows[starts]
        own = membership if len(first) == models else membership[first]
        drawn = np.flatnonzero(divided(own))
        return cls(own, first, rows, starts, drawn, log_odds(own[drawn]))

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


def log_odds(membership: Bools) -> Floats:
    """Compute the logarithm of each model's odds of holding a record ``(D,)``, with mean 0.

    Of records that some hold and others do not. 0 for all where Cochran's Q (1950) does not show that their numbers
    differ; records that are always in the same models, such as those of a person, count as one in it.
    """
    models, none = len(membership), np.zeros(len(membership))
    holders = membership.sum(axis=0)
    told = (holders > 0) & (holders < models)
    held, holders = membership[:, told].sum(axis=1), holders[told]
    if models < 2 or not told.any():
        return none
    spread = float((holders * (models - holders)).sum()) / models / (models - 1)
    excess = float(((held - held.mean()) ** 2).sum()) / spread
    if excess <= chi2.isf(LEVEL, models - 1) * together(membership[:, told]):
        return none
    share = np.clip(held / len(holders), 0.5 / len(holders), 1 - 0.5 / len(holders))
    odds = np.log(share) - np.log1p(-share)
    return np.asarray(odds - odds.mean())
