"""From what a regressor predicts of a record's score to a normal score of its false-positive rate."""

import numpy as np
from scipy.special import ndtri

from reticent.signals.matrix import Floats

LEVELS = 1 - 10.0 ** np.linspace(-4, 0, 41)[::-1]
"""The quantiles of the paper's grid in ascending order, from 0 to 0.9999."""
NORMAL = ndtri(np.maximum(LEVELS, 1e-4))
"""Their normal scores; the lowest stands for one that is below nearly everything."""
WIDEST = 4.0
"""Logarithms of standard deviations are kept within this of that of all scores."""
APART = 1e-6
"""Least distance of two quantiles, as a share of the scores' standard deviation."""


def gaussian(predicted: Floats, scores: Floats) -> Floats:
    """Standardise scores ``(n,)`` by predicted means and log standard deviations ``(n, 2)``."""
    return np.asarray((scores - predicted[:, 0]) / np.exp(np.clip(predicted[:, 1], -WIDEST, WIDEST)))


def pinball(predicted: Floats, scores: Floats) -> Floats:
    """Find between which predicted quantiles ``(n, 41)`` scores ``(n,)`` lie, and interpolate their normal scores.

    Quantiles that cross are put in order, record by record (Chernozhukov et al., 2010). Beyond the last one the line
    through the outer half of them goes on.
    """
    quantiles = np.sort(predicted, axis=1) + APART * np.arange(len(LEVELS))
    middle = len(LEVELS) // 2
    place = np.clip((quantiles < scores[:, None]).sum(axis=1), 1, len(LEVELS) - 1)
    low, high = place - 1, place
    above, below = scores > quantiles[:, -1], scores < quantiles[:, 0]
    low, high = np.where(above, middle, np.where(below, 0, low)), np.where(above, -1, np.where(below, middle, high))
    rows = np.arange(len(scores))
    at, width = quantiles[rows, low], quantiles[rows, high] - quantiles[rows, low]
    start = np.where(above, quantiles[:, -1], at)
    return np.asarray(NORMAL[np.where(above, -1, low)] + (scores - start) * (NORMAL[high] - NORMAL[low]) / width)


def conformal(calibration: Floats, values: Floats) -> Floats:
    """Correct values ``(n,)`` by those of records held out ``(c,)``, so that the claimed rate is the realised one.

    The k-th largest of c values, and of equal ones the last, gets the normal score of the rate ``k / (c + 1)``; what
    lies between two of them is interpolated, and what lies beyond all is moved as the outermost is.
    """
    known, first = np.unique(np.sort(calibration), return_index=True)
    wanted = -ndtri((len(calibration) - first) / (len(calibration) + 1))
    inner = np.interp(values, known, wanted)
    beyond = np.maximum(values - known[-1], 0.0) + np.minimum(values - known[0], 0.0)
    return np.asarray(inner + beyond)
