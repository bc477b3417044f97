"""The modified-entropy attack: like entropy, but being sure of a wrong class speaks against membership.

Paper: Song and Mittal (2021), "Systematic evaluation of privacy risks of machine learning models", equation 8.
Deviation: the value is minus the logarithm of the modified entropy, which ranks alike and does not saturate where the
model is nearly sure of the label; differences to a class's threshold are of logarithms.
"""

from typing import ClassVar

import numpy as np

from reticent.attacks import thresholds
from reticent.attacks.base import AttackEntry, Problem, Rows
from reticent.attacks.softmax import log_modified_entropy, log_probabilities
from reticent.attacks.thresholds import Threshold
from reticent.signals.matrix import Floats
from reticent.spec import Spec


class ModifiedEntropy(Spec):
    """Options of the modified-entropy attack."""

    method: ClassVar[str] = "modified-entropy"

    threshold: Threshold = "class-wise"
    """One threshold for all classes, or one for each, learned on references."""


def score(spec: ModifiedEntropy, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by minus the logarithm of the modified entropy, less its class's threshold.

    Cost: O(T N C); with class-wise thresholds all models are read, see `thresholds.score`.
    """

    def values(models: Rows) -> thresholds.Values:
        for block, log_p in log_probabilities(problem.signals, models):
            yield block, -log_modified_entropy(log_p, problem.signals.labels[block])

    return thresholds.score(problem, spec.threshold, values)


ENTRY = AttackEntry(
    spec=ModifiedEntropy,
    score=score,
    needs=thresholds.needs,
    summary="Ranks records by how sure the model is of the label, less a threshold of their class.",
    paper="Song and Mittal (2021), Systematic evaluation of privacy risks of machine learning models",
    access="probabilities",
)
