"""Whether records are in different shares of the models, beyond what coins give, for records or for persons."""

import numpy as np
from scipy.stats import binom

from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.training_sets import training_sets
from reticent.data.membership import divided

FAR = 3.5
"""Standard deviations by which shares must vary more than coins of one kind do, to be called different: fair draws are
called so in less than 1 of 100 audits of 5 models or more, of records and of persons."""
TAIL = 10
"""Records, or persons, that coins put below a level and above it, where it is looked at."""
ROUNDING, TINY = 1e-9, 1e-12


def shares(membership: Bools, records: Bools | Ints) -> tuple[float, float] | None:
    """Return the least and the largest share of models that hold one of some records, where coins do not spread so.

    Of models that hold some of all records and not others: no coin fell for the rest. Coins of one kind fall for a
    record, or for a person: records in the same models count as one, but for those that are so by chance, as often as
    the sets of equally many models come up unequally. How many records are in how many models is held against coins at
    every level: what they are in beyond it, on average (in convex order). Records in equally many models spread less.
    Models of nearly the same members count as one.
    """
    membership = membership[divided(membership)]
    if len(membership):
        membership = membership[np.unique(training_sets(membership), return_index=True)[1]]
    membership, models = membership[:, records], len(membership)
    held = np.add.reduce(membership, axis=0, dtype=np.int64)
    seen, counts = np.bincount(held, minlength=models + 1), np.arange(models + 1)
    share = float(held.mean() / max(models, 1))
    if models < 2 or not 0 < share < 1:
        return None
    alike = together(membership)
    chance, spread = binom.pmf(counts, models, share), models * share * (1 - share)
    rarer = np.minimum(binom.cdf(counts - 1, models, share), binom.sf(counts, models, share))
    levels = rarer * len(held) >= TAIL * alike
    levels[round(models * share)] = True
    beyond = np.maximum(counts - counts[levels, None], 0)
    slope = beyond @ (chance * (counts - models * share)) / spread  # The share is that of these records.
    variance = beyond**2 @ chance - (beyond @ chance) ** 2 - slope**2 * spread
    excess = beyond @ (seen - len(held) * chance)
    far = FAR * (len(held) * alike * np.maximum(variance, 0)) ** 0.5 + ROUNDING * len(held)
    return (float(held.min() / models), float(held.max() / models)) if (excess > far).any() else None


def together(membership: Bools) -> float:
    """Compute how many records ``(M, N)`` count as one: those in the same models, but for those that are so by chance.

    From 1, of records alone; of persons it is the mean number of their records, each record being asked.
    """
    packed, models = np.packbits(membership, axis=0), len(membership)
    seen = np.bincount(np.add.reduce(membership, axis=0, dtype=np.int64), minlength=models + 1)
    sets = np.ascontiguousarray(packed.T).view(np.dtype((np.void, len(packed))))
    alike, same = np.unique(sets, return_counts=True)[1].astype(np.float64), _same(membership.mean(axis=1))
    free = (seen * (1 - same)).sum()
    return max(1.0, float((alike**2).sum() - (seen**2 * same).sum()) / free) if free else 1.0


def _same(sizes: Floats) -> Floats:
    """Compute, for each number of models from none to all, how often two records in so many are in the same ones.

    `sizes` are the shares of records that the models hold, by coins. A set's probability is the product of its models'
    odds, over the sum of these products for all sets of so many: an elementary symmetric polynomial.
    """
    odds = sizes / np.maximum(1 - sizes, TINY)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        same = np.abs(np.poly(-(odds**2))) / np.poly(-odds) ** 2
    same = np.asarray(np.nan_to_num(same, nan=0.0, posinf=0.0))  # Too small to be told, of very many models.
    same[[0, -1]] = 1.0
    return same
