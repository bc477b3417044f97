"""Confidence intervals: exact for a count, DeLong's for an AUC, quantiles for replicates."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv, expit, logit, ndtri, stdtrit

from reticent import checks
from reticent.arrays import Floats
from reticent.auditing.roc import two_groups
from reticent.auditing.sorted_scores import Ranked
from reticent.errors import InputError
from reticent.findings.base import Interval
from reticent.findings.numbers import Estimate


def tail(confidence: float) -> float:
    """Return the probability left on each side of a two-sided interval."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence: expected a number between 0 and 1, such as 0.95, got {confidence}")
    return (1 - confidence) / 2


def clopper_pearson(successes: ArrayLike, trials: ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Compute the exact interval of a binomial probability; it covers at least as often as it says.

    Paper: Clopper and Pearson (1934). Quantiles of Beta(k, n - k + 1) and Beta(k + 1, n - k). Counts may be arrays.
    Each limit alone is a one-sided one at ``(1 + confidence) / 2``.
    """
    alpha = tail(confidence)
    hits, total = np.broadcast_arrays(checks.floats(successes=successes, ndim=(0, 1, 2)), np.asarray(trials, float))
    if np.any(total < 1) or np.any(hits < 0) or np.any(hits > total):
        raise InputError(f"successes: expected counts from 0 to trials, got {hits} of {total}")
    return lower(hits, total, alpha), upper(hits, total, alpha)


def exact_interval(successes: float, trials: float, confidence: float = 0.95) -> Interval:
    """Compute `clopper_pearson` of one count, which need not be whole."""
    low, high = clopper_pearson(successes, trials, confidence)
    return float(low), float(high)


def lower(successes: ArrayLike, trials: ArrayLike, alpha: ArrayLike) -> Floats:
    """Compute Clopper and Pearson's (1934) one-sided lower limit of a binomial probability.

    It is above the probability at most with probability `alpha`: the ``alpha`` quantile of Beta(k, n - k + 1); 0 for k
    = 0. Effective counts need not be whole.
    """
    hits, total = np.asarray(successes, float), np.asarray(trials, float)
    limit: Floats = np.where(hits > 0, betaincinv(np.where(hits > 0, hits, 1), total - hits + 1, alpha), 0.0)
    return limit


def upper(successes: ArrayLike, trials: ArrayLike, alpha: ArrayLike) -> Floats:
    """Compute Clopper and Pearson's (1934) one-sided upper limit of a binomial probability.

    It is below the probability at most with probability `alpha`: the ``1 - alpha`` quantile of Beta(k + 1, n - k); 1
    for k = n. Effective counts need not be whole.
    """
    hits, total = np.asarray(successes, float), np.asarray(trials, float)
    missed = total - hits
    limit: Floats = np.where(missed > 0, betainccinv(hits + 1, np.where(missed > 0, missed, 1), alpha), 1.0)
    return limit


def delong(scores: ArrayLike, members: ArrayLike) -> tuple[float, float]:
    """Compute one AUC and DeLong's estimate of its variance, ties counted half.

    Paper: DeLong, DeLong and Clarke-Pearson (1988), by midranks as in Sun and Xu (2014): ``O(N log N)``.
    With fewer than two members or non-members, whose spread cannot be seen, the variance is the upper bound
    ``AUC (1 - AUC) / min(m, n)`` of Birnbaum and Klose (1957).
    """
    return Ranked.of(*two_groups(scores, members)).delong()


def degenerate(value: float, pairs: int, confidence: float) -> Interval:
    """Bound a mean of numbers in [0, 1] whose sample shows no spread.

    Had a share d of the pairs gone the other way, then all of k independent pairs would agree with probability ``(1 -
    d)**k``; d is where this is the probability of one tail. For AUC = 1 this is Clopper-Pearson's limit for k of k.
    `pairs` is k, the smaller group's size.
    """
    share = 1 - tail(confidence) ** (1 / pairs)
    return value * (1 - share), value + share * (1 - value)


def auc_interval(scores: ArrayLike, members: ArrayLike, confidence: float = 0.95) -> Interval:
    """Compute the interval of one target's AUC: DeLong's variance, on the logit scale, so that it stays in [0, 1].

    Where the variance is zero (perfect separation, or all scores equal), see `degenerate`.
    """
    return ranked_auc_interval(Ranked.of(*two_groups(scores, members)), confidence)


def ranked_auc_interval(ranked: Ranked, confidence: float = 0.95) -> Interval:
    """Compute the interval of the AUC of records in their order; see `auc_interval`."""
    return area_interval(*ranked.delong(), None, min(ranked.sizes), confidence)


def area_interval(value: float, variance: float, freedom: float | None, pairs: int, confidence: float) -> Interval:
    """Bound an AUC, or a mean of AUCs, of which the variance is known, on the logit scale.

    Near 1 the spread shrinks as the AUC grows, so that on the scale itself the lower limit would lie too high. By
    Student's quantile, or the normal one without degrees of freedom. `pairs`, the members or the non-members of a
    target, whichever are fewer, bound the AUC where nothing varies.
    """
    if variance <= 0 or not 0 < value < 1:
        return degenerate(value, pairs, confidence)
    alpha = tail(confidence)
    quantile = ndtri(alpha) if freedom is None else stdtrit(freedom, alpha)
    arm = -float(quantile) * variance**0.5 / (value * (1 - value))
    return float(expit(logit(value) - arm)), float(expit(logit(value) + arm))


def percentile(replicates: Floats, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the middle share of replicates.

    Of ``(B, ...)``: its lower and its upper quantile ``(...)``.
    """
    alpha = tail(confidence)
    low, high = np.quantile(replicates, [alpha, 1 - alpha], axis=0)
    return low, high


def widened(summary: Estimate, confidence: float, choices: int, *, area: bool = False) -> Interval:
    """Widen an interval for a choice among several; that of an AUC (`area`) on the logit scale, as it was made.

    Each of so many holds at confidence ``1 - (1 - confidence) / choices``, within [0, 1].
    """
    alpha = tail(confidence)
    if summary.freedom is None:
        stretch = float(ndtri(alpha / choices) / ndtri(alpha))
    else:
        stretch = float(stdtrit(summary.freedom, alpha / choices) / stdtrit(summary.freedom, alpha))
    low, high = summary.interval
    if area and 0 < low <= summary.mean <= high < 1:
        centre = logit(summary.mean)
        wide = [float(expit(centre + stretch * (logit(end) - centre))) for end in (low, high)]
        return min(low, wide[0]), max(high, wide[1])  # Rounding must not make it narrower.
    return (
        max(0.0, summary.mean - stretch * (summary.mean - low)),
        min(1.0, summary.mean + stretch * (high - summary.mean)),
    )
