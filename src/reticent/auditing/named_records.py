"""Records that are named as members of one target, with few false names.

Records that no model was trained on, from the same source as the audited ones, show how non-members of the target look:
each gets the same score from the target and as many models without it. A record's p-value is the share of them that
score at least as high (ties count against it), and the names are those that Benjamini and Hochberg's procedure keeps at
rate q. If non-members and the population are exchangeable given the models, at most a share q of a list's names is
wrong on average, times the share of non-members; also where the target as a whole differs from its references, which
moves both alike. It holds for each target's list, not for several lists together, nor for each record.

Paper: MIAFdR (arXiv 2508.07066); that adjusted conformal p-values keep the rate: Bates et al. (2023), "Testing for
outliers with conformal p-values".
"""

import numpy as np

from reticent import scratch
from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.claimed_rates import ROUNDING
from reticent.auditing.comparison.multiple import benjamini_hochberg
from reticent.auditing.draws import Draws
from reticent.auditing.record_residuals import residuals
from reticent.findings.record_tests import NamedRecord, NamedRecords
from reticent.signals.matrix import Signals

RATE = 0.1
"""The false discovery rate of a list."""


def named_records(
    signals: Signals,
    population: Signals,
    draws: Draws,
    targets: Ints,
    references: Ints,
    rng: np.random.Generator,
    *,
    ids: Ints,
) -> tuple[NamedRecords, tuple[NamedRecord, ...]] | None:
    """List, for every target, the records that it is said to have been trained on.

    The `population`, records that no model was trained on, is used for nothing that the score rests on; a target is
    left out of its own references, and of models of nearly the same members it is compared with one. None where records
    have fewer than 3 references without them, or a target that is no reference has a copy among them.
    """
    outside, parts = ~draws.by_draw, draws.apart(targets, references)
    count = int(outside[parts[0][1]].sum(axis=0).min()) - 1 if parts else 0
    if count < 2:
        return None
    scores = _scores(signals, outside, count, targets, parts, rng)
    nobody = np.broadcast_to(np.True_, (signals.models, population.records))
    calibration = np.sort(_scores(population, nobody, count, targets, parts, rng))
    found = []
    for target, score, others in zip(targets.tolist(), scores, calibration, strict=True):
        p = (1 + len(others) - np.searchsorted(others, score)) / (1 + len(others))
        adjusted = benjamini_hochberg(p)
        chosen = np.flatnonzero(adjusted <= RATE + ROUNDING)
        found += [
            NamedRecord(
                target=target,
                record=int(ids[at]),
                label=int(signals.labels[at]),
                p=float(p[at]),
                p_adjusted=float(adjusted[at]),
                member=bool(draws.matrix[target, at]),
            )
            for at in chosen[np.lexsort((ids[chosen], p[chosen]))].tolist()
        ]
    lists = np.bincount([one.target for one in found], minlength=1)
    return NamedRecords(
        rate=RATE,
        references=count,
        population=population.records,
        targets=len(targets),
        named=len(found),
        wrong=sum(not one.member for one in found),
        longest=int(lists.max()),
    ), tuple(found)


def _scores(
    signals: Signals,
    outside: Bools,
    count: int,
    targets: Ints,
    parts: list[tuple[Ints, Bools]],
    rng: np.random.Generator,
) -> Floats:
    """Score every record from equally many models without it ``(T, n)``."""
    scores = scratch.zeros((len(targets), signals.records))
    for block in signals.blocks():
        margins = np.asarray(signals.plain(block), np.float64)
        counts, drawn = np.full(margins.shape[1], count), rng.random(margins.shape)
        for at, among in parts:
            scores[at, block] = residuals(margins, outside[:, block] & among[:, None], counts, targets[at], drawn)
        scratch.release(scores)
    return scores
