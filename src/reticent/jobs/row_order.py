"""Membership whose rows or columns are in another order than the answers: refused, with the order that fits.

What sets a model's answers apart from the mean over models, so that easy records are none, is correlated with each row
of the membership. A correlation is large beside those with the rows of other models, or at other places, which are
what chance gives: records of one person, checkpoints of one run and nested training sets make all of them large.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from reticent.arrays import Bools, Floats
from reticent.attacks.base import Problem
from reticent.data.membership import divided
from reticent.data.records import listed
from reticent.errors import InputError

SURE = 8.0
"""Standard deviations, as chance spreads, by which another order must fit better."""
DRAWS = 64
"""Matrices of noise that show how well some order fits by chance."""
FEWEST = 4
"""Models from which their other rows show how chance spreads."""
MOST_NUMBERS = 2**21
"""Margins that are looked at."""
TOLD_APART = 0.1
"""The smallest eigenvalue with which models' own leaks are told apart: less where nearly all have the same rows."""
SMALL = 0.1
"""The least size of a model's answers, as a share of the median, that it is judged by."""
TINY = 1e-100
"""What stands for the size of a row that is all one number."""
TIE = 1e-9
"""By how much a row's own place goes before another that fits as well."""


def check(problem: Problem) -> None:
    """Refuse membership in another order than the answers, where that is sure."""
    if problem.signals.models < FEWEST:
        return
    said, sizes, held, drawn = _standardised(problem)
    if not drawn.any():
        return
    sure = said @ held.T  # In standard deviations of independent records.
    others = sure[:, drawn][~np.eye(len(sure), dtype=np.bool_)[:, drawn]]
    sure /= _spread(others - np.median(others))
    _check_turned(sure.diagonal(), sizes, held)
    _check_rows(sure, drawn)
    _check_columns(said, held)


def _standardised(problem: Problem) -> tuple[Floats, Floats, Floats, Bools]:
    """Give answers ``(M, n)`` of size 1, their sizes, membership of standard deviation 1, and which rows are mixed."""
    some = slice(min(problem.signals.records, MOST_NUMBERS // problem.signals.models))
    said = problem.signals.plain(some).astype(np.float64)
    said -= said.mean(axis=0)
    said -= said.mean(axis=1, keepdims=True)
    sizes = np.maximum((said**2).sum(axis=1), TINY) ** 0.5
    said /= sizes[:, None]
    inside = problem.membership.matrix[:, some]
    held = np.asarray(inside - inside.mean(axis=1, keepdims=True), dtype=np.float64)
    held /= np.maximum((held**2).mean(axis=1, keepdims=True), TINY) ** 0.5
    return said, sizes, held, divided(inside)


def _spread(values: Floats) -> float:
    """Estimate a standard deviation from the median, which few large values do not move; at least 1."""
    return max(1.0, float(np.median(np.abs(values))) / 0.6745)


def _check_turned(own: Floats, sizes: Floats, held: Floats) -> None:
    """Refuse rows of some models alone that say the opposite of what the models do.

    The mean over models holds what models of the same rows do, and so makes the weaker of them look turned: the
    regression of the answers on membership and record together takes it out.
    """
    models = len(own)
    alone = np.eye(models) - held @ held.T / (held.shape[1] * models)
    if np.linalg.eigvalsh(alone)[0] < TOLD_APART:
        return
    freed = np.linalg.inv(alone)
    # A model that is nearly the mean of the others has almost no answers of its own.
    own = freed @ (own * sizes) / (np.maximum(sizes, SMALL * np.median(sizes)) * freed.diagonal() ** 0.5)
    turned = np.flatnonzero(own < -SURE)
    if len(turned) and own.max() > SURE:
        raise InputError(
            f"membership: {len(turned)} of {models} models ({listed(turned)}) answer as if trained on the records "
            "that it says they were not trained on, others as if on those that it says they were: exchange True and "
            "False in the rows of these, or, if these rows are right, audit these models apart from the others"
        )


def _check_rows(sure: Floats, drawn: Bools) -> None:
    """Refuse rows in the order of other models."""
    models, own = len(sure), sure.diagonal()
    order = linear_sum_assignment(sure + TIE * np.eye(models), maximize=True)[1]
    moved = (order != np.arange(models)) & drawn[order]
    gain = (sure[np.arange(models), order] - np.abs(own))[moved]
    if len(gain) and gain.min() > 0 and gain.sum() > _by_chance(len(gain) + int(np.count_nonzero(~drawn)), len(gain)):
        pairs = np.array([f"model {model} on those of row {order[model]}" for model in np.flatnonzero(moved)])
        raise InputError(
            f"membership: its rows are in another order than the models: {moved.sum()} of {models} models answer as if "
            f"trained on the records of another row ({listed(pairs)}): give its rows in the order of the models"
        )


def _by_chance(models: int, rows: int) -> float:
    """Give how well noise fits in the order that fits best, each row with another model, plus `SURE` deviations."""
    noise, fits = np.random.default_rng(0), []
    for _ in range(DRAWS):
        draw = noise.normal(size=(models, rows))
        fits.append(draw[linear_sum_assignment(draw, maximize=True)].sum())
    return float(np.mean(fits) + SURE * np.std(fits))


def _check_columns(said: Floats, held: Floats) -> None:
    """Refuse columns that are shifted against the records."""
    spectra = (np.fft.rfft(said) * np.fft.rfft(held).conj()).sum(axis=0)
    shifted = np.fft.irfft(spectra, said.shape[1]) / len(said) ** 0.5
    shifted /= _spread(shifted)
    best = int(shifted.argmax())
    if shifted[best] > abs(shifted[0]) + SURE:
        places = best if best <= len(shifted) // 2 else best - len(shifted)
        raise InputError(
            f"membership: its columns are in another order than the records: the models answer as if trained on the "
            f"records {abs(places)} {'after' if places > 0 else 'before'} those that it names: give "
            f"numpy.roll(membership, {places}, axis=1), or the answers in the order of its columns"
        )
