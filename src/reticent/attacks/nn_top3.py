"""The network attack on the three largest probabilities, in their order, whichever classes have them.

Paper: Yuan and Zhang (2022), "Membership inference attacks and defenses in neural network pruning", USENIX Security;
also WeMem's. Where there are two classes the third is 0. Deviations: those of `nn`.
"""

from typing import ClassVar

import numpy as np

from reticent.attacks import fitting
from reticent.attacks.base import AttackEntry, Problem
from reticent.attacks.fitting import MIA_PRUNE, Design, Fitted, top_three
from reticent.signals.matrix import Floats


class NnTop3(Fitted):
    """Options of the network attack on three probabilities."""

    method: ClassVar[str] = "nn-top3"


def score(spec: NnTop3, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the log-odds of membership of its three largest probabilities; see `fitting.score`."""
    from reticent.attacks.networks import mlp

    return fitting.score(
        spec, problem, rng, Design(lambda said: (top_three(said.probabilities),), lambda _: mlp(3), MIA_PRUNE)
    )


ENTRY = AttackEntry(
    spec=NnTop3,
    score=score,
    needs=fitting.needs,
    summary="A network learns from references' three largest probabilities who was trained on a record.",
    paper="Yuan and Zhang (2022), Membership inference attacks and defenses in neural network pruning",
    access="probabilities",
    usual=False,
    fitted=True,
    short=NnTop3(steps=30, rows=1500, groups=2),
)
