"""McNemar's test: members that an attacker finds under one recipe only, and under the other only.

It takes the two thresholds as given, while each rests on the few non-members that score highest. So it tells whether
the two sets of members differ in size, not whether the recipes do: with one target and nine false positives allowed,
two recipes that are the same differ "significantly" in 41 % of simulations (6 % with 16 targets). Verdicts therefore
rest on the bootstrap, which redraws the thresholds too.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from reticent import checks
from reticent.arrays import Bools, Floats
from reticent.auditing.comparison.multiple import ruger
from reticent.auditing.roc import roc
from reticent.findings.comparison import McNemar


def found(scores: Floats, members: Bools, fpr: float) -> Bools:
    """Mark the members that each target gives away at a false-positive rate, by a threshold of its own."""
    limits = [roc(row, own).at_fpr(fpr).threshold for row, own in zip(scores, members, strict=True)]
    return np.asarray((scores >= np.array(limits)[:, None]) & members)


def mcnemar(first: ArrayLike, second: ArrayLike) -> McNemar:
    """Test whether two recipes give away equally many members, on the members that only one of them gives away.

    Paper: McNemar (1947), exact: of the b + c members on which the two disagree, b are Binomial(b + c, 1/2). The
    thresholds are taken as given. Both say ``(T, N)`` what is found; the counts are over all targets, and their
    p-values combined.
    """
    one, two = checks.boolean(first=first, ndim=2), checks.boolean(second=second, ndim=2)
    checks.shape(second=two, expected=one.shape, meaning="as `first` has")
    only_first, only_second = (one & ~two).sum(axis=1), (two & ~one).sum(axis=1)
    tails = bdtr(np.minimum(only_first, only_second).astype(float), only_first + only_second, 0.5)
    return McNemar(
        targets=len(one),
        only_first=int(only_first.sum()),
        only_second=int(only_second.sum()),
        p=ruger(np.minimum(1.0, 2 * tails)),
    )
