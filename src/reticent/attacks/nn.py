"""The network attack on all probabilities: a network learns from references' answers who was trained on a record.

Paper: Yuan and Zhang (2022), "Membership inference attacks and defenses in neural network pruning", USENIX Security;
also WeMem's. With one reference (`references=1`) it is the discriminator of the sparsity paper (arXiv 2304.10553):
fitted on a shadow model's answers, applied to the target; its "defence" is 1 less the balanced accuracy.
Deviations: members and non-members are learned from in equal numbers, where the released code reports plain accuracies
of unequal ones; the score is the log-odds.
"""

from typing import ClassVar

import numpy as np

from reticent.attacks import fitting
from reticent.attacks.base import AttackEntry, Problem
from reticent.attacks.fitting import MIA_PRUNE, Design, Fitted
from reticent.signals.matrix import Floats


class Nn(Fitted):
    """Options of the network attack."""

    method: ClassVar[str] = "nn"


def score(spec: Nn, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the log-odds of membership of its probabilities; see `fitting.score`."""
    from reticent.attacks.networks import mlp

    return fitting.score(spec, problem, rng, Design(lambda said: (said.probabilities,), mlp, MIA_PRUNE))


ENTRY = AttackEntry(
    spec=Nn,
    score=score,
    needs=fitting.needs,
    summary="A network learns from references' probabilities of all classes who was trained on a record.",
    paper="Yuan and Zhang (2022), Membership inference attacks and defenses in neural network pruning",
    access="probabilities",
    usual=False,
    fitted=True,
    short=Nn(steps=30, rows=1500, groups=2),
)
