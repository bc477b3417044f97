"""Whether members have left the tail of large losses: what one model shows by itself."""

from typing import Annotated

from reticent.findings.base import Finding, Interval, LeftOut, Number
from reticent.findings.numbers import Count, Share


class TailRate(Finding):
    """Non-members above a loss that few members exceed."""

    fnr: Share
    "The share of members that may have a larger loss."
    records_needed: Count
    "Members from which that can be measured."
    tnr: Annotated[Share | None, LeftOut] = None
    "The share of non-members with a larger loss; left out if not measurable."
    alike: Annotated[Share | None, LeftOut] = None
    "What it would be on average if members and non-members had alike losses, none of them equal: more than `fnr`."
    interval: Annotated[Interval | None, LeftOut] = None
    "Clopper-Pearson, at this threshold, which the members set."


class LossTail(Finding):
    """True-negative rates at low false-negative rates, by the loss alone."""

    rates: tuple[TailRate, ...]
    confidence: Number
    sentence: str = ""
    "The finding, for people."
