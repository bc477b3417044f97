"""The confidence attack: the more probability the model gives to the label, the more likely a member.

Paper: Song and Mittal (2021), "Systematic evaluation of privacy risks of machine learning models", section 4.
Deviation: the value is the log-odds of the probability (the margin), which ranks alike and does not saturate at 1;
differences to a class's threshold are of log-odds.
"""

from typing import ClassVar

import numpy as np

from reticent.attacks import thresholds
from reticent.attacks.base import AttackEntry, Problem
from reticent.attacks.thresholds import Threshold
from reticent.signals.matrix import Floats
from reticent.spec import Spec


class Confidence(Spec):
    """Options of the confidence attack."""

    method: ClassVar[str] = "confidence"

    threshold: Threshold = "class-wise"
    """One threshold for all classes (then the ranking is that of `loss`), or one for each, learned on references."""


def score(spec: Confidence, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the log-odds of its label, less its class's threshold.

    Scores are in nats.

    Cost: O(T N); with class-wise thresholds that of `thresholds.score`, and 8 bytes a model and record.
    """
    signals = problem.signals
    blocks = signals.blocks(2 * signals.queries)
    return thresholds.score(
        problem, spec.threshold, lambda models: ((block, signals.plain(block, models)) for block in blocks)
    )


ENTRY = AttackEntry(
    spec=Confidence,
    score=score,
    needs=thresholds.needs,
    summary="Ranks records by the probability of their label, less a threshold of their class.",
    paper="Song and Mittal (2021), Systematic evaluation of privacy risks of machine learning models",
    access="margins",
)
