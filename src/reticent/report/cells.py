"""Numbers as cells of a table: what is shown, the interval below, the mark of equal scores, the key for sorting."""

from reticent.findings.numbers import Estimate, OverallRate
from reticent.report.blocks import Cell, Footnote, Span
from reticent.report.estimates import TIES, Measure, limits, middle, written
from reticent.rounding import MISSING, count, decimals

NOTHING = Cell(MISSING, tone="quiet")
"""Where a number is not known."""


def estimate(item: Measure, as_percent: bool = False, digits: int | None = None) -> Cell:
    """Write an estimate."""
    value, ends = middle(item), limits(item)
    if value is None:
        return NOTHING
    tied = isinstance(item, Estimate) and item.tied
    text = written(value, as_percent, digits)
    below = () if ends is None else (Span(*(written(end, as_percent, digits) for end in ends)),)
    return Cell((text, Footnote(TIES)) if tied else text, value, below)


def rate(found: OverallRate | None) -> Cell:
    """Write the share of members found at a false positive rate, or why it has no number."""
    if found is None or found.tpr is not None:
        return estimate(None if found is None else found.tpr, True, decimals(None if found is None else found.fpr))
    return Cell(unmeasurable(found), tone="quiet")


def unmeasurable(found: OverallRate) -> str:
    """Say why a rate has no number."""
    return f"not measurable (needs {count(found.records_needed)} non-members)"
