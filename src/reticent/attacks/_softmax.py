"""Probabilities of all classes, read by blocks of records."""

from collections.abc import Iterator

import numpy as np

from reticent.attacks.base import Rows
from reticent.errors import InputError
from reticent.signals.matrix import Floats, Signals


def log_probabilities(signals: Signals, models: Rows, method: str, width: int = 0) -> Iterator[tuple[slice, Floats]]:
    """Read log-probabilities of all classes.

    Args:
        signals: with logits.
        models: rows.
        method: the attack's name, for the message.
        width: further numbers a model and record that the attack holds of a block.

    Yields:
        A slice of the records, and ``(models, records of the slice, C)`` in float64, finite, exact near 0.

    Raises:
        InputError: the signals hold no logits.
    """
    if signals.logits is None:
        raise InputError(
            f"{method}: expected logits of all {signals.classes} classes, got margins only: give logits (M, N, C), or "
            "leave this attack out"
        )
    for block in signals.blocks(4 * signals.classes + width):
        z = np.asarray(signals.logits[models, block], dtype=np.float64)
        top = z.argmax(axis=2)[..., None]
        z = z - np.take_along_axis(z, top, axis=2)
        others = np.exp(z)
        np.put_along_axis(others, top, 0.0, axis=2)
        yield block, z - np.log1p(others.sum(axis=2, keepdims=True))
