"""Numbers and names as people read them; how fractions are rounded stands in `reticent.rounding`."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from reticent import rounding
from reticent.rounding import MINUS, MISSING, fraction

Plain = Mapping[str, Any]
"""A part of the document: plain values under the names of ``docs/schema.md``."""

PERCENT = "\N{NO-BREAK SPACE}%"
"""On a page and in a table, a number and its sign stay on one line."""

LONG = 1e6
"""Numbers from which they are written with an exponent: margins of models that diverged, not rates or times."""

MARK = "†"
"""Stands behind a share of members found that equal scores decide."""

TIES = (
    "So many records have the same score that no threshold comes near this rate of false alarms: the one used accuses "
    "fewer other records, and so finds fewer members. That is no sign of safety."
)
"""What the mark means."""

TIMES = ((86400, "day"), (3600, "h"), (60, "min"))


def number(value: Any, digits: int = 3) -> str:
    """Write a number with a fixed count of decimals, or a dash if it is unknown."""
    if value is None or not math.isfinite(value):
        return MISSING
    if abs(value) >= LONG:
        mantissa, power = f"{float(value):.1e}".split("e")
        return f"{mantissa}e{int(power)}".replace("-", MINUS)
    text = f"{float(value):.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", MINUS)


def at_least(value: Any) -> str:
    """Write a lower bound with two decimals, rounded down so that it still is one."""
    return number(None if value is None else math.floor(100 * value + 1e-9) / 100, 2)


def at_most(value: Any) -> str:
    """Write an upper bound with two decimals, rounded up so that it still is one."""
    return number(None if value is None else math.ceil(100 * value - 1e-9) / 100, 2)


def from_below(value: Any) -> str:
    """Write a lower bound on epsilon by itself; that there is none is said, since 0 reads as if epsilon were 0.

    All have two decimals, so that they can be compared; one that two decimals would make 0 is "above 0".
    """
    if value is None:
        return MISSING
    if value <= 0:
        return "none shown"
    return at_least(value) if value >= 0.01 else "above 0"


def percent(value: Any, digits: int = 1) -> str:
    """Write a measured fraction as `reticent.rounding.percent` does, in one word."""
    return rounding.percent(value, digits).replace(" %", PERCENT)


def found(estimate: Plain | None, digits: int = 1) -> str:
    """Write a share of members found, with the mark where equal scores decide it."""
    return percent(middle(estimate), digits) + (f" {MARK}" if estimate and estimate.get("tied") else "")


def level(rate: float) -> str:
    """Write a chosen rate as `reticent.rounding.level` does, in one word."""
    return rounding.level(rate).replace(" %", PERCENT)


def count(value: Any) -> str:
    """Write a whole number with thousands separated, or a dash if it is unknown."""
    return MISSING if value is None else f"{int(value):,}"


def share(rate: float) -> str:
    """Say a small rate as one in so many."""
    return f"1 in {count(round(1 / rate))}"


def middle(estimate: Plain | float | None) -> float | None:
    """Take the number out of an estimate, whether it is one target's value or a mean over targets."""
    found: Any = estimate
    if isinstance(estimate, Mapping):
        found = estimate.get("mean", estimate.get("value"))
    return None if found is None else float(found)


def limits(estimate: Plain | float | None) -> tuple[float, float] | None:
    """Take the interval out of an estimate."""
    interval = estimate.get("interval") if isinstance(estimate, Mapping) else None
    if interval is None or any(end is None for end in interval):
        return None
    return float(interval[0]), float(interval[1])


def span(
    interval: Sequence[float] | None, as_percent: bool = False, to: str = " to ", digits: int | None = None
) -> str:
    """Write an interval, with the decimals of its estimate."""
    if interval is None:
        return ""
    low, high = (written(end, as_percent, digits) for end in interval)
    return f"{low.removesuffix(PERCENT)}{to}{high}"


def written(item: Any, as_percent: bool = False, digits: int | None = None) -> str:
    """Write the number of an estimate."""
    value = middle(item)
    if as_percent:
        return percent(value, digits or 1)
    return fraction(value) if digits is None else number(value, digits)


def signed(value: Any, digits: int = 3) -> str:
    """Write a difference: as `number` does, with a plus sign where it is above zero."""
    text = number(value, digits)
    return f"+{text}" if value is not None and value > 0 and float(text) > 0 else text


def chance(probability: Any) -> str:
    """Write a p-value."""
    if probability is not None and 0 <= probability < 0.001:
        return "<\N{NO-BREAK SPACE}0.001"
    return number(probability)


def unmeasurable(rate: Plain) -> str:
    """Say why a rate has no number."""
    needed = rate.get("records_needed")
    return "not measurable" + (f" (needs {count(needed)} non-members)" if needed is not None else "")


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


def size(bytes_: float) -> str:
    """Write an amount of memory."""
    units = ("B", "KiB", "MiB", "GiB")
    power = min(len(units) - 1, int(math.log(max(bytes_, 1), 1024) + 1e-12))
    return f"{bytes_ / 1024**power:.{1 if power else 0}f} {units[power]}"


def value(item: Any) -> str:
    """Write any plain value of a recipe or of a spec."""
    if item is None:
        return "none"
    if isinstance(item, bool):
        return "yes" if item else "no"
    if isinstance(item, float):
        return f"{item:g}"
    if isinstance(item, (list, tuple)):
        return ", ".join(value(part) for part in item) if item else "none"
    if isinstance(item, Mapping):
        return ", ".join(f"{words(key)} {value(part)}" for key, part in item.items())
    return str(item)


def words(name: Any) -> str:
    """Turn a key into words."""
    return str(name).replace("_", " ")
