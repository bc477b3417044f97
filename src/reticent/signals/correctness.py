"""Which records each model labels correctly: a tie with another class is a mistake, whatever the order of the classes.

This is the one meaning of accuracy; `objectives.base.hits` is the same for tensors, while a model trains.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import seeds
from reticent.signals.matrix import Signals


def knows(signals: Signals) -> bool:
    """Say whether signals tell which class is predicted: logits do, and margins of two classes."""
    return signals.logits is not None or signals.classes == 2


def correct(signals: Signals, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which records models label correctly, ``(R, N)``, of signals that `knows` it; a tie is a mistake."""
    result = np.empty((len(rows), signals.records), dtype=np.bool_)
    if signals.logits is None:
        for block in signals.blocks():
            result[:, block] = signals.plain(block, rows) > 0
        return result
    for block in signals.blocks(2 * signals.classes):
        result[:, block] = hits(signals.logits[rows, block], signals.labels[block])
    return result


def alone(signals: Signals) -> bool:
    """Tell whether correctness is all that answers say: margins are two numbers at most."""
    seen: set[float] = set()
    for block in signals.blocks():
        seen.update(np.unique(signals.margins[:, block])[:3].tolist())
        if len(seen) > 2:
            return False
    return True


def hits(logits: ArrayLike, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell where the label's logit is strictly the largest."""
    others = np.array(logits)
    at = np.broadcast_to(labels[:, None], (*others.shape[:-1], 1))
    own = np.take_along_axis(others, at, axis=-1)[..., 0]
    np.put_along_axis(others, at, -np.inf, axis=-1)
    return np.asarray(own > others.max(axis=-1))


def reordered(predicted: NDArray[np.int64], labels: NDArray[np.int64]) -> tuple[dict[int, int], float, float]:
    """Find the names of the predicted classes ``(n,)`` by which predictions are right most often.

    The names are found on a half of the records. Also how often they are right on the other half by these names, and
    how often as they are.
    """
    from scipy.optimize import linear_sum_assignment  # Slow to load, and of use to few.

    order = seeds.rng(0, "classes").permutation(len(labels))
    kept, judged = np.array_split(order, 2)
    classes, codes = np.unique(np.concatenate([predicted, labels]), return_inverse=True)
    said, true = np.split(codes, 2)
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(counts, (said[kept], true[kept]), 1)
    names = linear_sum_assignment(counts, maximize=True)[1]
    called = {int(one): int(other) for one, other in zip(classes, classes[names], strict=True)}
    return called, float((names[said[judged]] == true[judged]).mean()), float((said[judged] == true[judged]).mean())
