"""A difference between two recipes: both trained on the same memberships, and asked about the same records.

What the two share (which records are hard, which model got which half) cancels in the difference of each target, so
the interval of the difference is narrower than the two intervals suggest. Its variance is that of
`reticent.auditing.bootstrap`, models crossed with records, of the differences; the interval is Student's, with a degree
of freedom fewer than there are training sets, and excludes 0 exactly where the p-value is below one minus the
confidence.
"""

import numpy as np
from scipy.special import stdtr, stdtrit

from reticent.arrays import Bools, Floats
from reticent.auditing.bootstrap import MANY, NO_SPREAD, Bootstrap, Variance, crossed_variance
from reticent.auditing.intervals import degenerate, tail
from reticent.auditing.training_sets import TrainingSets
from reticent.findings.numbers import PairedDifference


def difference(observed: Floats, variance: Variance, pairs: int, confidence: float) -> PairedDifference:
    """Bound the mean of the targets' differences.

    `observed` is ``(T,)``. So many independent `pairs` of records bound a difference that shows no spread
    (`degenerate`).
    """
    value = float(observed.mean())
    alpha = tail(confidence)
    if variance.total <= NO_SPREAD:
        # Differences lie in [-1, 1]; 0 is at the edge where the probability of a tail is (1 + |d|)**-pairs.
        low, high = degenerate((1 + value) / 2, pairs, confidence)
        p = float(min(1.0, 2 * (1 + abs(value)) ** -pairs))
        return PairedDifference(difference=value, interval=(2 * low - 1, 2 * high - 1), p=p)
    error, freedom = variance.total**0.5, variance.freedom
    arm = -float(stdtrit(freedom, alpha)) * error
    p = float(2 * stdtr(freedom, -abs(value) / error))
    finite = freedom if freedom < MANY else None
    return PairedDifference(difference=value, interval=(value - arm, value + arm), p=p, freedom=finite)


def bootstrapped(
    first: tuple[Bootstrap, Floats], second: tuple[Bootstrap, Floats], statistic: int, pairs: int, confidence: float
) -> PairedDifference:
    """Compare one statistic of two recipes by replicates that took the same records.

    Each recipe has its replicates, drawn from a generator in the same state, and its statistic on each target ``(T,)``;
    `statistic` is the replicates' column.
    """
    (one, at_one), (two, at_two) = first, second
    values = one.replicated(statistic, at_one) - two.replicated(statistic, at_two)
    observed = at_one - at_two
    return difference(observed, crossed_variance(values, observed, one.training_sets), pairs, confidence)


def over_records(
    first: Bools, second: Bools, counted: Bools, sets: TrainingSets, confidence: float
) -> PairedDifference:
    """Compare a share of records, such as the accuracy, known for each record; all are ``(T, N)`` as for `crossed`."""
    observed, variance = crossed(first.astype(np.float64) - second, counted, sets)
    return difference(observed, variance, int(counted.sum(axis=1).min()), confidence)


def crossed(given: Floats, counted: Bools, sets: TrainingSets) -> tuple[Floats, Variance]:
    """Average over records what is given of each ``(T, N)``, with the variance of models crossed with records.

    That is what the bootstrap of `reticent.auditing.bootstrap` tends to with many replicates, in closed form. `counted`
    marks the records that count for each target, such as its non-members; `sets` is what the targets count for.
    """
    each = np.where(counted, given, 0.0)
    size = counted.sum(axis=1)
    observed = each.sum(axis=1) / size
    # What one more copy of a record adds to the difference of a target.
    influence = np.where(counted, each - observed[:, None], 0.0) / size[:, None]
    targets = len(observed)
    shared = influence.mean(axis=0)
    spread = np.array(0.0)
    if targets > 1:
        spread = observed.var(ddof=1) - ((influence - shared) ** 2).sum() / (targets - 1)
    return observed, Variance(float((shared**2).sum()), float(sets.by_models(spread)), sets.count)
