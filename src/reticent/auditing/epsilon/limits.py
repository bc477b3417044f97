"""Exact one-sided limits of rates, and the epsilon that follows from them.

A training that is (epsilon, delta)-DP keeps every attack to ``TPR <= e^epsilon FPR + delta`` and, with the roles
exchanged, to ``TNR <= e^epsilon FNR + delta`` (Wasserman and Zhou 2010; Kairouz, Oh and Viswanath 2015). So a lower
limit of the TPR and an upper limit of the FPR that hold together bound epsilon from below, both ways at once, since
``TNR = 1 - FPR`` and ``FNR = 1 - TPR``.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import checks
from reticent.errors import InputError

Floats = NDArray[np.float64]

MEMBERS, NON_MEMBERS = "members", "non-members"
"""The two directions: members found among few false alarms, non-members cleared with few members missed."""


def error_rate(confidence: float) -> float:
    """Return the probability that a one-sided limit may fail with.

    Args:
        confidence: such as 0.95; above 0 and below 1.

    Returns:
        ``1 - confidence``.

    Raises:
        InputError: it is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence: expected a number between 0 and 1, such as 0.95, got {confidence}")
    return 1 - confidence


def checked_delta(delta: float) -> float:
    """Check a delta.

    Args:
        delta: from 0 up to, but not including, 1.

    Returns:
        The same.

    Raises:
        InputError: it lies outside.
    """
    if not 0 <= delta < 1:
        raise InputError(f"delta: expected a number from 0 up to, but not including, 1, such as 1e-5, got {delta}")
    return float(delta)


def log_ratios(tpr_low: ArrayLike, fpr_high: ArrayLike, delta: float) -> Floats:
    """Compute what two limits say of epsilon, in both directions; negative and infinitely negative where it is nothing.

    Args:
        tpr_low: ``(...)``, lower limits of the TPR.
        fpr_high: ``(...)``, upper limits of the FPR, above 0.
        delta: from 0 up to, but not including, 1.

    Returns:
        ``(2, ...)``: ``ln((TPR - delta) / FPR)`` and ``ln((TNR - delta) / FNR)``.
    """
    tpr, fpr = checks.floats(tpr_low=tpr_low, ndim=(0, 1)), checks.floats(fpr_high=fpr_high, ndim=(0, 1))
    return np.stack([_log(tpr - delta) - np.log(fpr), _log(1 - fpr - delta) - np.log(1 - tpr)])


def _log(values: Floats) -> Floats:
    return np.log(values, out=np.full(values.shape, -np.inf), where=values > 0)
