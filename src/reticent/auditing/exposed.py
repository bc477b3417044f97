"""How many records give themselves away beyond doubt: the per-record tests put together, with a sentence."""

import math
from typing import Any

import numpy as np
from scipy.special import stdtrit

from reticent.auditing import permutation
from reticent.auditing.exposure import Exposure
from reticent.auditing.intervals import tail
from reticent.rounding import level

NEEDED = "that needs models with it and without it, three in all"
"""What a record needs to be tested."""


def exposed(found: Exposure, confidence: float = 0.95) -> dict[str, Any]:
    """Count the records whose distance is more than chance, corrected for the number of records.

    Args:
        found: exposures.
        confidence: that none of those counted is there by chance.

    Returns:
        The ``exposure`` object of ``audit.json``.
    """
    allowed = 2 * tail(confidence)
    tested = ~np.ma.getmaskarray(found.distance)
    records, models = int(tested.sum()), found.k_in + found.k_out
    count = int(np.count_nonzero(found.distance_p_corrected.filled(1.0) <= allowed))
    needed, sentence = None, f"No record can be judged by itself: {NEEDED}."
    if records:
        most = int(models[tested].max())
        least = permutation.log_least(models[tested], found.k_in[tested]).min()
        if least + math.log(records) > math.log(allowed):
            sentence = _impossible(records, most, math.exp(-least), allowed)
        else:
            needed = -float(stdtrit(most - 2, allowed / records))
            sentence = _sentence(records, count, confidence, needed)
    return {
        "records": records,
        "exposed": count,
        "confidence": confidence,
        "test": "Student, one-sided, and no less than the exact chance over memberships",
        "correction": "Holm",
        "distance_needed": needed,
        "sentence": sentence + _untested(len(found.label) - records, records),
    }


def _untested(count: int, tested: int) -> str:
    """Say how many records could not be judged, and why."""
    if not count or not tested:
        return ""
    verb = "is" if count == 1 else "are"
    return f" {count:,} of all {count + tested:,} records {verb} not judged: {NEEDED}."


def _impossible(records: int, models: int, ways: float, allowed: float) -> str:
    """Say that no record can be counted, whatever its margins, and from how many models on one could."""
    enough = models
    while records / math.comb(enough, enough // 2) > allowed:
        enough += 1
    return (
        f"With {models} models no record, taken by itself, can give itself away beyond doubt, however far its margins "
        f"lie apart: chance drew which models were trained on it, in one of {ways:,.0f} ways, and among {records:,} "
        f"records one may look like that by the luck of the draw. From {enough} models on, half of them trained on "
        "each record, one could. A leak is not excluded."
    )


def _sentence(tested: int, count: int, confidence: float, needed: float) -> str:
    if count:
        verb = "gives itself" if count == 1 else "give themselves"
        return (
            f"{count:,} of {tested:,} records {verb} away beyond doubt ({level(confidence)} sure that none is among "
            "them by chance). The others may do so as well: this only says of which it is certain, "
            f"about from {needed:.1f} standard errors on."
        )
    return (
        f"Of none of the {tested:,} records, taken by itself, is it beyond doubt that it gives itself away: it would "
        f"have to stand {needed:.1f} standard errors apart. A leak that is spread over many records is not excluded."
    )
