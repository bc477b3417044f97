"""What a bound on epsilon means, in one or two plain sentences."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from reticent.auditing.wording import percent


def sentence(lower: float, delta: float, confidence: float, accountant: Mapping[str, Any] | None) -> str:
    """Say what was found, and how it fits what an accountant promises.

    Args:
        lower: the bound.
        delta: its delta.
        confidence: one-sided.
        accountant: its ``epsilon``, ``delta`` and ``source``, or None.

    Returns:
        For people.
    """
    at = f"(at delta {digits(delta)})"
    sure = f"at {percent(confidence)} confidence"
    if lower > 0:
        found = f"No training with epsilon below {rounded_down(lower)} {at} could give such results, {sure}."
    else:
        found = f"This shows nothing about epsilon: at this size the audit cannot rule out epsilon 0 {at}, {sure}."
    return found if accountant is None else f"{found} {_beside(lower, delta, accountant)}"


def consistent(lower: float, delta: float, accountant: Mapping[str, Any]) -> bool | None:
    """Say whether a bound from below and an accountant's from above can both be true.

    Args:
        lower: the bound.
        delta: its delta.
        accountant: its ``epsilon`` and ``delta``.

    Returns:
        True if the bound is at most the accountant's epsilon; False if it is above; None if it is above, but the
        accountant speaks of a larger delta, where epsilon may be smaller.
    """
    if lower <= accountant["epsilon"]:
        return True
    return False if accountant["delta"] <= delta else None


def rounded_down(value: float) -> str:
    """Write a lower limit with three digits, never more than it is.

    Args:
        value: above 0.

    Returns:
        Its digits.
    """
    places = 2 - math.floor(math.log10(value))
    return digits(math.floor(value * 10**places + 1e-9) / 10**places)


def digits(value: float) -> str:
    """Write a number without an exponent.

    Args:
        value: any.

    Returns:
        The fewest digits that name it.
    """
    return str(np.format_float_positional(value, trim="-"))


def _beside(lower: float, delta: float, accountant: Mapping[str, Any]) -> str:
    promise = f"the accountant proves at most {digits(accountant['epsilon'])}"
    if accountant["delta"] != delta:
        promise += f" (at delta {digits(accountant['delta'])})"
    fits = consistent(lower, delta, accountant)
    if fits is None:
        return f"It cannot be held against the accountant: {promise}, and another delta is another promise."
    if fits:
        return f"That does not contradict the accountant: {promise}."
    return (
        f"That contradicts the accountant: {promise}. Either the noise is not added as it assumes, or another of its "
        "assumptions does not hold, or this is one of the rare audits that are wrong."
    )
