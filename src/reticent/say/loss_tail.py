"""What one model shows by itself, and what other models would add."""

from reticent.findings.loss_tail import LossTail
from reticent.rounding import decimals, interval, level, percent

MEANING = (
    "A threshold of the loss is set so that hardly any member lies above it. If training has moved members out of the "
    "tail of large losses, many non-members lie above it. Over many kinds of models this share rises with how many "
    "members attacks with references find, but it does not tell that number. Compare it between models of one task "
    "only; wrong labels among the non-members raise it."
)
ALONE = (
    "How much of the leak this is: one model was given. Without others no attack can tell a record that was learned by "
    "heart from one that is easy, so most of a leak is missed. Models that were trained alike on other records (8 or "
    "more, one row of answers and membership each) would add LiRA and RMIA, the exposure of each record, and how much "
    "one training differs from the next."
)


def spoken(found: LossTail) -> LossTail:
    """Fill in the sentence."""
    known = next((rate for rate in found.rates if rate.tnr is not None and rate.alike is not None), None)
    if known is None:
        least = min(rate.records_needed for rate in found.rates)
        return found.with_(sentence=f"The tail of large losses cannot be measured: that needs {least:,} members.")
    digits = decimals(known.fnr)
    ends = interval(known.interval or (), lambda end: percent(end, digits))
    return found.with_(
        sentence=f"{percent(known.tnr, digits)} of non-members have a larger loss than all but {level(known.fnr)} of "
        f"the members ({level(found.confidence)} interval {ends}); if both had alike losses, it would be "
        f"{percent(known.alike, digits)} on average."
    )
