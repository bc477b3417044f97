"""A lower bound on the epsilon of one record: half of the models choose the record and a threshold, half test them.

The two halves are independent given who was trained on what, so that the tested counts are fair: of the tested models
trained on the record a share TPR lies above the threshold, of the others a share FPR, and
``epsilon >= ln((TPR_low - delta) / FPR_high)`` with Clopper and Pearson's limits, each at half of the error. With n
models of either kind and no error: 1.350 for n = 16, 2.825 for 64, 4.233 for 256; 6 of either kind are needed for any
bound above 0. The record is chosen on the first half alone, so nothing is to be corrected for the number of records.
"""

import math

import numpy as np

from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.draws import Draws
from reticent.auditing.intervals import lower, tail, upper
from reticent.findings.record_tests import RecordEpsilon
from reticent.signals.matrix import Signals

FEWEST = 24
"""Models from which a bound above 0 is possible: a quarter of them is tested for either kind."""


def record_epsilon(
    signals: Signals,
    draws: Draws,
    rng: np.random.Generator,
    *,
    ids: Ints,
    delta: float,
    confidence: float = 0.95,
) -> RecordEpsilon | None:
    """Bound the epsilon of the record that half of the models show most of.

    By the plain query; `rng` halves the models that hold some of the records and not others, the first of each draw.
    None with fewer than `FEWEST` of them, where no record has two of either kind in the first half, or where they hold
    different numbers of the records: models with a record would differ from those without it not by the record alone.
    Cost: one pass over the margins.
    """
    drawn, membership = draws.first[draws.drawn], draws.matrix
    if len(drawn) < FEWEST or draws.log_odds.any():
        return None
    order = drawn[rng.permutation(len(drawn))]
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    best: tuple[float, int, float, Floats] | None = None
    for block in signals.blocks():
        margins = np.asarray(signals.plain(block), np.float64)
        distance, threshold = _seen(margins[first], membership[first, block])
        at = int(np.argmax(distance))
        if math.isfinite(distance[at]) and (best is None or distance[at] > best[0]):
            best = float(distance[at]), block.start + at, float(threshold[at]), margins[second, at]
    if best is None:
        return None
    _, at, limit, tested = best
    inside = membership[second, at]
    above = tested >= limit
    found, wrong = int((above & inside).sum()), int((above & ~inside).sum())
    trained, untrained = int(inside.sum()), int((~inside).sum())
    return RecordEpsilon(
        record=int(ids[at]),
        epsilon=bound(found, trained, wrong, untrained, delta, confidence),
        delta=delta,
        confidence=confidence,
        found=found,
        trained=trained,
        wrong=wrong,
        untrained=untrained,
    )


def bound(found: int, trained: int, wrong: int, untrained: int, delta: float, confidence: float) -> float:
    """Bound epsilon from counts of independent models.

    Of `trained` models with the record, `found` lie above the threshold, and of `untrained` ones without it `wrong`; 0
    where nothing is shown.
    """
    if not trained or not untrained:
        return 0.0
    alpha = tail(confidence)
    excess, most = float(lower(found, trained, alpha)) - delta, float(upper(wrong, untrained, alpha))
    return max(0.0, math.log(excess / most)) if excess > 0 else 0.0


def _seen(margins: Floats, inside: Bools) -> tuple[Floats, Floats]:
    """Return how far apart the two kinds of models put each record, and the middle between them."""
    counts, means, squares = [], [], []
    for chosen in (inside, ~inside):
        count = np.maximum(chosen.sum(axis=0), 1)
        mean = np.where(chosen, margins, 0.0).sum(axis=0) / count
        counts.append(chosen.sum(axis=0))
        means.append(mean)
        squares.append(np.where(chosen, (margins - mean) ** 2, 0.0).sum(axis=0))
    spread = np.sqrt(sum(squares) / np.maximum(sum(counts) - 2, 1))
    known = (np.minimum(*counts) > 1) & (spread > 0)
    distance = np.where(known, (means[0] - means[1]) / np.where(known, spread, 1.0), -np.inf)
    return distance, (means[0] + means[1]) / 2
