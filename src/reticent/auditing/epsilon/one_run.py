"""Epsilon from below from many records of one model whose answers may depend on each other in any way.

Paper: Steinke, Nasr and Jagielski (2023), "Privacy auditing with one (1) training run", theorem 5.2 and appendix D.
Each of m records is a member with probability 1/2, independently. Whoever guesses r of them, and abstains from the
others, has a number of right guesses W that (epsilon, delta)-DP keeps below a binomial one, W* ~ Binomial(r, q) with
``q = e^epsilon / (1 + e^epsilon)``::

    P[W >= v]  <=  P[W* >= v] + 2 m delta max_i P[v - i <= W* < v] / i

**It does not assume independent records**: the model may answer for one record as it does because of another. What it
needs is that memberships are independent coin flips: the row of a membership matrix is that, given that M is even (with
M odd a record is in more than half of the models). An attack that learns from the other models of the same matrix must
take nothing from the *number* of them that hold a record, since that number gives the target's row away.

The members' guesses are the highest scores and the non-members' the lowest. How many are guessed is chosen on a random
part of the records, or on the same ones and corrected for the choice. The term with delta does not shrink as alpha
does, so a choice that is corrected for bears it badly: there, prefer the split.
"""

from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Gt, Lt
from scipy.optimize import brentq
from scipy.special import bdtr, bdtrc, expit, logit

from reticent.arrays import Floats, Ints
from reticent.auditing.epsilon.base import Groups, checked_delta
from reticent.auditing.epsilon.guesses import check_balanced, cuts
from reticent.auditing.intervals import lower, tail
from reticent.errors import InputError
from reticent.spec import Spec

TOLERANCE = 1e-9
"""Of epsilon; the bound is lowered by it."""
PIECES = 64
"""Points of one step of a search."""


class OneRun(Spec):
    """Many records of one model, whose answers may depend on each other."""

    method: ClassVar[str] = "one-run"

    choice: Literal["split", "corrected"] = "split"
    """How many records are guessed: chosen on a part of the records, or on all and corrected for."""
    share: Annotated[float, Gt(0), Lt(1)] = 0.5
    """With "split", the share of the records that choose."""


def bound(spec: OneRun, groups: Groups, delta: float, alpha: float, rng: np.random.Generator) -> float:
    """Guess the records with the highest and the lowest scores, and bound epsilon from the number of right guesses."""
    check_balanced(groups, OneRun.method)
    divided = spec.choice == "split"
    chooses, judged = groups.split(spec.share, rng) if divided else (groups, groups)
    if not (len(judged) and len(chooses)):
        return 0.0
    tried = cuts(chooses)
    level = alpha if divided else alpha / len(tried.high)
    right, guesses = tried.count(chooses)
    scale = len(judged) / len(chooses)
    promising = int(np.argmax(_roughly(right * scale, guesses * scale, len(judged), delta, level)))
    v, r = (int(counted[0]) for counted in tried[promising].count(judged))
    return _epsilon(v, r, len(judged), delta, level) if r else 0.0


def one_run_epsilon(right: int, guesses: int, records: int, delta: float = 0.0, confidence: float = 0.95) -> float:
    """Bound epsilon from a number of right guesses; nothing may have been chosen by looking at these records.

    With delta = 0 it is ``logit`` of Clopper and Pearson's lower limit. 0 if none is refuted by v `right` of r
    `guesses` on m `records`.
    """
    if not (0 <= right <= guesses <= records and guesses >= 1):
        raise InputError(
            f"right: expected 0 <= right <= guesses <= records with a guess, got {right}, {guesses} and {records}"
        )
    return _epsilon(right, guesses, records, checked_delta(delta), 2 * tail(confidence))


def p_value(right: int, guesses: int, records: int, epsilon: float, delta: float) -> float:
    """Bound the probability of so many right guesses under (epsilon, delta)-DP, by O(log v) binomial ones."""
    q = expit(epsilon)
    chance = float(bdtrc(right - 1, guesses, q)) if right > 0 else 1.0
    if delta > 0 and right > 0:
        chance += 2 * records * delta * _steepest(right, guesses, q)
    return min(1.0, chance)


def _epsilon(right: int, guesses: int, records: int, delta: float, alpha: float) -> float:
    least = float(lower(right, guesses, alpha))
    if least <= 0.5:
        return 0.0
    without = float(logit(least))
    if delta == 0:
        return without

    def excess(epsilon: float) -> float:
        return p_value(right, guesses, records, epsilon, delta) - alpha

    if excess(0.0) > 0:
        return 0.0
    # The term with delta only adds, so the root lies below the bound without it.
    root = without if excess(without) <= 0 else brentq(excess, 0.0, without, xtol=TOLERANCE / 4)
    return max(0.0, float(root) - TOLERANCE)


def _steepest(right: int, guesses: int, q: float) -> float:
    """Compute ``max_i P[v - i <= W* < v] / i``: means of a unimodal sequence, so they have one maximum too."""
    below = float(bdtr(right - 1, guesses, q))

    def means(steps: Ints) -> Floats:
        rest = right - steps - 1
        further = np.where(rest >= 0, bdtr(np.maximum(rest, 0), guesses, q), 0.0)
        mean: Floats = (below - further) / steps
        return mean

    low, high = 1, right
    while high - low > PIECES:
        steps = np.unique(np.geomspace(low, high, PIECES).round().astype(np.int64))
        top = int(np.argmax(means(steps)))
        low, high = int(steps[max(top - 1, 0)]), int(steps[min(top + 1, len(steps) - 1)])
    return float(means(np.arange(low, high + 1)).max())


def _roughly(right: Floats, guesses: Floats, records: int, delta: float, alpha: float) -> Floats:
    """Estimate each bound, to choose by: the term with delta at about its size, 0.3 over the standard deviation."""
    some = np.maximum(guesses, 1.0)
    deviation = np.sqrt(np.maximum(right * (some - right) / some, 0.5))
    left = alpha - 2 * records * delta * 0.3 / deviation
    limit = lower(right, some, np.clip(left, 1e-300, alpha))
    return np.where((guesses >= 1) & (left > 0), limit, -1.0)
