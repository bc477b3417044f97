"""SELENA's adaptive attack: the attacker re-runs Split-AI on members that he knows, and sees how close an answer comes.

Paper: Tang et al. (2022), "Mitigating membership inference attacks by self-distillation through a novel ensemble
architecture", the adaptive attack. A model trained by SELENA answers a member as its Split-AI told it to. The
attacker's references are whole pipelines, so that each has soft targets of its own members: replicas of what the target
was told, if it holds the record. The closer its answer comes to them, beyond what is usual for the record, the likelier
it does.

* How close model m comes to a record's replicas: ``F_m = mean over r of -log(||p_m - s_r||_1 + floor)``, over the
  references r that hold the record, but for m itself and for the target. Where the target does not hold the record, one
  of them is dropped (`balance`), so that their number tells nothing of the target.
* The margin z of the label, as LiRA takes it, tells of membership too. How far IN and OUT models of a record differ in
  z or F is seen by a handful of references, with as much noise as there is to see, so that what tells little would
  drown what tells much. So these differences are learned from the record's references and from all records together,
  and how much each of the two tests counts is learned on the references (`discriminant`), as the paper's attack network
  learns it.

Deviation: the paper trains a network on both vectors; here few references give two tests and their weights.
"""

from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Gt, Le

from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.attacks.selena_replica.discriminant import Discriminant, Sums
from reticent.attacks.selena_replica.replicas import walk
from reticent.signals.matrix import Floats
from reticent.spec import Spec


class SelenaReplica(Spec):
    """Options of SELENA's adaptive attack."""

    method: ClassVar[str] = "selena-replica"

    features: Literal["both", "distance", "margin"] = "both"
    """both weighs the distance from the replicas and the margin of the label; each alone shows what it tells; margin
    looks at no replica."""
    floor: Annotated[float, Gt(0), Le(1)] = 1e-3
    """Added to the distance of two answers, which is at most 2, before its logarithm is taken."""


def needs(spec: SelenaReplica) -> Needs:
    """Say which references it needs."""
    return Needs(references_in=2, references_out=2, replicas=True)


def score(spec: SelenaReplica, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by how close its answer comes to replicas, and by its margin.

    The target's own replicas are never looked at. Scores are a log-likelihood ratio in nats, as far as features are
    normal.

    Raises:
        InputError: a reference has no replica of a record that it holds.

    Cost: O((R + T) R N C) for the distances, which are computed twice, and O(T (R + T) N) for the tests. Memory: two
    numbers a score, and a block.
    """
    features = {"distance": slice(0, 1), "margin": slice(1, 2), "both": slice(0, 2)}[spec.features]
    size = features.stop - features.start
    sums = [Sums(size) for _ in problem.targets]
    for _, row, seen in walk(problem, spec.floor, features):
        sums[row].add(seen)
    tests = [Discriminant(one.effects()) for one in sums]
    found = np.zeros((size, *problem.shape))
    for block, row, seen in walk(problem, spec.floor, features):
        found[:, row, block] = tests[row].judge(seen)
    weights = np.stack([test.weights() for test in tests], axis=1)
    return np.asarray((weights[:, :, None] * found).sum(axis=0))


ENTRY = AttackEntry(
    spec=SelenaReplica,
    score=score,
    needs=needs,
    summary="LiRA, and how close a record's answer is to what Split-AI of other models says; for selena alone.",
    paper="Tang et al. (2022), Mitigating membership inference attacks by self-distillation, adaptive attack",
    access="probabilities",
    strong=True,
    usual=False,
)
