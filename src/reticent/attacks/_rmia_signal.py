"""The probability of the label that RMIA compares, by one of four formulas, kept off zero.

With an odd Taylor degree, such as 3, which the released code computes, most of these "probabilities" can be negative: a
class far below zero gets a negative share, and so can their sum. They are kept as they are, as there.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from reticent.attacks.base import Offer, Rows
from reticent.errors import InputError
from reticent.signals.matrix import Floats, Signals

Formula = Literal["softmax", "taylor", "soft-margin", "sm-taylor"]
BLOCK = 256
"""Blocks are this much smaller than `BLOCK_BYTES`, so that the steps on one stay in the processor's cache."""


def read(
    signals: Signals,
    targets: Rows,
    *,
    formula: Formula,
    temperature: float,
    margin: float,
    degree: int,
    epsilon: float,
    queries: int,
) -> Iterator[tuple[slice, Floats, Floats]]:
    """Compute every model's probability of the true label.

    From the margin where that suffices (softmax and soft margin, at temperature 1 or with two classes), for every
    query; else from the logits, which are stored for the plain query only.

    Args:
        signals: M models, N records.
        targets: models whose logarithms are wanted ``(T,)``.
        formula: which formula.
        temperature: what logits are divided by.
        margin: what is subtracted from the label's logit by the soft-margin formulas.
        degree: of the Taylor polynomial that stands for the exponential function.
        epsilon: smallest probability, or smallest size of a negative one.
        queries: how many queries to read; `check` allows them.

    Yields:
        A slice of the records, every model's probability ``(M, n, queries)``, and the targets' logarithms of its size
        ``(T, n, queries)``, which do not saturate where the probability is nearly 1; both float64.
    """
    shift = margin if formula in {"soft-margin", "sm-taylor"} else 0.0
    if _by_margin(formula, temperature, signals.classes):
        for block in signals.blocks(BLOCK * signals.queries):
            values = np.asarray(signals.margins[:, block], dtype=np.float64)[:, :, :queries]
            yield block, *_sigmoid(values / temperature - shift, targets, epsilon)
        return
    assert signals.logits is not None
    for block in signals.blocks(BLOCK // 64 * signals.classes):
        u = np.asarray(signals.logits[:, block], dtype=np.float64) / temperature
        at = np.broadcast_to(signals.labels[block][None, :, None], (*u.shape[:2], 1))
        own = np.take_along_axis(u, at, axis=2) - shift
        if formula in {"softmax", "soft-margin"}:
            np.put_along_axis(u, at, -np.inf, axis=2)
            top = u.max(axis=2, keepdims=True)
            rest = top + np.log(np.exp(u - top).sum(axis=2, keepdims=True))
            yield block, *_sigmoid(own - rest, targets, epsilon)
        else:
            own = taylor(own, degree)
            others = taylor(u, degree)
            np.put_along_axis(others, at, 0.0, axis=2)
            whole = own + others.sum(axis=2, keepdims=True)
            ratio = np.divide(own, whole, out=np.zeros_like(own), where=whole != 0)
            kept = np.where(np.abs(ratio) < epsilon, epsilon, ratio)
            yield block, kept, np.log(np.abs(kept[targets]))


def temperature(wish: float | Literal["auto"], offer: Offer, queries: int) -> float:
    """Choose what logits are divided by."""
    if wish != "auto":
        return wish
    known = offer.classes == 2 or (offer.logits and queries == 1)
    return 2.0 if known else 1.0


def taylor(values: Floats, degree: int) -> Floats:
    """Evaluate the Taylor polynomial of the exponential function at zero."""
    result = np.ones_like(values)
    for k in range(degree, 0, -1):
        result = 1 + values * result / k
    return result


def _sigmoid(margins: Floats, targets: Rows, epsilon: float) -> tuple[Floats, Floats]:
    """Return all rows' logistic function, and its logarithm for the targets, neither saturating, floored at epsilon."""
    small = np.abs(margins)
    np.exp(np.negative(small, out=small), out=small)
    log_p = np.minimum(margins[targets], 0.0) - np.log1p(small[targets])
    p = np.where(margins >= 0, 1.0, small)
    p /= np.add(small, 1.0, out=small)
    return np.maximum(p, epsilon, out=p), np.maximum(log_p, np.log(epsilon), out=log_p)


def check(offer: Offer, formula: Formula, temperature: float, queries: int) -> None:
    """Check that there are the logits that a formula needs."""
    if _by_margin(formula, temperature, offer.classes):
        return
    if not offer.logits:
        raise InputError(
            f"rmia: expected logits for signal={formula!r} at temperature={temperature} and {offer.classes} classes, "
            "got margins only: give logits (M, N, C), or use signal='softmax' with temperature=1"
        )
    if queries > 1:
        raise InputError(
            f"rmia: expected one query for signal={formula!r} at temperature={temperature}, since logits are stored "
            f"for the plain query only, got {queries}: use queries=1, or signal='softmax' with temperature=1"
        )


def _by_margin(formula: Formula, temperature: float, classes: int) -> bool:
    """Whether the margin says all that a formula needs."""
    return formula in {"softmax", "soft-margin"} and (temperature == 1 or classes == 2)
