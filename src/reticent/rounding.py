"""How numbers are rounded for people: one rule for a fraction, as it is and in percent.

Decimals are fixed, so that all numbers of a column, and an interval and its estimate, have equally many: three for a
fraction, one for a percentage, and for what is found at a small rate of false alarms as many as that rate needs. A
number has more only where it would else stand on another side of the limit that it is held against. What is not 0 and
not 1 is never written as if it were.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

MISSING = "–"
"""Stands where a number is unknown."""

MINUS = "\N{MINUS SIGN}"

LONG = 1e6
"""Numbers from which they are written with an exponent: margins of models that diverged, not rates or times."""

TIMES = ((86400, "day"), (3600, "h"), (60, "min"))

BITS = 9
"""Decimals to which a mean of ones is a one."""

MOST = 12
"""Decimals at most, however near a number is to its limit."""


def fraction(value: Any, digits: int = 3) -> str:
    """Write a fraction, such as an AUC or an accuracy."""
    return MISSING if value is None or not math.isfinite(value) else _within(float(value), digits, 1)


def percent(value: Any, digits: int = 1) -> str:
    """Write a measured fraction as a percentage."""
    return MISSING if value is None or not math.isfinite(value) else _within(100 * float(value), digits, 100) + " %"


def _within(value: float, digits: int, whole: int) -> str:
    exact, step = round(value, BITS), 10.0**-digits
    text = f"{exact:.{digits}f}"
    if exact and not float(text):
        return f"<{step:.{digits}f}" if exact > 0 else f">{MINUS}{step:.{digits}f}"
    if exact < whole <= float(text):
        return f">{whole - step:.{digits}f}"
    return (text if float(text) else text.lstrip("-")).replace("-", MINUS)


def interval(ends: Sequence[float], write: Callable[[float], str] = fraction) -> str:
    """Write an interval as its estimate is written, with one percent sign."""
    return joined([write(end) for end in ends])


def joined(written: Sequence[str], to: str = " to ") -> str:
    """Write an interval of its written ends, with one percent sign."""
    low, high = written
    return f"{low.removesuffix(' %')}{to}{high}"


def down(value: float, limit: float | None = None, digits: int = 4) -> str:
    """Write a lower limit, rounded down so that it still is one."""
    return _outward(value, limit, digits, math.floor)


def up(value: float, limit: float | None = None, digits: int = 4) -> str:
    """Write an upper limit, rounded up so that it still is one."""
    return _outward(value, limit, digits, math.ceil)


def _outward(value: float, limit: float | None, digits: int, towards: Callable[[float], int]) -> str:
    text = f"{towards(round(value * 10**digits, 6)) / 10**digits:.{digits}f}"
    if limit is None or digits >= MOST or _side(float(text), limit) == _side(value, limit):
        return text
    return _outward(value, limit, digits + 1, towards)


def _side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)


def decimals(fpr: float | None) -> int:
    """Choose the decimals of percentages of what is found at a rate of false alarms.

    It would have two digits itself.
    """
    return 1 if not fpr else max(1, 1 - math.floor(math.log10(100 * fpr) + 1e-9))


def level(rate: float) -> str:
    """Write a chosen rate, a round number, as a percentage without needless digits."""
    return f"{100 * rate:.10g} %"


def significant_down(value: float) -> str:
    """Write a lower limit with three digits, never more than it is."""
    return _significant(value, lambda digits: math.floor(digits + 1e-9))


def significant_up(value: float) -> str:
    """Write an upper limit with three digits, never less than it is."""
    return _significant(value, lambda digits: math.ceil(digits - 1e-9))


def _significant(value: float, whole: Callable[[float], int]) -> str:
    if value == 0:
        return "0"
    places = 2 - math.floor(math.log10(value))
    return plain(whole(value * 10**places) / 10**places)


def plain(value: float) -> str:
    """Write a number without an exponent."""
    import numpy as np

    return str(np.format_float_positional(value, trim="-"))


def number(value: Any, digits: int = 3) -> str:
    """Write a number with a fixed count of decimals."""
    if value is None or not math.isfinite(value):
        return MISSING
    if abs(value) >= LONG:
        mantissa, power = f"{float(value):.1e}".split("e")
        return f"{mantissa}e{int(power)}".replace("-", MINUS)
    text = f"{float(value):.{digits}f}"
    return (text if float(text) else text.lstrip("-")).replace("-", MINUS)


def signed(value: Any, digits: int = 3) -> str:
    """Write a difference: a plus sign stands before what is above zero, and what is not zero is not written as zero."""
    if value is not None and math.isfinite(value):
        digits = _apart(round(float(value), BITS), 0.0, digits)
    text = number(value, digits)
    return f"+{text}" if value is not None and value > 0 and float(text) > 0 else text


def beside(value: float, limit: float, digits: int = 3) -> str:
    """Write a fraction with digits enough to see on which side of a limit it lies."""
    return fraction(value, _apart(round(value, BITS), limit, digits))


def around(ends: Sequence[float], limit: float = 0.5) -> str:
    """Write an interval so that it is seen whether it holds a limit, such as the AUC of guessing."""
    return interval(ends, lambda end: beside(end, limit))


def percent_beside(value: float, limit: float, digits: int = 1) -> str:
    """Write a fraction as a percentage with digits enough to see on which side of a limit, a fraction too, it lies."""
    return percent(value, _apart(round(100 * value, BITS), round(100 * limit, BITS), digits))


def _apart(value: float, limit: float, digits: int) -> int:
    """Count the digits, no fewer than these, that leave a number on its side of a limit when it is rounded."""
    while digits < MOST and _side(round(value, digits), limit) != _side(value, limit):
        digits += 1
    return digits


def count(value: Any) -> str:
    """Write a count, or a mean of counts, with thousands separated."""
    if value is None:
        return MISSING
    return f"{int(value):,}" if value == int(value) else f"{value:,.1f}"


def p_value(p: Any, level: float) -> str:
    """Write a p-value, with digits enough to see on which side of the level it lies that it is held against."""
    held, least = round(level, BITS), min(0.001, round(level, BITS))
    if p is not None and 0 <= p < least:
        return f"<\N{NO-BREAK SPACE}{plain(least)}"
    return number(p, 3 if p is None else _apart(p, held, 3))


def duration(seconds: Any) -> str:
    """Write a time in the units that people use."""
    if seconds is None or not math.isfinite(seconds):
        return MISSING
    if seconds < 59.95:
        return f"{float(seconds):.1f} s"
    left, parts = round(seconds), []
    for size, unit in TIMES:
        if left >= size:
            parts.append(f"{left // size} {unit}")
            left %= size
    if left and len(parts) < 2:
        parts.append(f"{left} s")
    return " ".join(parts[:2])


def memory(amount: float) -> str:
    """Write an amount of memory in bytes."""
    units = ("B", "KiB", "MiB", "GiB")
    power = min(len(units) - 1, int(math.log(max(amount, 1), 1024) + 1e-12))
    return f"{amount / 1024**power:.{1 if power else 0}f} {units[power]}"
