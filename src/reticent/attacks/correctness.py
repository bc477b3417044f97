"""The gap attack: a record that the model classifies correctly is called a member.

Paper: Yeom et al. (2018), "Privacy risk in machine learning", section 3. Deviation: a record whose label shares the
largest logit with another class counts as a mistake, whatever the order of the classes.
"""

from typing import ClassVar

import numpy as np

from reticent.attacks.base import AttackEntry, Problem
from reticent.signals.correctness import correct
from reticent.signals.matrix import Floats
from reticent.spec import Spec


class Correctness(Spec):
    """Correctness attack; it has no options."""

    method: ClassVar[str] = "correctness"


def score(spec: Correctness, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score 1 where the label has the strictly largest logit, else 0.

    Balanced accuracy is ``(accuracy on members + 1 - accuracy on non-members) / 2``.

    Cost: O(T N C).
    """
    return correct(problem.signals, problem.targets).astype(np.float64)


ENTRY = AttackEntry(
    spec=Correctness,
    score=score,
    summary="Calls a record a member if the model classifies it correctly.",
    paper="Yeom et al. (2018), Privacy risk in machine learning: analyzing the connection to overfitting",
    access="labels",
)
