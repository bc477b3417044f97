"""The probability of the label that RMIA compares, by one of four formulas, kept off zero.

With an odd Taylor degree, such as 3, which the released code computes, most of these "probabilities" can be negative: a
class far below zero gets a negative share, and so can their sum. They are kept as they are, as there.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from reticent.attacks.base import Rows
from reticent.attacks.rmia.options import Rmia
from reticent.signals.matrix import Floats, Signals

NEAR = 1 - 1e-6
"""A probability above this is told by what it lacks to 1: beyond a margin of 37 it has no digits of its own."""
BLOCK = 256
"""Blocks are this much smaller than `BLOCK_BYTES`, so that the steps on one stay in the processor's cache."""


class Read(NamedTuple):
    """What models say of the records of a block, float64.

    Attributes:
        p: every model's probability ``(M, n, queries)``.
        rest: computes one minus that, to all its digits where it is small.
        log: the targets' logarithms of the size of p ``(T, n, queries)``, which do not saturate where p is nearly 1.
    """

    p: Floats
    rest: Callable[[], Floats]
    log: Floats


def blocks(spec: Rmia, signals: Signals, temperature: float) -> Iterator[slice]:
    """Divide the records into blocks."""
    suffice = spec.margins_suffice(temperature, signals.classes)
    return signals.blocks(BLOCK * signals.queries if suffice else BLOCK // 32 * signals.classes)


def read(spec: Rmia, signals: Signals, targets: Rows, temperature: float, queries: int, block: slice) -> Read:
    """Compute every model's probability of the true label, from the margin where that suffices, else from logits."""
    shift = spec.margin if spec.signal in {"soft-margin", "sm-taylor"} else 0.0
    if spec.margins_suffice(temperature, signals.classes):
        values = np.asarray(signals.margins[:, block], dtype=np.float64)[:, :, :queries]
        return _sigmoid(values / temperature - shift, targets, spec.epsilon)
    assert signals.logits is not None
    u = np.asarray(signals.logits[:, block], dtype=np.float64) / temperature
    at = np.broadcast_to(signals.labels[block][None, :, None], (*u.shape[:2], 1))
    own = np.take_along_axis(u, at, axis=2) - shift
    if spec.signal in {"softmax", "soft-margin"}:
        np.put_along_axis(u, at, -np.inf, axis=2)
        top = u.max(axis=2, keepdims=True)
        rest = top + np.log(np.exp(u - top).sum(axis=2, keepdims=True))
        return _sigmoid(own - rest, targets, spec.epsilon)
    own = taylor(own, spec.degree)
    others = taylor(u, spec.degree)
    np.put_along_axis(others, at, 0.0, axis=2)
    rest = others.sum(axis=2, keepdims=True)
    whole = own + rest
    ratio = np.divide(own, whole, out=np.zeros_like(own), where=whole != 0)
    rest = np.divide(rest, whole, out=np.ones_like(own), where=whole != 0)
    kept = np.where(np.abs(ratio) < spec.epsilon, spec.epsilon, ratio)
    return Read(kept, lambda: rest, log_size(kept[targets], rest[targets], spec.epsilon))


def log_size(p: Floats, rest: Floats, epsilon: float) -> Floats:
    """Compute the logarithms of the size of probabilities, given what they lack to 1."""
    size = np.abs(p)
    np.log(np.maximum(size, epsilon, out=size), out=size)
    return np.log1p(-rest, out=size, where=p > NEAR)


def taylor(values: Floats, degree: int) -> Floats:
    """Evaluate the Taylor polynomial of the exponential function at zero."""
    result = np.ones_like(values)
    for k in range(degree, 0, -1):
        result = 1 + values * result / k
    return result


def _sigmoid(margins: Floats, targets: Rows, epsilon: float) -> Read:
    """Return all rows' logistic function, what it lacks to 1, and its logarithm for the targets, floored at epsilon."""
    small = np.abs(margins)
    np.exp(np.negative(small, out=small), out=small)
    log_p = np.minimum(margins[targets], 0.0) - np.log1p(small[targets])
    p = np.where(margins >= 0, 1.0, small)
    p /= np.add(small, 1.0, out=small)
    np.maximum(log_p, np.log(epsilon), out=log_p)
    return Read(np.maximum(p, epsilon, out=p), lambda: expit(-margins), log_p)
