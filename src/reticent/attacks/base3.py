"""BASE3: LiRA with means of each kind and one variance for both kinds, of each record.

Paper: Lassila et al. (2025), "Practical Bayes-optimal membership inference attacks" (BASE), and the paper of BaVarIA
(2026), which numbers the family. Its score is linear in the margin, and falls with it where IN references happen to lie
below OUT ones.
"""

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from reticent.attacks import sides
from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.attacks.sides import FLOOR, Compared
from reticent.signals.matrix import Floats
from reticent.spec import Spec


class Base3(Spec):
    """Options of BASE3."""

    method: ClassVar[str] = "base3"

    queries: Annotated[int, Ge(1)] | None = None
    """How many queries of a record are used; by default all."""


def score(spec: Base3, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the log-likelihood ratio of two normal laws of one variance; a mean over queries.

    Cost: O((R + T) N Q) for all targets; the signals are read once.
    """
    return sides.averaged(problem, spec.queries, _ratio, online=True)


def _ratio(one: Compared) -> Floats:
    inside, outside = one.sides
    squares = inside.squares() + outside.squares()
    variance = np.maximum(squares / np.maximum(inside.count + outside.count, 1), FLOOR)
    apart = inside.mean - outside.mean
    return np.asarray(apart / variance * (one.target - 0.5 * (inside.mean + outside.mean)))


ENTRY = AttackEntry(
    spec=Base3,
    score=score,
    needs=lambda _: Needs(references_in=1, references_out=1),
    summary="LiRA with one variance for IN and OUT references of a record together.",
    paper="Lassila et al. (2025), Practical Bayes-optimal membership inference attacks",
    access="margins",
    strong=True,
    usual=False,
)
