"""What MIST does with copies of a network: divide the members, train one copy, make copies agree, average them."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from reticent.errors import SpecError, TrainingDivergedError
from reticent.objectives.base import Context, Objective
from reticent.training import optim
from reticent.training.materials import forward
from reticent.training.run import Run

FEWEST = 2
"""Records that a copy trains on at least; BatchNorm needs two."""


def divisible(members: int, parts: int) -> None:
    """Refuse parts that would be too small."""
    if members // parts < FEWEST:
        raise SpecError(
            f"mist: {members} members in {parts} parts leave {members // parts} for the smallest part: expected at "
            f"least {FEWEST} records a part: give fewer parts, or more members"
        )


def partition(members: int, parts: int, generator: torch.Generator) -> list[Tensor]:
    """Divide the members at random into parts whose sizes differ by one record at most."""
    divisible(members, parts)
    drawn = torch.randperm(members, generator=generator)
    return [rows.sort().values for rows in drawn.tensor_split(parts)]


def average(states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Average the copies' parameters and buffers, BatchNorm's running means and variances among them.

    The running variance of the average is the mean of the copies' variances: what lies between their means is left out,
    since the copies see records of the same distribution. Whole numbers, such as how many batches BatchNorm has seen,
    stay whole: their mean is rounded down. Identical copies come back bit for bit.
    """
    averaged = {}
    for name, first in states[0].items():
        if all(torch.equal(first, state[name]) for state in states[1:]):
            averaged[name] = first.detach().clone()
            continue
        stacked = torch.stack([state[name].detach().double() for state in states]).mean(dim=0)
        averaged[name] = (stacked if first.is_floating_point() else stacked.floor()).to(first.dtype)
    return averaged


def disagreement(own: Tensor, others: Sequence[Tensor]) -> Tensor:
    """Compute how far a copy's probabilities are from those of the others."""
    distances = [(own - other).abs().sum(dim=1).mean() for other in others]
    return torch.stack(distances).mean() if distances else own.sum() * 0.0


class Copy(Run):
    """One copy's part of a round: a run of the loop whose schedule goes on where the round before ended.

    To the objective a round is a run of its own, whose members are the copy's part.
    """

    def __init__(self, *given: Any, done: int, epochs: int) -> None:
        self._epochs = epochs
        super().__init__(*given)
        self.step = done * self.steps

    def _context(self) -> Context:
        return replace(super()._context(), epochs=self._epochs)

    def agree(self, others: Sequence[nn.Module], weight: float) -> float:
        """Learn to agree with the other copies for one epoch, at the rate that training ended with.

        The objective has no part in it: its `stepped` isn't called, as its loss isn't.
        """
        recipe, members = self.recipe, self.materials.members
        self.optimizer.rate = recipe.learning_rate * optim.factor(recipe, max(0, self.step - 1), self.steps)
        self.training_mode()
        drawn, sizes, _ = self.sample(0)
        total = torch.zeros((), dtype=torch.float64, device=members.y.device)
        for ids in torch.split(drawn.to(members.y.device), sizes):
            prepare = self.materials.prepare
            given = prepare(prepare.augmented(members.take(ids).x, recipe, self.noise))
            with torch.no_grad():
                answers = [self._probabilities(other, given) for other in others]
            distance = disagreement(self._probabilities(self.model, given), answers)
            own, self.objective = self.objective, Objective()
            self.update(weight * distance)
            self.objective = own
            total += distance.detach().double() * len(ids)
        mean = float(total) / len(members)
        if not math.isfinite(mean):
            raise TrainingDivergedError(
                f"the disagreement of the copies became {mean}: lower the learning rate ({recipe.learning_rate:g}) or "
                "mist's weight, or clip the gradient (clip_norm)"
            )
        return mean

    def _probabilities(self, model: nn.Module, given: Tensor) -> Tensor:
        with self.cast():
            return forward(model, given, self.materials.classes).float().softmax(dim=1)
