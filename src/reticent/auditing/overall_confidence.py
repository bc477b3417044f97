"""Whether models that hold the same records are alike in how sure they are of all records.

Attacks that compare models learn what those say that were trained on a record, and what the others say. Where later
models are surer of everything, and were trained on a window that moves, the models that hold a record are surer of it
than the others, or less sure, without having memorised it.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtr, stdtrit

from reticent import seeds
from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.training_sets import training_sets

RECORDS = 2**13
"""Records that are looked at, evenly spaced."""
TARGETS = 64
"""Audited models that are looked at."""
PAIRS = 128
"""Members, and non-members, of a model that are compared with each other, evenly spaced by their scores."""
MATERIAL = 0.01
"""An AUC that is so far from one half would matter."""
FAR = 2.5
"""Standard deviations from what chance gives that it lies as well."""
FEW_SETS = 6
"""Models of fewer training sets have too few orders: chance is then one half, and its error that over targets, of one
target none."""
PERMUTED = 60
"""How often how sure models are is permuted among the training sets, to see what chance gives."""


def overall_confidence(
    margins: Callable[[int], Floats], membership: Bools, targets: Ints, references: Sequence[Ints]
) -> float | None:
    """Compute which AUC a likelihood ratio reaches by how sure the models are of all records.

    How sure two models are is compared on records that neither was trained on, so that what they memorised has no part
    in it. The ratio is LiRA's for normal answers of one spread, that of such records; its AUC is that of answers which
    depend on the model alone. Models of one training set, such as checkpoints of one run, are taken to be as sure.

    Args:
        margins: log-odds of the true label by one model, given its row ``(N,)``.
        membership: booleans ``(M, N)``.
        targets: rows of the audited models ``(T,)``.
        references: rows of the models that each is compared with, T arrays.

    Returns:
        The mean over targets, or None where models in another order explain it, it hardly matters, or no target has
        references that were trained on a record and others that were not.

    Cost: one pass over the margins, and of at most 8,192 records M² products, and for each of at most 64 targets 61 M.
    """
    models, every = membership.shape
    records = np.unique(np.linspace(0, every - 1, min(every, RECORDS)).astype(np.int64))
    inside = membership[:, records]
    answers = np.stack([np.asarray(margins(row)[records], dtype=np.float64) for row in range(models)])
    sure, spread = _confidence(answers - answers.mean(axis=0), ~inside)
    if not spread > 0:
        return None
    draw, sets = seeds.rng(0, "overall confidence"), training_sets(membership)
    by_set = np.bincount(sets, sure) / np.bincount(sets)
    within = sure - by_set[sets]
    permuted = (draw.permutation(by_set)[sets] + within for _ in range(PERMUTED if len(by_set) >= FEW_SETS else 0))
    dealt = np.stack([sure, *permuted])
    areas, of = [], []
    for at in np.unique(np.linspace(0, len(targets) - 1, min(len(targets), TARGETS)).astype(np.int64)):
        target, others = targets[at], references[at]
        held = inside[others].astype(np.float64)
        holders = held.sum(axis=0)
        compared = (holders > 0) & (holders < len(others))
        member = inside[target, compared]
        if not member.any() or member.all():
            continue
        held, holders = held[:, compared], holders[compared]
        rest = len(others) - holders
        with_it = dealt[:, others] @ held
        without = (dealt[:, others].sum(axis=1, keepdims=True) - with_it) / rest
        with_it = with_it / holders
        score = (with_it - without) * (dealt[:, [target]] - (with_it + without) / 2)
        variance = ((with_it - without) ** 2 + spread**2 * (1 / holders + 1 / rest)) * spread**2
        areas.append([_area(*each, member) for each in zip(score, variance, strict=True)])
        of.append(sets[target])
    if not areas:
        return None
    area, *chance = np.mean(areas, axis=0).tolist()
    if chance:
        middle, error = np.mean(chance), FAR * np.std(chance, ddof=1)
    else:
        middle, error = 0.5, _error_over_sets(np.array([own for (own,) in areas]), np.array(of))
    return area if abs(area - middle) > error and abs(area - 0.5) > MATERIAL else None


def _error_over_sets(areas: Floats, sets: Ints) -> float:
    """Compute how far a mean over training sets lies from the truth as seldom as `FAR` says; 0 of one."""
    each = np.array([areas[sets == one].mean() for one in np.unique(sets)])
    count = len(each)
    return float(stdtrit(count - 1, ndtr(FAR)) * each.std(ddof=1) / count**0.5) if count > 1 else 0.0


def _confidence(answers: Floats, outside: Bools) -> tuple[Floats, float]:
    """Fit how sure each model is to the differences of pairs on records that neither holds; and the spread of these."""
    mask = outside.astype(np.float64)
    told, squares = answers * mask, answers**2 * mask
    counts, sums = mask @ mask.T, told @ mask.T
    gaps = sums - sums.T
    square = squares @ mask.T + mask @ squares.T - 2 * told @ told.T
    np.fill_diagonal(counts, 0.0)
    normal = np.diag(counts.sum(axis=1)) - counts
    sure = np.linalg.lstsq(normal, gaps.sum(axis=1), rcond=None)[0]
    pairs = np.triu(counts, 1) > 1
    if not pairs.any():
        return sure, 0.0
    within = square[pairs] - gaps[pairs] ** 2 / counts[pairs]
    return sure, float((max(within.sum(), 0.0) / (2 * (counts[pairs] - 1).sum())) ** 0.5)


def _area(score: Floats, variance: Floats, member: Bools) -> float:
    """Compute the AUC of normal scores of known means and variances."""
    sides = []
    for side in (member, ~member):
        order = np.flatnonzero(side)[np.argsort(score[side], kind="stable")]
        sides.append(order[np.linspace(0, len(order) - 1, min(len(order), PAIRS)).round().astype(np.int64)])
    ours, theirs = sides[0][:, None], sides[1][None]
    return float(ndtr((score[ours] - score[theirs]) / np.sqrt(variance[ours] + variance[theirs])).mean())
