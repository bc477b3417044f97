"""IMIA: where a target that never saw a record would stand is asked of models that were trained to answer like it.

Paper: Du et al. (2026), "Imitative membership inference attack", USENIX Security; the adaptive setting, in which the
attacker holds the audited records, and formulas and constants of the released code. Imitators are trained for one
target each, on random halves of the records, to answer their own members as the target does (`objectives.imitation`).
OUT is their mean margin of a record that they were not trained on, IN that of the ordinary references that were. The
score is LiRA's with one common variance: all that is new is where OUT comes from.

Deviations: the last epoch of an imitator is kept, since the released choice looks at records of its training; all
records keep equally many IN references (`balance`); an augmented view is drawn to the answer to the record as it is.
"""

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Lt

from reticent.attacks import sides
from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.attacks.sides import Compared
from reticent.errors import TooFewReferencesError
from reticent.signals.matrix import Floats
from reticent.spec import Spec


class Imia(Spec):
    """Options of IMIA."""

    method: ClassVar[str] = "imia"

    models: Annotated[int, Ge(2)] = 10
    """Imitators that are trained for a target."""
    warmup: Annotated[float, Ge(0), Lt(1)] = 0.8
    """Share of their epochs that learn the labels alone."""
    margin_weight: Annotated[float, Gt(0)] = 1.0
    """How much more the logits of the true class and of the target's largest other class count than the rest."""
    temperature: Annotated[float, Gt(0)] = 1.0
    """What logits are divided by before they are compared."""
    queries: Annotated[int, Ge(1)] | None = None
    """How many queries of a record are used; by default all."""


def score(spec: Imia, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by how much nearer its margin is to IN than to OUT, in squares; a mean over queries.

    Scores are 0 where IN lies below OUT.

    Cost: O((R + T) N Q + T K N Q) for K imitators a target; training them is the cost of the attack.
    """
    assert problem.imitators is not None, "`AttackEntry.check` refuses others"
    alone = [target for target in problem.targets if target not in problem.imitators]
    if alone:
        raise TooFewReferencesError(f"imia: expected models that imitate target {alone[0]}, got none")
    out = np.stack([problem.imitators[int(target)].centres() for target in problem.targets])
    apart = np.zeros(problem.shape)

    def nearer(one: Compared) -> Floats:
        inside, outside = one.sides[0].mean, out[one.targets, one.records, one.query] - one.shift
        apart[one.targets, one.records] += inside - outside
        return np.asarray((outside - one.target) ** 2 - (inside - one.target) ** 2)

    scores = sides.averaged(problem, spec.queries, nearer, online=True)
    return np.where(apart < 0, 0.0, scores)


ENTRY = AttackEntry(
    spec=Imia,
    score=score,
    needs=lambda _: Needs(references_in=1, imitators=True),
    summary="Holds a margin against models trained to imitate the target on other records; for one model (harden).",
    paper="Du et al. (2026), Imitative membership inference attack",
    access="margins",
    strong=True,
    usual=False,
)
