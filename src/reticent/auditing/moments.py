"""The crossed bootstrap's variance in closed form, for statistics whose records' influences are known.

A statistic of T models on the same records moves with other records and with other models. `bootstrap.Bootstrap`
redraws both, and scales to the unbiased variance ``V = v + max(0, 2 s^2 - mean s*^2) / T``. To first order its parts
are sums over the records' influences h (how far the statistic of target t moves with the weight of record i):

    v = sum_i (mean_t h_ti)^2,   v_t = sum_i h_ti^2,   mean s*^2 = s^2 + T / (T - 1) (mean_t v_t - v).

So many groups of records cost as much as one pass over all of them, no random number is drawn, and a group of few
records has an interval on the scale that suits it instead of one cut off at the replicates' ends. Degrees of freedom
are the fewer of ``records - 2`` and ``T - 1`` (why not Satterthwaite's: see `bootstrap`).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from reticent.arrays import Floats, Ints
from reticent.auditing.intervals import lower, tail, upper
from reticent.auditing.training_sets import TrainingSets
from reticent.findings.base import Interval


@dataclass(frozen=True, eq=False)
class Moments:
    """One statistic of G groups and T targets, and how far it moves with other records.

    Attributes:
        observed: ``(T, G)``.
        each: ``(T, G)``, variance over records of every target's value, v_t.
        mean: ``(G,)``, variance over records of the mean over targets, v.
        records: ``(G,)``, how many records a group has.
        sets: what the targets count for.
    """

    observed: Floats
    each: Floats
    mean: Floats
    records: Ints
    sets: TrainingSets

    @property
    def value(self) -> Floats:
        """Mean over targets ``(G,)``."""
        return np.asarray(self.observed.mean(axis=0))

    @property
    def std(self) -> Floats | None:
        """Standard deviation over targets ``(G,)``, None for one target."""
        return np.asarray(self.observed.std(axis=0, ddof=1)) if len(self.observed) > 1 else None

    def by_models(self) -> Floats:
        """Return what other models add to the variance of the mean, ``(G,)``.

        Of the variance between them less that of their records, ``s^2 - T / (T - 1) (mean_t v_t - v)``.
        """
        targets = len(self.observed)
        if targets == 1:
            return np.zeros(len(self.mean))
        interaction = targets / (targets - 1) * (self.each.mean(axis=0) - self.mean)
        return self.sets.by_models(self.observed.var(axis=0, ddof=1) - interaction)

    def variance(self) -> tuple[Floats, Floats]:
        """Return the variance of the mean, ``(G,)``, and its degrees of freedom."""
        return self.mean + self.by_models(), self.freedom

    @property
    def freedom(self) -> Floats:
        """Degrees of freedom of a variance over records and models, ``(G,)``; over records alone for one target."""
        known = np.maximum(1.0, self.records - 2.0)
        return np.asarray(np.minimum(known, self.sets.count - 1)) if self.sets.count > 1 else known


def share_interval(
    value: float, variance: float, freedom: float, sizes: tuple[int, int], confidence: float
) -> Interval:
    """Bound a mean share: Clopper and Pearson's limits at the effective number of trials.

    Paper: Korn and Graubard (1998), "Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data": ``n = p (1 - p) / V``, times the squared ratio of the normal and Student's quantile.
    `sizes` are the trials where nothing varies, and the trials at most.
    """
    alpha = tail(confidence)
    trials = value * (1 - value) / variance if variance > 0 and 0 < value < 1 else float(sizes[0])
    trials = max(1.0, min(trials, sizes[1])) * float(ndtri(alpha) / stdtrit(freedom, alpha)) ** 2
    hits = value * trials
    return min(float(lower(hits, trials, alpha)), value), max(float(upper(hits, trials, alpha)), value)
