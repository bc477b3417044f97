"""Epsilon from below for a mechanism whose trade-off is Gaussian: one number mu, and from it epsilon at any delta.

Paper: Dong, Roth and Su (2022), "Gaussian differential privacy", corollary 2.13 (section 2.3).

**It holds only if the trade-off is Gaussian**, as it is for one release with Gaussian noise, and nearly so for many
composed steps of DP-SGD. mu itself is bounded for every mu-GDP mechanism, but the step from mu to epsilon takes the
whole curve from one point of it. In return it reaches deltas that no count of records can: an exact bound needs
members found at a false-positive rate near ``e^-epsilon``. Assumes independent records given the model, too.
"""

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt
from numpy.typing import ArrayLike
from scipy.special import erfcx, log_ndtr, ndtr, ndtri

from reticent import checks
from reticent.arrays import Floats
from reticent.auditing.epsilon.base import Groups, checked_delta
from reticent.auditing.epsilon.rank_thresholds import RATIO, rank_thresholds
from reticent.errors import InputError
from reticent.spec import Spec

HALVINGS = 60
"""Steps of bisection: to the last bit."""


class Gaussian(Spec):
    """A bound that holds only if the mechanism's trade-off curve is Gaussian."""

    method: ClassVar[str] = "gaussian"

    ratio: Annotated[float, Gt(1)] = RATIO
    """Ranks of the thresholds grow by this factor, as in `AllThresholds`."""


def bound(spec: Gaussian, groups: Groups, delta: float, alpha: float, rng: np.random.Generator) -> float:
    """Bound mu at the best of many thresholds, corrected for the choice, and turn it into epsilon; nothing is drawn."""
    if delta == 0:
        raise InputError("delta: the method 'gaussian' needs a delta above 0, such as 1e-5: at 0 no epsilon is finite")
    _, tpr_low, fpr_high = rank_thresholds(groups, spec.ratio, alpha)
    # mu = Phi^-1(TPR) - Phi^-1(FPR) is the same in both directions.
    mu = float((ndtri(tpr_low) - ndtri(fpr_high)).max(initial=0.0))
    return float(gaussian_epsilon(mu, delta)) if mu > 0 else 0.0


def gaussian_delta(mu: ArrayLike, epsilon: ArrayLike) -> Floats:
    """Compute the smallest delta for which mu-GDP is (epsilon, delta)-DP.

    ::

        delta = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)

    by the logarithms of its two terms; the second one's share of the first is a ratio of scaled complementary error
    functions, in which the large exponents cancel on paper.
    """
    return np.exp(_log_delta(*_checked(mu, epsilon)))


def gaussian_epsilon(mu: ArrayLike, delta: float) -> Floats:
    """Compute the smallest epsilon for which mu-GDP is (epsilon, delta)-DP.

    0 where delta alone pays for it all.
    """
    checked_delta(delta)
    if delta == 0:
        raise InputError("delta: expected a number above 0, got 0: there a Gaussian mechanism has no finite epsilon")
    means, _ = _checked(np.maximum(mu, np.where(np.asarray(mu) == 0, np.finfo(float).tiny, mu)), 0.0)
    # delta <= Phi(-epsilon/mu + mu/2), which gives an epsilon that is large enough.
    low, high = np.zeros_like(means), np.maximum(means * (means / 2 - ndtri(delta)), 0.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        over = _log_delta(means, middle) > np.log(delta)
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    enough: Floats = np.where(2 * ndtr(means / 2) - 1 <= delta, 0.0, (low + high) / 2)
    return enough


def _checked(mu: ArrayLike, epsilon: ArrayLike) -> tuple[Floats, Floats]:
    means, epsilons = checks.floats(mu=mu, ndim=(0, 1, 2)), checks.floats(epsilon=epsilon, ndim=(0, 1, 2))
    if np.any(means <= 0):
        raise InputError(f"mu: expected a number above 0, got {means.min()}")
    if np.any(epsilons < 0):
        raise InputError(f"epsilon: expected a number of at least 0, got {epsilons.min()}")
    first, second = np.broadcast_arrays(means, epsilons)
    return first.astype(np.float64), second.astype(np.float64)


def _log_delta(mu: Floats, epsilon: Floats) -> Floats:
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first = log_ndtr(-near)
    root = np.sqrt(0.5)
    scaled = np.log(erfcx(far * root)) - np.log(erfcx(np.maximum(near, 0) * root))
    share = np.where(near >= 0, scaled, epsilon + log_ndtr(-far) - first)
    gone = np.minimum(share, 0.0)
    rest = -np.expm1(gone)
    logs: Floats = first + np.log(rest, out=np.full(rest.shape, -np.inf), where=rest > 0)
    return logs
