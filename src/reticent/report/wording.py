"""Numbers and names as people read them; how fractions are rounded stands in `reticent.rounding`."""

from collections.abc import Mapping
from typing import Any

from reticent import rounding
from reticent.findings.numbers import Area, Estimate, Spread
from reticent.rounding import MISSING, fraction
from reticent.say.epsilon import shown

Plain = Mapping[str, Any]
"""A part of the document: plain values under the names of ``docs/schema.md``."""

PERCENT = "\N{NO-BREAK SPACE}%"
"""On a page and in a table, a number and its sign stay on one line."""

MARK = "†"
"""Stands behind a share of members found that equal scores decide."""

TIES = (
    "Many records have equal scores, so no threshold comes near this false positive rate: the one used flags fewer "
    "non-members, and so finds fewer members. A low share here is no sign of safety."
)
"""What the mark means."""

number, count, signed, duration = rounding.number, rounding.count, rounding.signed, rounding.duration
chance, size = rounding.p_value, rounding.memory
"""Under the names of `reticent.rounding` for all that is made of blocks."""


def from_below(value: Any) -> str:
    """Write a lower bound on epsilon by itself."""
    return MISSING if value is None else shown(value)


def percent(value: Any, digits: int = 1) -> str:
    """Write a measured fraction as `reticent.rounding.percent` does, in one word."""
    return rounding.percent(value, digits).replace(" %", PERCENT)


def level(rate: float) -> str:
    """Write a chosen rate as `reticent.rounding.level` does, in one word."""
    return rounding.level(rate).replace(" %", PERCENT)


Measure = Estimate | Spread | Area | Plain | float | None
"""A number with or without an interval; as a mapping where a kind of document is not made of blocks yet."""


def middle(item: Measure) -> float | None:
    """Take the number out of an estimate, whether it is one target's value or a mean over targets."""
    found: Any = item
    if isinstance(item, (Estimate, Spread)):
        found = item.mean
    elif isinstance(item, Area):
        found = item.value
    elif isinstance(item, Mapping):
        found = item.get("mean", item.get("value"))
    return None if found is None else float(found)


def limits(item: Measure) -> tuple[float, float] | None:
    """Take the interval out of an estimate."""
    if isinstance(item, (Estimate, Area)):
        return item.interval
    interval = item.get("interval") if isinstance(item, Mapping) else None
    if interval is None or any(end is None for end in interval):
        return None
    return float(interval[0]), float(interval[1])


def written(item: Any, as_percent: bool = False, digits: int | None = None) -> str:
    """Write the number of an estimate."""
    value = middle(item)
    if as_percent:
        return percent(value, digits or 1)
    return fraction(value) if digits is None else number(value, digits)


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
