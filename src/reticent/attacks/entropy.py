"""The entropy attack: the surer the model is, of whatever class, the more likely a member.

Paper: Song and Mittal (2021), "Systematic evaluation of privacy risks of machine learning models", section 4.
Deviation: the value is minus the logarithm of the entropy, which ranks alike and does not saturate where the model is
nearly sure; differences to a class's threshold are of logarithms.
"""

from typing import ClassVar

import numpy as np

from reticent.attacks import thresholds
from reticent.attacks.base import AttackEntry, Problem, Rows
from reticent.attacks.softmax import log_complements, log_probabilities, log_sum, log_surprise
from reticent.attacks.thresholds import Threshold
from reticent.signals.matrix import Floats
from reticent.spec import Spec


class Entropy(Spec):
    """Options of the entropy attack."""

    method: ClassVar[str] = "entropy"

    threshold: Threshold = "class-wise"
    """One threshold for all classes, or one for each, learned on references."""


def score(spec: Entropy, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by minus the logarithm of the answer's entropy, less its class's threshold.

    Scores begin at ``-ln ln C`` with a global threshold.

    Cost: O(T N C); with class-wise thresholds all models are read, see `thresholds.score`.
    """

    def values(models: Rows) -> thresholds.Values:
        for block, log_p in log_probabilities(problem.signals, models):
            yield block, -log_entropy(log_p)

    return thresholds.score(problem, spec.threshold, values)


def log_entropy(log_p: Floats) -> Floats:
    """Compute the logarithm of the entropy, which is exact where the entropy is nearly zero."""
    return log_sum(log_p + log_surprise(log_p, log_complements(log_p)))


ENTRY = AttackEntry(
    spec=Entropy,
    score=score,
    needs=thresholds.needs,
    summary="Ranks records by how sure the model is of any class, less a threshold of their class.",
    paper="Song and Mittal (2021), Systematic evaluation of privacy risks of machine learning models",
    access="probabilities",
)
