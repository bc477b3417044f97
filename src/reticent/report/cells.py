"""Numbers as cells of a table: what is shown, the interval below, the mark of equal scores, the key for sorting."""

from collections.abc import Iterable, Sequence
from typing import Any

from reticent.findings.numbers import Estimate, OverallRate
from reticent.report.blocks import Cell, Column, Footnote, Row, Span, Table, Text
from reticent.report.wording import TIES, Measure, limits, middle, written
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
    low, high = ("", "") if ends is None else (written(end, as_percent, digits) for end in ends)
    below = () if ends is None else (Span(low.removesuffix(" %"), high),)
    return Cell((text, Footnote(TIES)) if tied else text, value, below)


def rate(found: OverallRate | None) -> Cell:
    """Write the share of members found at a false positive rate, or why it has no number."""
    if found is None or found.tpr is not None:
        return estimate(None if found is None else found.tpr, True, decimals(None if found is None else found.fpr))
    return Cell(unmeasurable(found), tone="quiet")


def unmeasurable(found: OverallRate) -> str:
    """Say why a rate has no number."""
    return f"not measurable (needs {count(found.records_needed)} non-members)"


def table(title: str, heads: Sequence[str | Column], rows: Iterable[Sequence[Text | Cell]], **more: Any) -> Table:
    """Make a table of texts and cells; below a head that is a text stand numbers, below the first one names."""
    columns = (Column(head, numbers=i > 0) if isinstance(head, str) else head for i, head in enumerate(heads))
    lines = (Row(tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row)) for row in rows)
    return Table(title, tuple(columns), tuple(lines), **more)
