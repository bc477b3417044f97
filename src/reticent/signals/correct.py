"""Which records each model labels correctly."""

import numpy as np
from numpy.typing import NDArray

from reticent.signals.matrix import Signals


def knows(signals: Signals) -> bool:
    """Say whether signals tell which class is predicted: logits do, and margins of two classes.

    Args:
        signals: of any models.

    Returns:
        Whether `correct` has an answer.
    """
    return signals.logits is not None or signals.classes == 2


def correct(signals: Signals, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which records have the strictly largest logit at their label, whatever the order of the classes.

    Args:
        signals: that `knows` it.
        rows: models ``(R,)``.

    Returns:
        ``(R, N)``; a tie with another class is a mistake. Cost: O(R N C), by blocks of records.
    """
    result = np.empty((len(rows), signals.records), dtype=np.bool_)
    if signals.logits is None:
        for block in signals.blocks():
            result[:, block] = signals.margins[rows, block][:, :, 0] > 0
        return result
    for block in signals.blocks(2 * signals.classes):
        logits = np.array(signals.logits[rows, block])
        labels = signals.labels[block][None, :, None]
        own = np.take_along_axis(logits, labels, axis=2)[:, :, 0]
        np.put_along_axis(logits, labels, -np.inf, axis=2)
        result[:, block] = own > logits.max(axis=2)
    return result
