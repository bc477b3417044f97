"""Epsilon from below from many records of one model, for a training whose trade-off is Gaussian.

Paper: Mahloujifar, Melis and Chaudhuri (2024), "Auditing f-differential privacy in one run" (arXiv 2410.22235), the
recursion as Meta's PrivacyGuard computes it. As in `one_run`, each of m records is a member with probability 1/2,
independently; g of them are guessed and c guesses are right, and records may depend on each other. With ``B^-1`` the
inverse of the largest chance that a neighbouring data set can give to an event, and tau the error rate::

    h_c = tau (g - c) / m,  r_c = tau c / m
    h_i = max(h_{i+1}, B^-1(r_{i+1})),  r_i = r_{i+1} + i / (g - i) (h_i - h_{i+1})       for i = c-1, ..., 0

the trade-off is refuted if ``r_0 + h_0 > g / m``. For mu-Gaussian DP ``B^-1(x) = Phi(Phi^-1(x) - mu)``: the largest mu
that is refuted becomes an epsilon as in `gaussian`. **It holds only if the trade-off is Gaussian.** For the trade-off
of pure epsilon the recursion never exceeds the binomial bound of `one_run`, so it is not offered.

How many records are guessed is chosen on a random part of them, and judged on the rest.
"""

from statistics import NormalDist
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt, Lt
from scipy.special import ndtri

from reticent.arrays import Floats
from reticent.auditing.epsilon.base import Groups
from reticent.auditing.epsilon.gaussian import gaussian_epsilon
from reticent.auditing.epsilon.guesses import check_balanced, cuts
from reticent.auditing.intervals import lower
from reticent.errors import InputError
from reticent.spec import Spec

TOLERANCE = 1e-7
"""Of mu, which is found by bisection; the bound is below the true one by at most this."""
_NORMAL = NormalDist()


class FDp(Spec):
    """A bound from one run that holds only if the mechanism's trade-off curve is Gaussian."""

    method: ClassVar[str] = "f-dp"

    share: Annotated[float, Gt(0), Lt(1)] = 0.5
    """Share of the records that choose how many are guessed; the bound is measured on the rest."""


def bound(spec: FDp, groups: Groups, delta: float, alpha: float, rng: np.random.Generator) -> float:
    """Guess the records with the highest and the lowest scores, bound mu, and turn it into epsilon."""
    if delta == 0:
        raise InputError("delta: the method 'f-dp' needs a delta above 0, such as 1e-5: at 0 no epsilon is finite")
    check_balanced(groups, FDp.method)
    chooses, judged = groups.split(spec.share, rng)
    if not (len(judged) and len(chooses)):
        return 0.0
    tried = cuts(chooses)
    right, guesses = tried.count(chooses)
    scale = len(judged) / len(chooses)
    chosen = tried[int(np.argmax(_roughly(right * scale, guesses * scale, len(judged), alpha)))]
    c, g = (int(counted[0]) for counted in chosen.count(judged))
    mu = _mu(c, g, len(judged), alpha) if g else 0.0
    return float(gaussian_epsilon(mu, delta)) if mu > 0 else 0.0


def _mu(right: int, guesses: int, records: int, alpha: float) -> float:
    """Find the largest mu that c `right` of g `guesses` on m `records` refute, or up to `TOLERANCE` less; else 0.

    Nothing may have been chosen by looking at these records. Cost: some thirty recursions of c steps at most, and of a
    few hundred unless mu is near 0.
    """
    if 2 * right <= guesses or not _refuted(right, guesses, records, 0.0, alpha):
        return 0.0
    low, high = 0.0, 1.0
    while _refuted(right, guesses, records, high, alpha):
        low, high = high, 2 * high
    while high - low > TOLERANCE:
        middle = (low + high) / 2
        refuted = _refuted(right, guesses, records, middle, alpha)
        low, high = (middle, high) if refuted else (low, middle)
    return low


def _refuted(right: int, guesses: int, records: int, mu: float, alpha: float) -> bool:
    """Tell whether ``r_0 + h_0`` exceeds ``g / m``, and stop at the first step that settles it.

    h and r never fall: once their sum exceeds the limit, it stays above. A step that leaves h as it was leaves r, too,
    and so does every later one.
    """
    h, r, limit = alpha * (guesses - right) / records, alpha * right / records, guesses / records
    for i in range(right - 1, -1, -1):
        raised = _NORMAL.cdf(_NORMAL.inv_cdf(r) - mu) if r < 1 else 1.0
        if raised <= h:
            return False
        r += i / (guesses - i) * (raised - h)
        h = raised
        if r + h > limit:
            return True
    return False


def _roughly(right: Floats, guesses: Floats, records: int, alpha: float) -> Floats:
    """Estimate each bound, to choose by: mu of which the surest g of m guesses are right as often."""
    some = np.maximum(guesses, 1.0)
    accuracy, share = lower(right, some, alpha), np.minimum(some / records, 1 - 1e-9)
    mu: Floats = ndtri(accuracy * share) - ndtri((1 - accuracy) * share)
    return np.where((guesses >= 1) & (accuracy > 0.5), mu, -1.0)
