"""Answers that are no logits any more: what a sigmoid or a softmax made of them, recognised by the numbers."""

from enum import Enum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

TELLING_ROWS = 10
"""In fewer rows it may be an accident."""
SUM = 0.02
"""How far the sum of a row may be from one: probabilities that were rounded, or are in a coarse type."""

TELLING_VALUES = 100
"""In fewer margins it may be an accident; a model of few records is looked at together with the others."""
NEAR_ZERO, SHARE = -0.1, 0.05
"""Logarithms of a trained model's probabilities: so many are so near to zero. Margins of one that is always wrong are
all below zero too, but few lie there."""
DEVIATIONS = 5
"""So far above chance the label's column is the largest of a row's."""


class Squashed(Enum):
    """Kinds of answers that are no logits, and how each is recognised."""

    SOFTMAX = "lie between 0 and 1, and every row sums to 1: these are probabilities, as after a softmax"
    PERCENT = "lie between 0 and 100, and every row sums to 100: these are percentages"
    COUNTS = (
        "are whole numbers from 0 on, and all rows have about the same sum: these are probabilities times a constant, "
        "such as 255, or votes"
    )
    SIGMOID = "all lie between 0 and 1, as probabilities after a sigmoid do"
    SIGMOIDS = (
        "all lie between 0 and 1, and rows do not sum to 1: as after a sigmoid for each class, or of several labels a "
        "record, which are not supported"
    )


def squashed(answers: NDArray[Any], rows: int = TELLING_ROWS) -> Squashed | None:
    """Tell whether one model's answers ``(N, C)`` look as if a sigmoid or a softmax made them; one logit is ``(0, z)``.

    None for what may be logits, and for fewer records than `rows`.
    """
    if len(answers) < rows:
        return None
    one = answers.shape[1] == 2 and not answers[:, 0].any()
    told = answers[:, 1:] if one else answers
    low, high = float(told.min()), float(told.max())
    if low < 0:
        return None
    if not one:
        sums = answers.sum(axis=1, dtype=np.float64)
        near = min(max(SUM, answers.shape[1] / 200), 0.5)  # Two digits: half a hundredth for each class.
        for whole, kind in ((1, Squashed.SOFTMAX), (100, Squashed.PERCENT)):
            if high <= whole * (1 + SUM) and (np.abs(sums / whole - 1) <= near).all():
                return kind
        if _counts(answers, sums):
            return Squashed.COUNTS
    if low == high or high > 1:
        return None
    return Squashed.SIGMOID if one else Squashed.SIGMOIDS


def of_label(margins: NDArray[Any]) -> Literal["probability", "logarithm"] | None:
    """Tell whether margins look like the label's probabilities, or like the logarithms of these (minus the loss)."""
    low, high = float(margins.min()), float(margins.max())
    if margins.size < TELLING_VALUES or high > 1 or len(np.unique(margins)) < TELLING_ROWS:
        return None
    if low >= 0:
        return "probability"
    return "logarithm" if high <= 0 and np.mean(margins > NEAR_ZERO) >= SHARE else None


def by_class(answers: NDArray[Any], labels: NDArray[np.int64]) -> bool:
    """Tell whether columns of ``(M, N, C)`` are classes: the label's is the largest much more often than by chance.

    Chance is what two independent columns would agree by; it is judged by records, since models agree.
    """
    if len(labels) < TELLING_ROWS:
        return False
    largest, classes = answers.argmax(axis=2), answers.shape[2]
    shares = [np.bincount(one.ravel(), minlength=classes) / one.size for one in (largest, labels)]
    chance = float(shares[0] @ shares[1])
    deviation = np.sqrt(chance * (1 - chance) / len(labels))
    return bool((largest == labels).mean() > chance + DEVIATIONS * deviation)


def _counts(answers: NDArray[Any], sums: NDArray[np.float64]) -> bool:
    """Tell probabilities times a constant from quantised logits, whose sums vary, or are far above the largest."""
    whole = float(np.median(sums))
    if whole <= 1 or 2 * answers.max() <= whole or (answers != np.rint(answers)).any():
        return False
    near = min(max(SUM, answers.shape[1] / (2 * whole)), 0.1)
    return bool((np.abs(sums / whole - 1) <= near).all())
