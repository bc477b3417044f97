"""The part of an audit of one model alone: the tail of large losses."""

from reticent.findings.loss_tail import LossTail
from reticent.report import blocks as b
from reticent.rounding import count, decimals, interval, level, percent
from reticent.say import loss_tail as say


def blocks(found: LossTail | None) -> tuple[b.Block, ...]:
    """Show the share of non-members above losses that few members exceed."""
    if found is None:
        return ()
    rows = []
    for rate in found.rates:
        digits = decimals(rate.fnr)
        cell = b.Cell(f"not measurable (needs {count(rate.records_needed)} members)", tone="quiet")
        if rate.tnr is not None and rate.interval is not None:
            ends = interval(rate.interval, lambda end, digits=digits: percent(end, digits))  # type: ignore[misc]
            cell = b.Cell(percent(rate.tnr, digits), rate.tnr, (ends,))
        rows.append((level(rate.fnr), cell))
    title = f"Non-members with a larger loss than nearly all members; below each its {level(found.confidence)} interval"
    return (
        b.Heading("The tail of large losses", "loss-tail", "Large losses", only=b.DOCUMENTS),
        b.Prose(found.sentence, "lead"),
        b.Prose(say.MEANING, only=b.PAGE),
        *b.only(b.DOCUMENTS, b.table(title, ("Members above the threshold, at most", "Non-members above it"), rows)),
    )
