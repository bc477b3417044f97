"""How often a record's IN models would have margins as high had others been drawn: exact, whatever the law of margins.

k of a record's M models were trained on it, and chance drew which. Had it left no trace, its margins would be the same
whoever was drawn, so that the chance of the sum seen over the IN models, or a larger one, is the share of all sets of k
models with such a sum. Margins are rounded to a grid of `STEPS` steps over their range; the chance is exact for the sum
of what they are rounded to.

Sets are counted by what they lose against the k largest margins: each of the k that is left out loses what it has above
the smallest of them, and each other one that is taken in its place what it has below that. A recursion over the models
gives how the loss of c of them is distributed, up to the loss seen.
"""

import math

import numpy as np
from scipy.special import gammaln

from reticent.arrays import Bools, Floats, Ints

STEPS = 50
"""Steps from the smallest margin to the largest: a step is about a tenth of the margins' standard deviation."""
RATES = np.geomspace(0.1, 300, 40)
"""Of Chernoff's limits, which all hold and of which the smallest is taken, over the loss seen."""
COINS = 1000
"""Models up to which a set's share, one half to the power of their number, is a float; of more, small shares are 0."""
CELLS = 2**16
"""Numbers at once in which records are bounded; they stay in the processor's cache."""


def chances(margins: Floats, inside: Bools, enough: float) -> Floats:
    """Compute each record's chance of an IN sum as large as the one seen, or larger, had others been drawn.

    Of margins ``(M, n)`` and who was trained on them. Where a quick upper limit of the chance is at most `enough`, it
    stands for the chance. Cost: O(M n) for the limits, and that of `chance` for every record where the limit is larger.
    """
    found = limits(margins, inside)
    for i in np.flatnonzero(found > enough).tolist():
        found[i] = chance(margins[:, i], inside[:, i])
    return found


def limits(margins: Floats, inside: Bools) -> Floats:
    """Bound each record's chance from above (Chernoff): sets that lose more than is seen count for less, not for 0.

    Of margins ``(M, n)`` and who was trained on them: some, and not all. Cost: O(M n).
    """
    found = np.empty(margins.shape[1])
    low, high = margins.min(axis=0), margins.max(axis=0)
    wide = high > low
    steps = np.rint((margins - low) * np.where(wide, STEPS / np.where(wide, high - low, 1.0), 0.0)).astype(np.int64)
    ordered, count = -np.sort(-steps, axis=0), inside.sum(axis=0)
    for k in np.unique(count).tolist():
        here = np.flatnonzero(count == k)
        own = ordered[:, here]
        losses = np.concatenate([own[:k][::-1] - own[k - 1], own[k - 1] - own[k:]]).T
        seen = own[:k].sum(axis=0) - np.where(inside[:, here], steps[:, here], 0).sum(axis=0)
        together = max(1, CELLS // (len(RATES) * len(margins)))
        for part in np.split(np.arange(len(here)), range(together, len(here), together)):
            rates = RATES / np.maximum(seen[part], 1)[:, None]
            falls = np.minimum(rates[:, :, None] * losses[part][:, None, :], 700.0)
            rises = RATES * (seen[part] / np.maximum(seen[part], 1))[:, None]
            sums = np.log1p(np.exp(-falls)).sum(axis=2)
            found[here[part]] = np.exp(np.min(rises + sums, axis=1) + log_least(len(margins), k))
    return found


def chance(margins: Floats, inside: Bools) -> float:
    """Compute one record's chance of an IN sum as large as the one seen, or larger, had others been drawn.

    From 1 / C(M, k) to 1, of margins ``(M,)`` and who was trained on it: some, and not all. Cost: O(M c L), c being how
    many of the k largest can be exchanged at the loss seen, which is of L steps.
    """
    seen, left_out, taken = _losses(margins, inside)
    fewer = min(len(left_out), len(taken))
    most = int(np.count_nonzero(np.cumsum(left_out)[:fewer] + np.cumsum(taken)[:fewer] <= seen))
    (out, flips), (into, more) = _shares(left_out, seen, most), _shares(taken, seen, most)
    total, least = float((out * np.cumsum(into, axis=1)[:, ::-1]).sum()), float(log_least(len(margins), len(left_out)))
    # The set seen is one of them, even where what is left of it is no number.
    chance = math.exp(math.log(total) + (flips + more) * math.log(2) + least) if total else 0.0
    return min(1.0, max(chance, math.exp(least)))


def log_least(models: Ints | int, inside: Ints | int) -> Floats:
    """Compute the logarithm of the smallest chance that there can be, ``-ln C(M, k)``."""
    return -_log_choose(models, inside)


def _losses(margins: Floats, inside: Bools) -> tuple[int, Ints, Ints]:
    """Return the loss seen, what each of the k largest loses if left out, and what each other one does if taken."""
    k, low, high = int(inside.sum()), margins.min(), margins.max()
    steps = np.rint((margins - low) * (STEPS / (high - low) if high > low else 0.0)).astype(np.int64)
    ordered = np.sort(steps)[::-1]
    seen = int(ordered[:k].sum() - steps[inside].sum())
    return seen, ordered[:k][::-1] - ordered[k - 1], ordered[k - 1] - ordered[k:]


def _shares(losses: Ints, seen: int, most: int) -> tuple[Floats, int]:
    """Count sets of c models, for c up to `most`, by their loss, as shares of all sets: ``(most + 1, seen + 1)``.

    The losses ascend. Also how many models these are sets of: those that lose more than is seen are in none.
    """
    kept = losses[losses <= seen]
    now = np.zeros((most + 1, seen + 1))
    now[0, 0] = 2.0 ** -min(len(kept), COINS)
    after = now.copy()
    reached = np.minimum(np.cumsum(kept), seen) + 1
    for count, (step, width) in enumerate(zip(kept.tolist(), reached.tolist(), strict=True), start=1):
        rows = min(count, most) + 1  # What lies beyond rows and width is still 0.
        np.add(now[: rows - 1, : width - step], now[1:rows, step:width], out=after[1:rows, step:width])
        after[1:rows, :step] = now[1:rows, :step]
        now, after = after, now
        if count > COINS:
            now *= 0.5
            after *= 0.5
    return now, len(kept)


def _log_choose(n: Ints | int, k: Ints | int) -> Floats:
    return np.asarray(gammaln(np.add(n, 1)) - gammaln(np.add(k, 1)) - gammaln(np.subtract(n, k) + 1))
