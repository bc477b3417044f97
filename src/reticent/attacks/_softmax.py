"""Probabilities of all classes, read by blocks of records."""

from collections.abc import Iterator

import numpy as np

from reticent.attacks.base import Rows
from reticent.errors import InputError
from reticent.signals.matrix import Floats, Signals


def log_probabilities(signals: Signals, models: Rows, method: str) -> Iterator[tuple[slice, Floats]]:
    """Read log-probabilities of all classes.

    Args:
        signals: with logits.
        models: rows.
        method: the attack's name, for the message.

    Yields:
        A slice of the records, and ``(models, records of the slice, C)`` in float64, finite.

    Raises:
        InputError: the signals hold no logits.
    """
    if signals.logits is None:
        raise InputError(
            f"{method}: expected logits of all {signals.classes} classes, got margins only: give logits (M, N, C), or "
            "leave this attack out"
        )
    for block in signals.blocks(4 * signals.classes):
        z = np.asarray(signals.logits[models, block], dtype=np.float64)
        z = z - z.max(axis=2, keepdims=True)
        yield block, z - np.log(np.exp(z).sum(axis=2, keepdims=True))
