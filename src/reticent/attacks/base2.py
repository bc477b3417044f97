"""BASE2: how far a margin lies above those of all references, in units of their variance.

Paper: Lassila et al. (2025), "Practical Bayes-optimal membership inference attacks" (BASE), and the paper of BaVarIA
(2026), which numbers the family: one normal law of all references of a record, IN and OUT together. As released, the
distance is divided by the variance and not by its root, so that records whose references agree stand far out.

BASE1 is `rmia` with ``score = log-ratio``, BASE3 is `base3`, and BASE4 is LiRA with variances of each record (`lira`
with ``variance = per-record``).
"""

from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from reticent.attacks import sides
from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.attacks.sides import FLOOR, Compared
from reticent.signals.matrix import Floats
from reticent.spec import Spec


class Base2(Spec):
    """Options of BASE2."""

    method: ClassVar[str] = "base2"

    mode: Literal["online", "offline"] = "online"
    """Compare with IN and OUT references together, or with OUT references alone."""
    queries: Annotated[int, Ge(1)] | None = None
    """How many queries of a record are used; by default all."""


def needs(spec: Base2) -> Needs:
    """Say which references it needs."""
    return Needs(references_in=0 if spec.mode == "offline" else 1, references_out=1)


def score(spec: Base2, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by its margin less the references' mean, over their variance; a mean over queries.

    Scores are in one over log-odds.

    Cost: O((R + T) N Q) for all targets; the signals are read once.
    """
    return sides.averaged(problem, spec.queries, _distance, online=spec.mode == "online")


def _distance(one: Compared) -> Floats:
    count = sum((side.count for side in one.sides), np.zeros(1))
    mean = sum((side.count * side.mean for side in one.sides), np.zeros(1)) / np.maximum(count, 1)
    apart = (side.squares() + side.count * (side.mean - mean) ** 2 for side in one.sides)
    variance = np.maximum(sum(apart, np.zeros(1)) / np.maximum(count, 1), FLOOR)
    return np.asarray((one.target - mean) / variance)


ENTRY = AttackEntry(
    spec=Base2,
    score=score,
    needs=needs,
    summary="Holds a record's margin against all other models' together, in units of their variance.",
    paper="Lassila et al. (2025), Practical Bayes-optimal membership inference attacks",
    access="margins",
    strong=True,
    usual=False,
)
