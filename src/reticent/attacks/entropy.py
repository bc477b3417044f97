"""The entropy attack: the surer the model is, of whatever class, the more likely a member.

Paper: Song and Mittal (2021), "Systematic evaluation of privacy risks of machine learning models", section 4.
"""

from typing import ClassVar

import numpy as np

from reticent.attacks import thresholds
from reticent.attacks._softmax import log_probabilities
from reticent.attacks.base import Needs, Problem
from reticent.attacks.thresholds import Threshold
from reticent.signals.matrix import Floats
from reticent.spec import Spec


class Entropy(Spec):
    """Options of the entropy attack."""

    method: ClassVar[str] = "entropy"

    threshold: Threshold = "class-wise"
    """One threshold for all classes, or one for each, learned on references."""


def needs(spec: Entropy) -> Needs:
    """Say which references it needs.

    Args:
        spec: the options.

    Returns:
        One besides the target for class-wise thresholds, else none.
    """
    return thresholds.needs(spec.threshold)


def score(spec: Entropy, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the negative entropy of the model's answer, less its class's threshold.

    Args:
        spec: the options.
        problem: with logits.
        rng: not used.

    Returns:
        ``(T, N)``, in nats; with a global threshold from -ln C to 0.

    Cost: O(T N C); with class-wise thresholds all models are read, see `thresholds.apply`.
    """
    models = thresholds.read(problem, spec.threshold)
    values = np.empty((len(models), problem.signals.records))
    for block, log_p in log_probabilities(problem.signals, models, spec.method):
        values[:, block] = negative_entropy(log_p)
    return thresholds.apply(values, models, problem, spec.threshold)


def negative_entropy(log_p: Floats) -> Floats:
    """Compute the negative entropy.

    Args:
        log_p: finite log-probabilities ``(..., C)``; a probability that underflows adds nothing.

    Returns:
        ``(...)``: the sum over classes of ``p ln p``.
    """
    return np.asarray((np.exp(log_p) * log_p).sum(axis=-1))
