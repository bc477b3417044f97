"""Shokri's attack: a network for each class learns from references' answers to its records.

Paper: Shokri et al. (2017), "Membership inference attacks against machine learning models", IEEE S&P: shadow models,
and one attack network a class, of one layer of 64 units, that is given all probabilities. Networks of many classes have
few rows each to learn from; `nn-cls` is the usual replacement. Deviations: the networks of all classes are fitted at
once, on batches of all classes; the schedule is general knowledge, not the paper's; the score is the log-odds.
"""

from typing import ClassVar

import numpy as np

from reticent.attacks import fitting
from reticent.attacks.base import AttackEntry, Problem
from reticent.attacks.fitting import Design, Fitted, Schedule
from reticent.signals.matrix import Floats


class Shokri(Fitted):
    """Options of Shokri's attack."""

    method: ClassVar[str] = "shokri"


def score(spec: Shokri, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the log-odds of membership by its label's network; see `fitting.score`."""
    from reticent.attacks.networks import PerClass

    return fitting.score(
        spec,
        problem,
        rng,
        Design(lambda said: (said.probabilities, said.labels), PerClass, Schedule("sgd", 0.01, 128, epochs=50)),
    )


ENTRY = AttackEntry(
    spec=Shokri,
    score=score,
    needs=fitting.needs,
    summary="A network for each class learns from references' probabilities who was trained on a record.",
    paper="Shokri et al. (2017), Membership inference attacks against machine learning models",
    access="probabilities",
    usual=False,
    fitted=True,
    short=Shokri(steps=30, rows=1500, groups=2),
)
