"""The modified-entropy attack: like entropy, but being sure of a wrong class speaks against membership.

Paper: Song and Mittal (2021), "Systematic evaluation of privacy risks of machine learning models", equation 8.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.attacks import thresholds
from reticent.attacks._softmax import log_probabilities
from reticent.attacks.base import Needs, Problem
from reticent.attacks.thresholds import Threshold
from reticent.signals.matrix import Floats
from reticent.spec import Spec


class ModifiedEntropy(Spec):
    """Options of the modified-entropy attack."""

    method: ClassVar[str] = "modified-entropy"

    threshold: Threshold = "class-wise"
    """One threshold for all classes, or one for each, learned on references."""


def needs(spec: ModifiedEntropy) -> Needs:
    """Say which references it needs.

    Args:
        spec: the options.

    Returns:
        One besides the target for class-wise thresholds, else none.
    """
    return thresholds.needs(spec.threshold)


def score(spec: ModifiedEntropy, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the negative modified entropy, less its class's threshold.

    Args:
        spec: the options.
        problem: with logits.
        rng: not used.

    Returns:
        ``(T, N)``, in nats; with a global threshold zero or below.

    Cost: O(T N C); with class-wise thresholds all models are read, see `thresholds.apply`.
    """
    models = thresholds.read(problem, spec.threshold)
    values = np.empty((len(models), problem.signals.records))
    for block, log_p in log_probabilities(problem.signals, models, spec.method):
        labels = np.broadcast_to(problem.signals.labels[block], log_p.shape[:2])
        values[:, block] = -modified_entropy(log_p, labels)
    return thresholds.apply(values, models, problem, spec.threshold)


def modified_entropy(log_p: Floats, labels: NDArray[np.int64]) -> Floats:
    r"""Compute :math:`-(1 - p_y) \ln p_y - \sum_{j \ne y} p_j \ln(1 - p_j)`, without ever subtracting from 1.

    Args:
        log_p: finite log-probabilities ``(..., C)``.
        labels: true labels ``(...)``.

    Returns:
        ``(...)``, zero or above, in nats.
    """
    log_rest = _log_complement(log_p)
    at = labels[..., None]
    own = np.take_along_axis(log_p, at, axis=-1)[..., 0]
    rest = np.exp(np.take_along_axis(log_rest, at, axis=-1)[..., 0])
    terms = np.exp(log_p) * log_rest
    np.put_along_axis(terms, at, 0.0, axis=-1)
    return np.asarray(-rest * own - terms.sum(axis=-1))


def _log_complement(log_p: Floats) -> Floats:
    """Compute ``ln(1 - p_j)``: from the other classes for the largest p, by ``log1p`` for the rest (at most 1/2)."""
    top = log_p.argmax(axis=-1)[..., None]
    others = log_p.copy()
    np.put_along_axis(others, top, -np.inf, axis=-1)
    second = others.max(axis=-1, keepdims=True)
    log_rest = second + np.log(np.exp(others - second).sum(axis=-1, keepdims=True))
    result = np.log1p(-np.exp(others))
    np.put_along_axis(result, top, log_rest, axis=-1)
    return result
