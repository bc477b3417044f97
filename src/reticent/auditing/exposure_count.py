"""How many records give themselves away beyond doubt: the per-record tests put together."""

import math

import numpy as np
from scipy.special import stdtrit

from reticent.auditing import permutation_test
from reticent.auditing.exposure import Exposure
from reticent.auditing.intervals import tail
from reticent.findings.audit import ExposureCount


def count_exposed(found: Exposure, confidence: float = 0.95) -> ExposureCount:
    """Count the records whose distance is more than chance, corrected for the number of records.

    Args:
        found: exposures.
        confidence: that none of those counted is there by chance.

    Returns:
        The count, without its sentence (`say.exposure`).
    """
    allowed = 2 * tail(confidence)
    tested = ~np.ma.getmaskarray(found.distance)
    records, models = int(tested.sum()), found.k_in + found.k_out
    count = ExposureCount(
        records=records,
        untested=len(found.label) - records,
        exposed=int(np.count_nonzero(found.distance_p_corrected.filled(1.0) <= allowed)),
        confidence=confidence,
    )
    if not records:
        return count
    most = int(models[tested].max())
    least = permutation_test.log_least(models[tested], found.k_in[tested]).min()
    if least + math.log(records) > math.log(allowed):
        return count.with_(models=most, memberships=math.exp(-least))
    return count.with_(models=most, distance_needed=-float(stdtrit(most - 2, allowed / records)))
