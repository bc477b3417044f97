"""The loss-trajectory attack: how a record's loss falls while a student is distilled from the model, and the last one.

Paper: Liu et al. (2022), "Membership inference attacks by exploiting loss trajectory". Target and references are
distilled, through their soft answers, on records that none was trained on; a network learns from references' losses
after each epoch of their students, and under the references themselves, who was trained on a record. Deviations: those
of `nn` (bounded schedule, pairs of the same record, cross-fitting); one softmax in place of two; the last state or the
best on references held out, not the best on the target.
"""

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from reticent.attacks import fitting
from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.attacks.fitting import Answers, Design, Fitted, Schedule
from reticent.signals.matrix import Floats
from reticent.signals.probes import Students

if TYPE_CHECKING:
    from torch import nn

PUBLISHED = Schedule("sgd", 1e-2, 128, epochs=100, momentum=0.9, weight_decay=1e-4)
"""Of the paper, as released."""
HIDDEN = (512, 128, 32)
"""Layers of the paper's network."""
SMALLEST = 1e-30
"""Least probability of a label."""


class Trajectory(Fitted):
    """Options of the loss-trajectory attack."""

    method: ClassVar[str] = "trajectory"

    epochs: Annotated[int, Ge(0)] = 30
    """Of each student's distillation; the paper has 100. 0: losses of the models alone are told."""


def students(spec: Trajectory) -> tuple[Students, ...]:
    """Say what is distilled."""
    return (Students(epochs=spec.epochs),) if spec.epochs else ()


def needs(spec: Trajectory) -> Needs:
    """Say which references a network is fitted on, and that students are distilled."""
    return fitting.needs(spec, *students(spec))


def losses(said: Answers) -> Floats:
    """Put the losses of students, in the order of their epochs, before that of the model: ``(n, epochs + 1)``."""
    own = np.take_along_axis(said.probabilities, said.labels[:, None], axis=1)
    return np.concatenate([said.probed, -np.log(np.maximum(own, SMALLEST))], axis=1)


def score(spec: Trajectory, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the log-odds of membership of its losses; see `fitting.score`.

    Scores are in nats.

    Cost: that of `fitting.score`; students are distilled before.
    """
    probe = students(spec)[0] if spec.epochs else None
    design = Design(lambda said: (losses(said),), lambda _: network(spec.epochs + 1), PUBLISHED, probe=probe)
    return fitting.score(spec, problem, rng, design)


def network(width: int) -> "nn.Sequential":
    """Make the paper's network: width-512-128-32-2."""
    from torch import nn

    from reticent.attacks.networks import LogOdds

    layers: list[nn.Module] = []
    for before, after in pairwise((width, *HIDDEN)):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(HIDDEN[-1], 2), LogOdds())


ENTRY = AttackEntry(
    spec=Trajectory,
    score=score,
    needs=needs,
    summary="A network learns from how losses fall while students are distilled from references, and from theirs.",
    paper="Liu et al. (2022), Membership inference attacks by exploiting loss trajectory",
    access="probabilities",
    usual=False,
    fitted=True,
    short=Trajectory(steps=30, rows=1500, groups=2, epochs=3),
)
