"""Draws: which sets of models chance could have trained on a record, and how likely each.

Models of nearly the same members, such as checkpoints of one run, are one draw: they say alike, and chance put a record
into all of them at once. So are models of nearly the opposite members, as where models are trained in complementary
pairs: chance put a record into one of the two. A model that holds more of the records than another is likelier to hold
each of them. Where it is surer of all of them, too, records would else seem to leak that do not.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit
from scipy.stats import chi2

from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.shares import together
from reticent.auditing.training_sets import grouped, near
from reticent.data.membership import Membership, divided

LEVEL = 1e-4
"""How often models that hold equally many records but for chance are taken to differ."""
ROUNDS, NEAR = 200, 1e-6
"""Of the fit of odds, at most, and by how much the last one moves them."""


@dataclass(frozen=True, eq=False)
class Draws:
    """D draws of M models.

    Attributes:
        matrix: who was trained on what ``(M, N)``.
        first: the first model of each draw, ascending ``(D,)``.
        of: each model's draw ``(M,)``.
        opposite: whether the model holds what the first one of its draw does not ``(M,)``.
        drawn: draws that hold some of the records and not others; each other model is one by itself ``(d,)``.
        log_odds: of the drawn ones, how much likelier each is to hold a record: the logarithm of the odds, with mean 0;
            0 for all where their numbers of records differ by no more than chance ``(d,)``.
    """

    matrix: Bools
    first: Ints
    of: Ints
    opposite: Bools
    drawn: Ints
    log_odds: Floats

    @classmethod
    def make(cls, membership: Membership, by_unit: Membership | None = None) -> "Draws":
        """Find the draws of models.

        Chance drew units where these are audited: `by_unit` says which models hold them. Cost: that of
        `Membership.shared`.
        """
        found = near(membership if by_unit is None else by_unit)
        first, of = grouped(found)
        opposite = found[np.arange(len(of)), first[of]] < 0
        drawn = np.flatnonzero(divided(membership.matrix[first]))
        odds = log_odds(_rows(membership.matrix, first[drawn]))
        return cls(membership.matrix, first, of, opposite, drawn, odds)

    @property
    def repeated(self) -> bool:
        """Whether some models are not a draw by themselves."""
        return len(self.of) > len(self.first)

    @property
    def membership(self) -> Bools:
        """Which draws were trained on which records, as their first models were: ``(D, N)``."""
        return _rows(self.matrix, self.first)

    @property
    def drawn_membership(self) -> Bools:
        """The same of those that were drawn ``(d, N)``."""
        return _rows(self.matrix, self.first[self.drawn])

    @property
    def by_draw(self) -> Bools:
        """What `matrix` would be if all models of a draw held what the first one does, or the opposite: ``(M, N)``."""
        return self.matrix[self.first][self.of] ^ self.opposite[:, None] if self.repeated else self.matrix

    def margins(self, margins: Floats, records: slice | Ints) -> Floats:
        """Make of models' margins of some records ``(M, n)`` those of the draws ``(D, n)``.

        The mean over the models of a draw, less that over its opposite ones; of a record on which some of them are not
        as the rest, over the others. Where there are opposite ones, margins are taken from their mean of a record.
        """
        if not self.repeated:
            return margins
        if self.opposite.any():
            margins = margins - margins.mean(axis=0)
        inside = self.matrix[:, records]
        alike = (inside ^ self.opposite[:, None]) == inside[self.first][self.of]
        mean = self._mean(margins, alike & ~self.opposite[:, None])
        return mean - self._mean(margins, alike & self.opposite[:, None])

    def count(self, chosen: Bools) -> Ints:
        """Count the draws of which some model is chosen ``(M, n)``, for each record ``(n,)``."""
        order, starts = self._order
        return np.asarray(np.logical_or.reduceat(chosen[order], starts, axis=0).sum(axis=0, dtype=np.int64))

    def apart(self, targets: Ints, references: Ints) -> list[tuple[Ints, Bools]]:
        """Divide targets into parts, each compared with one model of nearly the same members: a target with itself.

        A copy of a target among its references would be without the record exactly where the target is.

        Args:
            targets: rows of the audited models ``(T,)``.
            references: rows of models that they are compared with ``(R,)``.

        Returns:
            For each part where in `targets` it is, and which models are its references ``(M,)``; one part where no
            references are copies. No part if a target that is no reference has a copy among them.
        """
        copies = 2 * self.of + self.opposite
        references = np.sort(references)
        outside = ~np.isin(targets, references)
        if np.isin(copies[targets[outside]], copies[references]).any():
            return []
        order = np.argsort(copies[references], kind="stable")
        _, starts, counts = np.unique(copies[references][order], return_index=True, return_counts=True)
        turn = np.zeros(len(copies), dtype=np.int64)
        turn[references[order]] = np.arange(len(order)) - np.repeat(starts, counts)
        parts = []
        for one in np.unique(turn[targets]).tolist():
            among = np.zeros(len(copies), dtype=np.bool_)
            among[references[order][starts + np.minimum(one, counts - 1)]] = True
            parts.append((np.flatnonzero(turn[targets] == one), among))
        return parts

    @property
    def _order(self) -> tuple[Ints, Ints]:
        """The models by draw, and where each draw begins."""
        order = np.argsort(self.of, kind="stable")
        return order, np.searchsorted(self.of[order], np.arange(len(self.first)))

    def _mean(self, margins: Floats, chosen: Bools) -> Floats:
        """Average over the chosen models of each draw; 0 where there are none."""
        order, starts = self._order
        total = np.add.reduceat(np.where(chosen, margins, 0.0)[order], starts, axis=0)
        return np.asarray(total / np.maximum(np.add.reduceat(chosen[order], starts, axis=0, dtype=np.int64), 1))


def _rows(matrix: Bools, rows: Ints) -> Bools:
    return matrix if len(rows) == len(matrix) else matrix[rows]


def log_odds(membership: Bools) -> Floats:
    """Compute the logarithm of each model's odds of holding a record ``(D,)``, with mean 0.

    Of records that some hold and others do not. 0 for all where Cochran's Q (1950) does not show that their numbers
    differ; records that are always in the same models, such as those of a person, count as one in it. The odds are
    those of Rasch's model, given how many models hold each record, so that records may be in different shares of the
    models; joint maximum likelihood with the usual correction, (D - 1) / D. Cost: O(D^2) a round.
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
    sizes, records = np.unique(holders[(holders > 0) & (holders < models)], return_counts=True)
    seen = logit(np.clip(held / told, 0.5 / told, 1 - 0.5 / told))
    odds, level = np.asarray(seen - seen.mean()), logit(sizes / models)
    for _ in range(ROUNDS):
        level += logit(sizes / models) - logit(expit(level[:, None] + odds).mean(axis=1))
        step = seen - logit(records @ expit(level[:, None] + odds) / told)
        odds += step - step.mean()
        if np.abs(step - step.mean()).max() <= NEAR:
            break
    return np.asarray(odds * (models - 1) / models)
