"""How often a record's IN models would have margins as high had others been drawn: exact, whatever the law of margins.

k of a record's M models were trained on it, and chance drew which. Had it left no trace, its margins would be the same
whoever was drawn, so that the chance of the sum seen over the IN models, or a larger one, is that of all sets of k
models with such a sum. A set's chance is in proportion to the product of its models' odds of holding a record, which
are equal where the models hold equally many (`draws`). Margins are rounded to a grid of `STEPS` steps over their range;
the chance is exact for the sum of what they are rounded to.

Sets are counted by what they lose against the k largest margins: each of the k that is left out loses what it has above
the smallest of them, and each other one that is taken in its place what it has below that. A recursion over the models
gives how the loss of c of them is distributed, up to the loss seen.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from reticent.arrays import Bools, Floats, Ints

STEPS = 50
"""Steps from the smallest margin to the largest: a step is about a tenth of the margins' standard deviation."""
RATES = np.geomspace(0.1, 300, 40)
"""Of Chernoff's limits, which all hold and of which the smallest is taken, over the loss seen."""
RESCALED = 32
"""Models after which weights of sets are divided by a power of two, so that they stay floats."""
CELLS = 2**16
"""Numbers at once in which records are bounded; they stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Sets:
    """How likely each set of models is to be the one that was trained on a record.

    Attributes:
        log_odds: logarithm of each model's odds of holding a record ``(M,)``.
        log_total: for each number of models from 0 to M, the logarithm of the sum over all sets of so many of the
            product of their odds, ``(M + 1,)``; of equal odds their number.
    """

    log_odds: Floats
    log_total: Floats

    @classmethod
    def of(cls, log_odds: Floats) -> "Sets":
        """Sum up the sets of models of such odds ``(M,)``. Cost: O(M^2), or O(M) where all are 0."""
        models = len(log_odds)
        if not log_odds.any():
            return cls(log_odds, _log_choose(models, np.arange(models + 1)))
        total = np.full(models + 1, -np.inf)
        total[0] = 0.0
        for odds in log_odds.tolist():
            total[1:] = np.logaddexp(total[1:], total[:-1] + odds)
        return cls(log_odds, total)

    def log_least(self, inside: Ints) -> Floats:
        """Compute the logarithm of the smallest chance that a set of so many models has, for each number of them."""
        return np.asarray(np.append(0.0, np.cumsum(np.sort(self.log_odds)))[inside] - self.log_total[inside])

    def log_chance(self, inside: Bools) -> Floats:
        """Compute the logarithm of the chance of each record's set of models, ``(M, n)`` or ``(M,)``."""
        return np.asarray(self.log_odds @ inside - self.log_total[inside.sum(axis=0)])


def limits(margins: Floats, inside: Bools, sets: Sets) -> Floats:
    """Bound each record's chance from above (Chernoff): sets that lose more than is seen count for less, not for 0.

    Of margins ``(M, n)`` and who was trained on them: some, and not all. Cost: O(M n).
    """
    found = np.empty(margins.shape[1])
    low, high = margins.min(axis=0), margins.max(axis=0)
    wide = high > low
    steps = np.rint((margins - low) * np.where(wide, STEPS / np.where(wide, high - low, 1.0), 0.0)).astype(np.int64)
    order, count = np.argsort(-steps, axis=0, kind="stable"), inside.sum(axis=0)
    ordered, odds = np.take_along_axis(steps, order, axis=0), sets.log_odds[order]
    for k in np.unique(count).tolist():
        here = np.flatnonzero(count == k)
        own = ordered[:, here]
        losses = np.concatenate([own[:k][::-1] - own[k - 1], own[k - 1] - own[k:]]).T
        flips = np.concatenate([-odds[:k, here][::-1], odds[k:, here]]).T
        largest = odds[:k, here].sum(axis=0) - sets.log_total[k]
        seen = own[:k].sum(axis=0) - np.where(inside[:, here], steps[:, here], 0).sum(axis=0)
        together = max(1, CELLS // (len(RATES) * len(margins)))
        for part in np.split(np.arange(len(here)), range(together, len(here), together)):
            rates = RATES / np.maximum(seen[part], 1)[:, None]
            falls = np.minimum(rates[:, :, None] * losses[part][:, None, :], 700.0) - flips[part][:, None, :]
            rises = RATES * (seen[part] / np.maximum(seen[part], 1))[:, None]
            sums = np.log1p(np.exp(-falls)).sum(axis=2)
            found[here[part]] = np.exp(np.min(rises + sums, axis=1) + largest[part])
    return found


def chance(margins: Floats, inside: Bools, sets: Sets) -> float:
    """Compute one record's chance of an IN sum as large as the one seen, or larger, had others been drawn.

    From the chance of its own set, 1 / C(M, k) of equal odds, to 1; of margins ``(M,)`` and who was trained on it:
    some, and not all. Cost: O(M c L), c being how many of the k largest can be exchanged at the loss seen, which is of
    L steps.
    """
    k, low, high = int(inside.sum()), margins.min(), margins.max()
    steps = np.rint((margins - low) * (STEPS / (high - low) if high > low else 0.0)).astype(np.int64)
    order = np.argsort(-steps, kind="stable")
    ordered, odds = steps[order], sets.log_odds[order]
    seen = int(ordered[:k].sum() - steps[inside].sum())
    left_out, taken = ordered[:k][::-1] - ordered[k - 1], ordered[k - 1] - ordered[k:]
    fewer = min(len(left_out), len(taken))
    most = int(np.count_nonzero(np.cumsum(left_out)[:fewer] + np.cumsum(taken)[:fewer] <= seen))
    out, scale = _weights(left_out, np.exp(-odds[:k][::-1]), seen, most)
    into, more = _weights(taken, np.exp(odds[k:]), seen, most)
    total = float((out * np.cumsum(into, axis=1)[:, ::-1]).sum())
    largest, own = float(odds[:k].sum() - sets.log_total[k]), float(sets.log_chance(inside))
    # The set seen is one of them, even where what is left of it is no number.
    found = math.exp(math.log(total) + (scale + more) * math.log(2) + largest) if total else 0.0
    return min(1.0, max(found, math.exp(own)))


def _weights(losses: Ints, factors: Floats, seen: int, most: int) -> tuple[Floats, int]:
    """Sum the weights of sets of c models, for c up to `most`, by their loss: ``(most + 1, seen + 1)``.

    A set's weight is the product of its models' factors. The losses ascend: models that lose more than is seen are in
    no set. Also by which power of two the sums are to be multiplied.
    """
    kept = losses[losses <= seen]
    now = np.zeros((most + 1, seen + 1))
    now[0, 0] = 1.0
    after, scale = now.copy(), 0
    reached = np.minimum(np.cumsum(kept), seen) + 1
    each = zip(kept.tolist(), reached.tolist(), factors.tolist(), strict=False)
    for count, (step, width, factor) in enumerate(each, start=1):
        rows = min(count, most) + 1  # What lies beyond rows and width is still 0.
        flipped = now[: rows - 1, : width - step]
        np.add(flipped if factor == 1 else factor * flipped, now[1:rows, step:width], out=after[1:rows, step:width])
        after[1:rows, :step] = now[1:rows, :step]
        now, after = after, now
        if count % RESCALED == 0:
            grown = math.frexp(float(now.sum()))[1]
            scale += grown
            now *= 2.0**-grown
            after *= 2.0**-grown
    return now, scale


def _log_choose(n: int, k: Ints) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
