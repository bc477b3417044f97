"""Salem's attack: one shadow model, the three largest probabilities, one small network.

Paper: Salem et al. (2019), "ML-Leaks: model and data independent membership inference attacks and defenses", NDSS, its
first adversary: one shadow model, a network of one layer of 64 units on the three largest probabilities in descending
order (a zero where there are two classes). Its third adversary, who learns nothing, thresholds the largest probability.
Deviations: sizes and schedule are general knowledge, not the paper's; the score is the log-odds.
"""

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from reticent.attacks import fitting
from reticent.attacks.base import AttackEntry, Problem
from reticent.attacks.fitting import Design, Fitted, Schedule, top_three
from reticent.signals.matrix import Floats


class Salem(Fitted):
    """Options of Salem's attack."""

    method: ClassVar[str] = "salem"

    references: Annotated[int, Ge(1)] | None = 1
    """How many references are learned from for each target: one shadow model, as in the paper."""


def score(spec: Salem, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the log-odds of membership of its three largest probabilities; see `fitting.score`."""
    from reticent.attacks.networks import one_layer

    return fitting.score(
        spec,
        problem,
        rng,
        Design(
            lambda said: (top_three(said.probabilities),), lambda _: one_layer(3), Schedule("sgd", 0.01, 128, epochs=50)
        ),
    )


ENTRY = AttackEntry(
    spec=Salem,
    score=score,
    needs=fitting.needs,
    summary="A small network learns from one reference's three largest probabilities who was trained on a record.",
    paper="Salem et al. (2019), ML-Leaks: model and data independent membership inference attacks",
    access="probabilities",
    usual=False,
    fitted=True,
    short=Salem(steps=100, rows=1500, groups=2),
)
