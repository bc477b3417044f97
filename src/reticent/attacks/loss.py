"""The loss attack: the smaller the cross-entropy of a record, the more likely it is a member.

Paper: Yeom et al. (2018), "Privacy risk in machine learning", section 3. Their threshold is the mean training loss; it
changes no ranking, so the score is the negative loss itself. The ranking equals that of `confidence` with a global
threshold, down to losses that a number cannot hold (margins beyond 700).
"""

from typing import ClassVar

import numpy as np

from reticent import scratch, threads
from reticent.attacks.base import AttackEntry, Problem
from reticent.signals.matrix import Floats, log_probability
from reticent.spec import Spec


class Loss(Spec):
    """Loss attack; it has no options."""

    method: ClassVar[str] = "loss"


def score(spec: Loss, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by its negative cross-entropy.

    Scores are in nats, zero or below.

    Cost: O(T N).
    """
    scores = scratch.zeros(problem.shape)

    def scored(block: slice) -> None:
        scores[:, block] = log_probability(problem.signals.plain(block, problem.targets))
        scratch.release(scores)

    threads.each(scored, problem.signals.blocks(2 * problem.signals.queries), scores.size, step="scores")
    return scores


ENTRY = AttackEntry(
    spec=Loss,
    score=score,
    summary="Ranks records by their cross-entropy, smallest first.",
    paper="Yeom et al. (2018), Privacy risk in machine learning: analyzing the connection to overfitting",
    access="margins",
)
