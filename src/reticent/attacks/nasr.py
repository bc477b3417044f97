"""Nasr's attack network, which sees an answer and its label: the attack of adversarial regularisation and of SELENA.

Paper: Nasr, Shokri and Houmansadr (2018), "Machine learning with membership privacy using adversarial regularization",
CCS; Tang et al. (2022), SELENA, its "NN attack". The network is that of `objectives/adv_reg.py`. The paper's first
weights are so small that it says one half of everybody at first and learns slowly, so that few steps would read as
"private": the bounded schedule begins with Xavier's instead.

Their attacker knows half of the target's own members and non-members, and is judged on the others: `known="half"`, for
each half in turn. That is more than references tell, and another question, so it stands in no table with any other
attack; there a target's own row of membership is read, of the other half than the one that is scored.
"""

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from pydantic import model_validator

from reticent.attacks import fitting
from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.attacks.cross_fitting import GROUPS
from reticent.attacks.fitting import Design, Fitted, Schedule
from reticent.signals.matrix import Floats


class Nasr(Fitted):
    """Options of Nasr's attack network."""

    method: ClassVar[str] = "nasr"

    steps: Annotated[int, Ge(1)] = 500
    """Most steps of the bounded schedule, which passes over the rows 20 times at most."""
    loss: Literal["mse", "bce"] = "mse"
    """What the network minimises: the squared error of the member bit, as in SELENA, or the binary cross-entropy."""
    known: Literal["references", "half"] = "references"
    """references: the attacker learns from other models; half: from one half of the target's own members and
    non-members, and scores the other half. That is a stronger attacker, who stands in no table with others."""

    @model_validator(mode="after")
    def _halves(self) -> Any:
        if self.known == "half" and (self.references, self.groups, self.folds) != (None, GROUPS, 2):
            raise ValueError(
                "no references, groups or folds where known is half, which is learned from one half of a target's own "
                f"records, got references={self.references}, groups={self.groups}, folds={self.folds}"
            )
        return self


def needs(spec: Nasr) -> Needs:
    """Say whom the network is fitted on."""
    return Needs(own=True) if spec.known == "half" else fitting.needs(spec)


def score(spec: Nasr, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by the log-odds of membership of its probabilities and its label; see `fitting.score`."""
    from torch import default_generator, nn

    from reticent.attacks.networks import drawn
    from reticent.objectives.adv_reg import Attacker, fit_loss

    def build(classes: int) -> nn.Module:
        network = Attacker(classes, default_generator)
        return network if spec.schedule == "published" else drawn(network)

    return fitting.score(
        spec,
        problem,
        rng,
        Design(
            lambda said: (said.probabilities, said.labels),
            build,
            Schedule("adam", 1e-4, 512, epochs=150),
            loss=lambda said, truth: fit_loss(said, truth, spec.loss),
            own=spec.known == "half",
        ),
    )


ENTRY = AttackEntry(
    spec=Nasr,
    score=score,
    needs=needs,
    summary="Nasr's network learns from references' probabilities and the label who was trained on a record.",
    paper="Nasr et al. (2018), Machine learning with membership privacy using adversarial regularization",
    access="probabilities",
    usual=False,
    fitted=True,
    short=Nasr(steps=30, rows=1500, groups=2),
)
