"""Attack-R: where a record's loss lies among its losses under models that were not trained on it.

Paper: Ye et al. (2022), "Enhanced membership inference attacks against machine learning models", the reference attack,
with the interpolation of its authors' tool (Privacy Meter): of K losses in their order, between 0 and 1000, the k-th
has the false-positive rate ``k / (K + 1)``, and what lies between two is interpolated; beyond both 1000 and all of them
it is 1. The score is one minus that of the record's loss. Deviation: all records keep equally many OUT references
(`balance`).

Losses are compared by their logarithms: beyond a margin of 745 a loss itself is zero to a computer, and all
such records would tie with their references.
"""

from typing import ClassVar

import numpy as np

from reticent.attacks import sides
from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.attacks.sides import Compared
from reticent.attacks.softmax import log_surprise
from reticent.signals.matrix import Floats, log_probability
from reticent.spec import Spec

LARGEST = float(np.log(1000.0))
"""Logarithm of the loss that stands for the largest, as released."""


class AttackR(Spec):
    """Attack-R; it has no options."""

    method: ClassVar[str] = "attack-r"


def score(spec: AttackR, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by one minus the interpolated share of OUT references that have a smaller loss.

    Scores are from 0 to 1.

    Cost: O(T R N log R): a sort for each target and record.
    """

    def rate(one: Compared) -> Floats:
        found = np.empty_like(one.target)
        for row, target in enumerate(one.target):
            references, margins = one.sides[0].serving(row) + one.shift, target + one.shift
            found[row] = 1 - rates(_log_losses(references), _log_losses(margins))
        return found

    return sides.averaged(problem, 1, rate, online=False)


def _log_losses(margins: Floats) -> Floats:
    """Compute the logarithms of losses; infinity of a margin of minus infinity."""
    return log_surprise(log_probability(margins), log_probability(-margins))


def rates(references: Floats, losses: Floats) -> Floats:
    """Interpolate the false-positive rate of losses ``(n,)`` among those of references ``(R, n)``; infinite: none.

    All are given by their logarithms.
    """
    count = np.isfinite(references).sum(axis=0)
    ordered = np.sort(np.concatenate([np.full((1, len(losses)), -np.inf), references]), axis=0)
    below = np.maximum((ordered < losses).sum(axis=0) - 1, 0)
    low = np.take_along_axis(ordered, below[None], axis=0)[0]
    high = np.take_along_axis(ordered, np.minimum(below + 1, count)[None], axis=0)[0]
    high = np.where(below < count, high, LARGEST)
    # Losses (loss - low) / (high - low), in units of the loss: none of them need be a number of its own.
    width = np.divide(np.expm1(low - losses), np.expm1(low - high), out=np.ones_like(losses), where=low < high)
    part = np.where(low < high, np.exp(np.minimum(losses - high, 0.0)) * width, 1.0)
    return np.asarray((below + np.minimum(part, 1.0)) / (count + 1))


ENTRY = AttackEntry(
    spec=AttackR,
    score=score,
    needs=lambda _: Needs(references_out=1),
    summary="Ranks records by where their loss lies among those under models not trained on them.",
    paper="Ye et al. (2022), Enhanced membership inference attacks against machine learning models",
    access="margins",
    strong=True,
    usual=False,
    claims=lambda _, scores: 1 - scores,
)
