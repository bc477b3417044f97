"""The privacy risk score: how likely membership is, given a record's modified entropy and its class, from even odds.

Paper: Song and Mittal (2021), "Systematic evaluation of privacy risks of machine learning models", section 5. For each
class, histograms of the modified entropy under references that were trained on the record, and under those that were
not, over equal steps of its logarithm; the score is ``h_in / (h_in + h_out)`` of the record's bin. As released, there
are five bins, entropies are cut at 1e-10, and a bin that no reference's answer is in takes the score of the nearest
other one. Deviation: each record counts with as many IN as OUT references (`balance`), since a bin would otherwise tell
how many of its records the target was trained on.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from reticent.attacks.balance import Balance
from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.attacks.softmax import log_modified_entropy, log_probabilities
from reticent.signals.matrix import Floats
from reticent.spec import Spec

SMALLEST = float(np.log(1e-10))
"""Logarithm of the smallest modified entropy, as released."""
EVEN = 0.5
"""The score where a class has no references of one kind."""


class RiskScore(Spec):
    """Options of the privacy risk score."""

    method: ClassVar[str] = "risk-score"

    bins: Annotated[int, Ge(1)] = 5
    """Bins of each class's histograms."""


def score(spec: RiskScore, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by its probability of membership, from even odds.

    Scores are from 0 to 1; at most as many values for a target as classes times bins.

    Cost: O((R + T) N C) for the entropies, and O(T R N). Memory: 8 bytes a model and record.
    """
    models = np.union1d(problem.targets, problem.references)
    labels, values = problem.signals.labels, np.empty((len(models), problem.signals.records))
    for block, log_p in log_probabilities(problem.signals, models):
        values[:, block] = log_modified_entropy(log_p, labels[block])
    values = np.maximum(values, SMALLEST)
    targets = values[np.searchsorted(models, problem.targets)]
    references = values[np.searchsorted(models, problem.references)]
    balance, every = Balance(problem), slice(0, problem.signals.records)
    dropped, scores = balance.dropped(every, problem.inside), np.empty(problem.shape)
    for row, told in enumerate(targets):
        kept = balance.serving(row, every, problem.inside, dropped)
        for label in np.unique(labels):
            ids = np.flatnonzero(labels == label)
            inside, outside = (references[:, ids][mask[:, ids]] for mask in kept)
            known = len(inside) and len(outside)
            scores[row, ids] = Histograms.of(inside, outside, spec.bins).share_in(told[ids]) if known else EVEN
    return scores


@dataclass(frozen=True, eq=False)
class Histograms:
    """Histograms of logarithms of entropies, over equal steps from `low` on: shares of IN answers, from even odds."""

    low: float
    step: float
    share: Floats

    @classmethod
    def of(cls, inside: Floats, outside: Floats, bins: int) -> "Histograms":
        """Count the logarithms of IN and of OUT answers."""
        low = min(inside.min(), outside.min())
        step = (max(inside.max(), outside.max()) - low) / bins
        empty = cls(low, step, np.zeros(bins))
        h_in, h_out = (np.bincount(empty.places(one), minlength=bins) / len(one) for one in (inside, outside))
        known = np.flatnonzero(h_in + h_out)
        nearest = known[np.abs(np.arange(bins)[:, None] - known).argmin(axis=1)]
        return cls(low, step, (h_in / np.where(h_in + h_out, h_in + h_out, 1.0))[nearest])

    def places(self, values: Floats) -> NDArray[np.int64]:
        """Tell each value's bin; beyond the last one it is the last."""
        place = (values - self.low) / self.step if self.step else np.zeros_like(values)
        return np.clip(place, 0, len(self.share) - 1).astype(np.int64)

    def share_in(self, values: Floats) -> Floats:
        """Take the share of each value's bin."""
        return np.asarray(self.share[self.places(values)])


ENTRY = AttackEntry(
    spec=RiskScore,
    score=score,
    needs=lambda _: Needs(references_in=1, references_out=1),
    summary="Tells how likely membership is by the modified entropies of a class that references show.",
    paper="Song and Mittal (2021), Systematic evaluation of privacy risks of machine learning models",
    access="probabilities",
    usual=False,
)
