"""What a bound on epsilon means, in one or two plain sentences."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from reticent.rounding import down, level, up

GIVEN = ("given", "as stated by the user")
"""Sources of an epsilon that nobody computed here; documents of before have the second. Others name an accountant."""


def stated(accountant: Mapping[str, Any]) -> bool:
    """Say whether an upper epsilon is the user's word, and not what an accountant computed from the training."""
    return accountant.get("source") in GIVEN


def sentence(
    lower: float,
    delta: float,
    confidence: float,
    accountant: Mapping[str, Any] | None,
    proven: Mapping[str, Any] | None = None,
) -> str:
    """Say what was found, and how it fits what an accountant promises."""
    at = f"(at delta {digits(delta)})"
    sure = f"at {level(confidence)} confidence"
    if lower > 0:
        found = f"No training with epsilon below {_least(lower)} {at} could give such results, {sure}."
    else:
        found = f"This shows nothing about epsilon: at this size the audit cannot rule out epsilon 0 {at}, {sure}."
    if accountant is None:
        return found
    said = f"{found} {_beside(lower, delta, accountant)}"
    if proven is None:
        return said
    kept = "proves the promise" if proves(proven, accountant) else "does not prove the promise"
    return f"{said} {_beside(lower, delta, proven)} So the training {kept}."


def proves(proven: Mapping[str, Any], stated: Mapping[str, Any]) -> bool:
    """Say whether what training proves is at least what the user states."""
    return bool(proven["epsilon"] <= stated["epsilon"] and proven["delta"] <= stated["delta"])


def consistent(lower: float, delta: float, accountant: Mapping[str, Any]) -> bool | None:
    """Say whether a bound from below and an accountant's from above can both be true."""
    if lower <= accountant["epsilon"]:
        return True
    return False if accountant["delta"] <= delta else None


def rounded_down(value: float) -> str:
    """Write a lower limit with three digits, never more than it is."""
    places = 2 - math.floor(math.log10(value))
    return digits(math.floor(value * 10**places + 1e-9) / 10**places)


def rounded_up(value: float) -> str:
    """Write an upper limit with three digits, never less than it is."""
    if value == 0:
        return "0"
    places = 2 - math.floor(math.log10(value))
    return digits(math.ceil(value * 10**places - 1e-9) / 10**places)


def digits(value: float) -> str:
    """Write a number without an exponent."""
    return str(np.format_float_positional(value, trim="-"))


def _least(lower: float) -> str:
    """Write a bound with two decimals, as it stands beside the sentence, unless these would make it 0."""
    return down(lower, digits=2) if lower >= 0.01 else rounded_down(lower)


def _at(upper: float, lower: float | None) -> str:
    """Name the delta of an upper bound where it is not that of the lower one, and what it says of that if it is given.

    A guarantee at one delta holds at every larger one, and says nothing of smaller ones.
    """
    if upper == lower:
        return ""
    if lower is None:
        return f" (at delta {digits(upper)})"
    what = f"and so at {digits(lower)} too" if upper < lower else f"which says nothing of delta {digits(lower)}"
    return f" (at delta {digits(upper)}, {what})"


def _beside(lower: float, delta: float, accountant: Mapping[str, Any]) -> str:
    fits = consistent(lower, delta, accountant)
    at = _at(accountant["delta"], None if fits is None else delta)
    who, promise, wrong = "accountant", "the accountant proves at most ", "the noise is not added as it assumes, or "
    wrong += "another of its assumptions does not hold"
    promise += f"{up(accountant['epsilon'], digits=2)}{at}"
    if stated(accountant):
        who, wrong = "promise", "the training does not keep it"
        promise = f"epsilon at most {digits(accountant['epsilon'])}{at}, as stated by the user, not computed"
    if fits is None:
        return f"It cannot be held against the {who}: {promise}, and another delta is another promise."
    if fits:
        return f"That does not contradict the {who}: {promise}."
    return f"That contradicts the {who}: {promise}. Either {wrong}, or this is one of the rare audits that are wrong."
