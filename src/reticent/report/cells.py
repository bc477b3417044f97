"""Numbers as cells of a table: what is shown, the interval below, the mark of equal scores, the key for sorting."""

from collections.abc import Mapping

from reticent.findings.numbers import Estimate
from reticent.report.blocks import Cell, Footnote, Span
from reticent.report.wording import PERCENT, TIES, Plain, limits, middle, written
from reticent.rounding import MISSING

NOTHING = Cell(MISSING, tone="quiet")
"""Where a number is not known."""


def estimate(item: Estimate | Plain | float | None, as_percent: bool = False, digits: int | None = None) -> Cell:
    """Write an estimate."""
    plain: Plain | float | None = item.to_json() if isinstance(item, Estimate) else item
    value, ends = middle(plain), limits(plain)
    if value is None:
        return NOTHING
    tied = isinstance(plain, Mapping) and bool(plain.get("tied"))
    text = written(value, as_percent, digits)
    low, high = ("", "") if ends is None else (written(end, as_percent, digits) for end in ends)
    below = () if ends is None else (Span(low.removesuffix(PERCENT), high),)
    return Cell((text, Footnote(TIES)) if tied else text, value, below)
