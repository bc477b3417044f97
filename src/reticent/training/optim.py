"""From a recipe to its optimizer, and learning-rate schedules as a function of the step."""

import math
from collections.abc import Iterable

from torch import nn

from reticent.training.fused import Adam, Optimizer, Sgd
from reticent.training.recipe import Recipe


def optimizer(recipe: Recipe, parameters: Iterable[nn.Parameter]) -> Optimizer:
    """Make a recipe's optimizer."""
    rate, decay = recipe.learning_rate, recipe.weight_decay
    trainable = [p for p in parameters if p.requires_grad]
    if recipe.optimizer == "sgd":
        return Sgd(trainable, rate, decay, recipe.momentum, nesterov=recipe.nesterov)
    return Adam(trainable, rate, decay, decoupled=recipe.optimizer == "adamw")


def factor(recipe: Recipe, step: int, steps_an_epoch: int) -> float:
    """Compute by what the learning rate is multiplied at one step."""
    warm = recipe.warmup_epochs * steps_an_epoch
    if step < warm:
        return (step + 1) / (warm + 1)
    total = recipe.epochs * steps_an_epoch
    if recipe.schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1.0, total - warm)))
    if recipe.schedule == "multistep":
        return recipe.decay ** sum(step >= part * total for part in recipe.milestones)
    return 1.0
