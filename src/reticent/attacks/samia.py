"""SAMIA: a self-attention network on each class's probability, its sensitivity to noise, and whether it is the label.

Paper: Yuan and Zhang (2022), "Membership inference attacks and defenses in neural network pruning", USENIX Security. A
token a class: the probability, how much it moves if the record does (`signals/sensitivity.py`, asked once a model as a
run of the store), and a one for the label. Deviations: those of `nn`; the bounded schedule takes few rows and steps,
since a row costs some twenty times one of `nn`, which the published one, of hours, does not. Its rows grow with the
square of the classes.
"""

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt

from reticent.attacks import fitting
from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.attacks.fitting import MIA_PRUNE, Answers, Design, Features, Fitted
from reticent.signals.matrix import Floats
from reticent.signals.probes import Sensitivity


class Samia(Fitted):
    """Options of SAMIA."""

    method: ClassVar[str] = "samia"

    steps: Annotated[int, Ge(1)] = 150
    """Most steps of the bounded schedule, which passes over the rows 20 times at most."""
    groups: Annotated[int, Ge(2)] = 4
    """Targets whose numbers are equal modulo this share one fit, in which none of them is a reference."""
    copies: Annotated[int, Ge(1)] = 10
    """How many noisy copies of each record models are asked about."""
    step: Annotated[float, Gt(0)] = 1e-3
    """Standard deviation of the noise, in units of what the model is given."""


def probe(spec: Samia) -> Sensitivity:
    """Say what models are asked."""
    return Sensitivity(copies=spec.copies, step=spec.step)


def needs(spec: Samia) -> Needs:
    """Say which references a network is fitted on, and what models are asked."""
    return fitting.needs(spec, probe(spec))


def score(spec: Samia, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the log-odds of membership of its tokens; see `fitting.score`."""
    from reticent.attacks.networks import SelfAttention

    return fitting.score(spec, problem, rng, Design(tokens, SelfAttention, MIA_PRUNE, probe=probe(spec)))


def tokens(said: Answers) -> Features:
    """Put the probability, the sensitivity and the label of each class side by side, ``(n, C, 3)``."""
    return (np.stack([said.probabilities, said.probed, said.labelled], axis=2),)


ENTRY = AttackEntry(
    spec=Samia,
    score=score,
    needs=needs,
    summary="A self-attention network learns from references' probabilities, and how they move, who was a member.",
    paper="Yuan and Zhang (2022), Membership inference attacks and defenses in neural network pruning",
    access="probabilities",
    usual=False,
    fitted=True,
    short=Samia(steps=20, rows=300, groups=2),
)
