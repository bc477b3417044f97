"""False-positive rates that an attack claims, held against those that it has on non-members of the audit."""

from collections.abc import Sequence

import numpy as np

from reticent.arrays import Bools, Floats
from reticent.auditing.intervals import clopper_pearson
from reticent.findings.attack import ClaimedRate

ROUNDING = 1e-12
"""By which a rate may miss what it stands for: 1 - 0.9 is below 0.1."""


def claimed_rates(
    claims: Floats, members: Bools, fprs: Sequence[float], confidence: float = 0.95
) -> tuple[ClaimedRate, ...]:
    """Count the non-members that are flagged at each claimed rate.

    A record is flagged where its own rate, of `claims`, is below the claimed one.
    """
    found = []
    for fpr in fprs:
        flagged = np.count_nonzero((claims < fpr - ROUNDING) & ~members, axis=1)
        count = (~members).sum(axis=1)
        shares, (low, high) = flagged / count, clopper_pearson(flagged, count, confidence)
        found.append(
            ClaimedRate(
                fpr=fpr,
                realised=float(shares.mean()),
                least=float(shares.min()),
                most=float(shares.max()),
                non_members=int(count.min()),
                within=int(np.count_nonzero((low <= fpr) & (fpr <= high))),
                targets=len(shares),
            )
        )
    return tuple(found)
