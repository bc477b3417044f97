"""How many records give themselves away beyond doubt: the per-record tests put together, with a sentence."""

from typing import Any

import numpy as np
from scipy.special import stdtrit

from reticent.auditing.exposure import Exposure
from reticent.auditing.intervals import tail
from reticent.rounding import level

FAR = 10.0
"""Standard errors: where a record must stand farther apart than this to count, more models help more than anything."""


def exposed(found: Exposure, confidence: float = 0.95) -> dict[str, Any]:
    """Count the records whose distance is more than chance, corrected for the number of records.

    Args:
        found: exposures.
        confidence: that none of those counted is there by chance.

    Returns:
        The ``exposure`` object of ``audit.json``.
    """
    level = 2 * tail(confidence)
    tested = int(found.distance.count())
    count = int(np.count_nonzero(found.distance_p_corrected.filled(1.0) <= level))
    needed = None
    if tested:
        models = int((found.k_in + found.k_out).max())
        needed = -float(stdtrit(models - 2, level / tested))
    return {
        "records": tested,
        "exposed": count,
        "confidence": confidence,
        "test": "Student, one-sided",
        "correction": "Holm",
        "distance_needed": needed,
        "sentence": _sentence(tested, count, confidence, needed) + _untested(len(found.label) - tested, tested),
    }


def _untested(count: int, tested: int) -> str:
    """Say how many records could not be judged, and why."""
    if not count or not tested:
        return ""
    verb = "is" if count == 1 else "are"
    return (
        f" {count:,} of all {count + tested:,} records {verb} not judged: that needs models with it and without it, "
        "three in all."
    )


def _sentence(tested: int, count: int, confidence: float, needed: float | None) -> str:
    if needed is None:
        return "No record can be judged by itself: that needs models with it and without it, three in all."
    far = f"more than {FAR:.0f}" if needed > FAR else f"{needed:.1f}"
    more = "; so few models hardly ever show that, and with more of them less would do" if needed > FAR else ""
    if count:
        verb = "gives itself" if count == 1 else "give themselves"
        return (
            f"{count:,} of {tested:,} records {verb} away beyond doubt ({level(confidence)} sure that none is among "
            "them by chance). The others may do so as well: this only says of which it is certain, "
            f"{'' if needed > FAR else 'about '}from {far} standard errors on{more}."
        )
    return (
        f"Of none of the {tested:,} records, taken by itself, is it beyond doubt that it gives itself away: it would "
        f"have to stand {far} standard errors apart{more}. A leak that is spread over many records is not "
        "excluded."
    )
