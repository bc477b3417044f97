"""How far a model's margin of a record lies above those of models without the record, all records on equal terms.

A target is compared with k models that were not trained on the record, itself left out, and k is the same whether the
target was trained on it or not: of the record's eligible models, in an order drawn without looking, the first k; where
the target is one of these, the next one stands in. Had the record left no trace, its target and these k are
exchangeable.
"""

import numpy as np

from reticent.arrays import Bools, Floats, Ints


def residuals(margins: Floats, eligible: Bools, counts: Ints, targets: Ints, drawn: Floats) -> Floats:
    """Standardize each target's margins by those of models without the record.

    Of margins ``(M, n)``, by `counts` k of the models that are eligible, fewer than there are, in the order of uniform
    numbers `drawn` ``(M, n)``: ``(margin - mean) / s / sqrt(1 + 1 / k)`` with s of divisor k - 1, ``(T, n)``: Student's
    with k - 1 degrees of freedom where margins are normal and the record left no trace. 0 where nothing varies and the
    margin is the mean, infinite where it is not; NaN for k below 2.
    """
    order = np.argsort(np.where(eligible, drawn, 2.0), axis=0, kind="stable")
    place = np.argsort(order, axis=0, kind="stable")
    usable = counts > 1
    k = np.where(usable, counts, 2)
    centred = margins - np.where(eligible, margins, 0.0).sum(axis=0) / np.maximum(eligible.sum(axis=0), 1)
    first = place < k
    total, squares = (np.where(first, values, 0.0).sum(axis=0) for values in (centred, centred**2))
    spare = np.take_along_axis(centred, order[np.minimum(k, len(margins) - 1), np.arange(len(k))][None], axis=0)[0]
    own, taken = centred[targets], first[targets] & eligible[targets]
    mean = (total + np.where(taken, spare - own, 0.0)) / k
    variance = (squares + np.where(taken, spare**2 - own**2, 0.0) - k * mean**2) / (k - 1)
    scale = np.sqrt(np.maximum(variance, 0.0) * (1 + 1 / k))
    with np.errstate(divide="ignore", invalid="ignore"):
        nothing = np.abs(own - mean) <= 1e-12 * np.maximum(1.0, np.abs(margins[targets]))
        standard = np.where(nothing, 0.0, (own - mean) / scale)
    return np.where(usable, standard, np.nan)
