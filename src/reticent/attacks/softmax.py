"""Probabilities of all classes, read by blocks of records, as logarithms that keep order where one is nearly 1."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.base import Rows
from reticent.signals.matrix import Floats, Signals

SMALL = -40.0
"""A logarithm of q from which on ``-ln(1 - q)`` is q, to all digits."""


def log_probabilities(signals: Signals, models: Rows, width: int = 0) -> Iterator[tuple[slice, Floats]]:
    """Read log-probabilities of all classes."""
    assert signals.logits is not None
    for block in signals.blocks(4 * signals.classes + width):
        z = np.asarray(signals.logits[models, block], dtype=np.float64)
        top = z.argmax(axis=2)[..., None]
        z = z - np.take_along_axis(z, top, axis=2)
        others = np.exp(z)
        np.put_along_axis(others, top, 0.0, axis=2)
        yield block, z - np.log1p(others.sum(axis=2, keepdims=True))


def log_complements(log_p: Floats) -> Floats:
    """Compute ``ln(1 - p_j)``: from the other classes for the largest p, by ``log1p`` for the rest (at most 1/2)."""
    top = log_p.argmax(axis=-1)[..., None]
    others = log_p.copy()
    np.put_along_axis(others, top, -np.inf, axis=-1)
    result = np.log1p(-np.exp(others))
    np.put_along_axis(result, top, log_sum(others)[..., None], axis=-1)
    return result


def log_surprise(log_p: Floats, log_rest: Floats) -> Floats:
    """Compute ``ln(-ln p)``, which tells two p apart however near they are to 1."""
    plain = np.log(np.maximum(-log_p, np.finfo(np.float64).tiny))
    return np.where(log_rest < SMALL, log_rest, plain)


def log_sum(logs: Floats) -> Floats:
    """Compute the logarithm of a sum over classes from the logarithms of what is added."""
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(logs - top).sum(axis=-1)))


def log_modified_entropy(log_p: Floats, labels: NDArray[np.int64]) -> Floats:
    r"""Compute the logarithm of :math:`-(1 - p_y) \ln p_y - \sum_{j \ne y} p_j \ln(1 - p_j)`, exactly."""
    log_rest, at = log_complements(log_p), np.broadcast_to(labels, log_p.shape[:-1])[..., None]
    own, rest = (np.take_along_axis(logs, at, axis=-1) for logs in (log_p, log_rest))
    terms = log_p + log_surprise(log_rest, log_p)
    np.put_along_axis(terms, at, rest + log_surprise(own, rest), axis=-1)
    return log_sum(terms)
