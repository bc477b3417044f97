"""Numbers and names as people read them; how fractions are rounded stands in `reticent.rounding`."""

from typing import Any

from reticent.findings.numbers import Area, Estimate, Spread
from reticent.rounding import fraction, number, percent

TIES = (
    "Many records have equal scores, so no threshold comes near this false positive rate: the one used flags fewer "
    "non-members, and so finds fewer members. A low share here is no sign of safety."
)
"""What the mark means."""


Measure = Estimate | Spread | Area | float | None
"""A number with or without an interval."""


def middle(item: Measure) -> float | None:
    """Take the number out of an estimate, whether it is one target's value or a mean over targets."""
    found: Any = item
    if isinstance(item, (Estimate, Spread)):
        found = item.mean
    elif isinstance(item, Area):
        found = item.value
    return None if found is None else float(found)


def limits(item: Measure) -> tuple[float, float] | None:
    """Take the interval out of an estimate."""
    return item.interval if isinstance(item, (Estimate, Area)) else None


def written(item: Any, as_percent: bool = False, digits: int | None = None) -> str:
    """Write the number of an estimate."""
    value = middle(item)
    if as_percent:
        return percent(value, digits or 1)
    return fraction(value) if digits is None else number(value, digits)
