"""The network attack that sees the label too: probabilities of all classes, and which of them the label is.

Paper: Yuan and Zhang (2022), "Membership inference attacks and defenses in neural network pruning", USENIX Security;
also WeMem's. The usual replacement of one network a class (`shokri`), which has few rows to learn from where classes
are many. Deviations: those of `nn`.
"""

from typing import ClassVar

import numpy as np

from reticent.attacks import fitting
from reticent.attacks.base import AttackEntry, Problem
from reticent.attacks.fitting import MIA_PRUNE, Design, Fitted
from reticent.signals.matrix import Floats


class NnCls(Fitted):
    """Options of the network attack with the label."""

    method: ClassVar[str] = "nn-cls"


def score(spec: NnCls, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the log-odds of membership of its probabilities and its label; see `fitting.score`."""
    from reticent.attacks.networks import mlp

    return fitting.score(
        spec,
        problem,
        rng,
        Design(
            lambda said: (np.column_stack([said.probabilities, said.labelled]),),
            lambda classes: mlp(2 * classes),
            MIA_PRUNE,
        ),
    )


ENTRY = AttackEntry(
    spec=NnCls,
    score=score,
    needs=fitting.needs,
    summary="A network learns from references' probabilities and the label who was trained on a record.",
    paper="Yuan and Zhang (2022), Membership inference attacks and defenses in neural network pruning",
    access="probabilities",
    usual=False,
    fitted=True,
    short=NnCls(steps=30, rows=1500, groups=2),
)
