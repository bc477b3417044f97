"""Corrections of many tests (Holm; Benjamini and Hochberg), and p-values of dependent ones combined (Rüger)."""

import math

import numpy as np
from numpy.typing import ArrayLike

from reticent import checks
from reticent.arrays import Floats


def holm(p: ArrayLike) -> Floats:
    """Correct p-values for their number, so that any false discovery among them has at most the nominal rate.

    Paper: Holm (1979). The i-th smallest of n is multiplied by ``n - i + 1``, and is no smaller than those before it.
    Holds whatever the dependence between the tests.
    """
    values = checks.floats(p=p, ndim=1).astype(np.float64)
    order = np.argsort(values, kind="stable")
    stepped = np.minimum(1.0, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    corrected = np.empty(len(values))
    corrected[order] = stepped
    return corrected


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Adjust p-values so that those at most q are a list of false discovery rate q.

    Paper: Benjamini and Hochberg (1995). The i-th smallest of n is multiplied by ``n / i``, and is no larger than those
    after it.
    """
    values = checks.floats(p=p, ndim=1).astype(np.float64)
    order = np.argsort(values, kind="stable")
    stepped = values[order] * len(values) / np.arange(1, len(values) + 1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(stepped[::-1])[::-1])
    return adjusted


def ruger(p: ArrayLike) -> float:
    """Combine p-values of one hypothesis that may depend on each other in any way: about twice their median.

    Paper: Rüger (1978): ``n / k`` times the k-th smallest of n, here with k = ceil(n / 2).
    """
    values = np.sort(checks.floats(p=p, ndim=1).astype(np.float64))
    k = math.ceil(len(values) / 2)
    return float(min(1.0, len(values) / k * values[k - 1]))
