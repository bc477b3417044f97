"""Numbers as cells of a table: what is shown, the interval below, the mark of equal scores, the key for sorting."""

from collections.abc import Mapping

from reticent.report.blocks import Cell, Footnote, Span
from reticent.report.wording import PERCENT, TIES, Plain, limits, middle, written
from reticent.rounding import MISSING

NOTHING = Cell(MISSING, tone="quiet")
"""Where a number is not known."""


def estimate(item: Plain | float | None, as_percent: bool = False, digits: int | None = None) -> Cell:
    """Write an estimate."""
    value, ends = middle(item), limits(item)
    if value is None:
        return NOTHING
    tied = isinstance(item, Mapping) and bool(item.get("tied"))
    text = written(value, as_percent, digits)
    low, high = ("", "") if ends is None else (written(end, as_percent, digits) for end in ends)
    below = () if ends is None else (Span(low.removesuffix(PERCENT), high),)
    return Cell((text, Footnote(TIES)) if tied else text, value, below)
