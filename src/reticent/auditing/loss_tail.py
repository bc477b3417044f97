"""The loss attack read from the other side: do members still have large losses?

Paper: arXiv 2510.19773. Over models of many architectures, the true-negative rate at a low false-negative rate follows
what LiRA, which needs references, finds at a low false-positive rate. No rate is predicted from it here, as the fitted
line is not known.
"""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from reticent.auditing.intervals import exact_interval
from reticent.auditing.roc import records_needed, threshold_rate, tnr_at_fnr
from reticent.findings.loss_tail import LossTail, TailRate

FNRS = (0.01, 0.001)


def loss_tail(
    scores: ArrayLike, members: ArrayLike, confidence: float = 0.95, fnrs: Sequence[float] = FNRS
) -> LossTail:
    """Measure how many non-members have a larger loss than nearly all members.

    Scores are minus the loss, or what ranks alike; `fnrs` are the shares of the members that may have a larger loss.
    """
    rates = []
    for fnr in fnrs:
        point, unresolved = tnr_at_fnr(scores, members, fnr), TailRate(fnr=fnr, records_needed=records_needed(fnr))
        if not point.false_positives_allowed:
            rates.append(unresolved)
            continue
        interval = exact_interval(point.true_positives, point.members, confidence)
        alike = threshold_rate(point.false_positives_allowed, point.non_members)  # Its groups are exchanged.
        rates.append(unresolved.with_(tnr=point.tpr, interval=interval, alike=alike))
    return LossTail(rates=tuple(rates), confidence=confidence)
