"""What the stages of a training cost: measured, and estimated from a training that is short enough to be measured."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from reticent.findings.training import StageCost
from reticent.objectives import OBJECTIVES
from reticent.training.memory import peak
from reticent.training.recipe import Recipe

FIRST = "training"
"""The stage that is a first training."""
SCORING = "memorisation"
"""The stage in which memorisation scores are measured."""
ROUND = "round 1"
"""The stage that is a round of pruning, which stands for all that are alike."""
FEW = 4
"""Epochs of a short training whose objective adds something between two epochs; else there is one."""


class Costs:
    """Measures the stages of one training, one after the other."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.stages: tuple[StageCost, ...] = ()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure one stage; one that ends with an error leaves nothing."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        started = time.perf_counter()
        with peak(self._device) as memory:
            yield
            if self._device.type == "cuda":
                torch.cuda.synchronize(self._device)
        seconds = time.perf_counter() - started
        self.stages += (StageCost(name=name, seconds=seconds, peak_memory_bytes=memory.bytes),)


@dataclass(frozen=True)
class Short:
    """A short training, as a procedure makes it of a whole one: none that it refuses where it takes the whole.

    Attributes:
        recipe: of the short training.
        rest: how often the whole training has what the short one does outside its stages (`ProcedureFacts.stages`).
        times: by stage, how often it has what is done there; once where a stage is not named.
        inside: by stage, how many first trainings lie in it, as far as their epochs go; what else is in it is there
            once.
    """

    recipe: Recipe
    rest: float = 1.0
    times: Mapping[str, float] = field(default_factory=dict)
    inside: Mapping[str, float] = field(default_factory=dict)

    def whole(self, seconds: float, stages: Mapping[str, float]) -> float:
        """Estimate what the whole training takes."""
        longer = self.first(stages) - stages.get(FIRST, 0.0)
        own = (stages[name] * self.times.get(name, 1.0) + longer * self.inside.get(name, 0.0) for name in stages)
        return self.rest * max(0.0, seconds - sum(stages.values())) + sum(own)

    def first(self, stages: Mapping[str, float], rounds: float = 0.0) -> float:
        """Estimate what the first training takes, of the whole, and so large a share of the rounds after it."""
        return sum(
            stages.get(name, 0.0) * self.times.get(name, 1.0) * share for name, share in [(FIRST, 1), (ROUND, rounds)]
        )


def epochs(recipe: Recipe) -> float:
    """Tell how many epochs a training has, if it is not ended early."""
    return recipe.stop_after or recipe.epochs


def few(recipe: Recipe) -> int:
    """Tell how many epochs of a recipe show what one of them costs."""
    return min(recipe.epochs, FEW if OBJECTIVES[recipe.objective.method].between_epochs else 1)


def cut(recipe: Recipe, number: int) -> Recipe:
    """Give a recipe so many epochs, all of which are trained."""
    loss = OBJECTIVES[recipe.objective.method].brief(recipe.objective, number / recipe.epochs)
    return recipe.replace(epochs=number, warmup_epochs=0.0, patience=None, stop_after=None, objective=loss)


def by_epochs(recipe: Recipe) -> Short:
    """Shorten a training of which every part is repeated in every epoch."""
    number = few(recipe)
    longer = epochs(recipe) / number
    return Short(cut(recipe, number), rest=longer, times={SCORING: longer})
