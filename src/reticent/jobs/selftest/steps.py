"""Checks of the optimizers' fused steps against the papers' formulas, in 64-bit numbers."""

import numpy as np
import torch

from reticent import seeds
from reticent.jobs.selftest.line import Lines, twin
from reticent.jobs.selftest.made import SEED, Floats
from reticent.training.optim import optimizer
from reticent.training.recipe import Recipe

STEPS = 6
WRONG = "The optimizer does not take its paper's (and PyTorch's) steps: models are not trained as their recipe says."
RULES = {
    "sgd": Recipe(optimizer="sgd", learning_rate=0.1, weight_decay=0.01),
    "sgd-nesterov": Recipe(optimizer="sgd", learning_rate=0.1, weight_decay=0.01, nesterov=True),
    "adam": Recipe(optimizer="adam", learning_rate=0.1, weight_decay=0.01),
    "adamw": Recipe(optimizer="adamw", learning_rate=0.1, weight_decay=0.01),
}


def steps() -> Lines:
    """Take some steps on one tensor, with the fused kernels and by hand.

    Not with ``torch.optim``, whose first object imports PyTorch's compiler, which leaves a folder behind.
    """
    rng = seeds.rng(SEED, "selftest", "steps")
    start, gradients = rng.normal(size=(4, 3)), rng.normal(size=(STEPS, 4, 3))
    for name, recipe in RULES.items():
        parameter = torch.nn.Parameter(torch.tensor(start, dtype=torch.float32))
        fused = optimizer(recipe, [parameter])
        for gradient in gradients:
            parameter.grad = torch.tensor(gradient, dtype=torch.float32)
            fused.step()
        plain = _sgd if recipe.optimizer == "sgd" else _adam
        yield twin(name, plain(recipe, start, gradients), parameter.detach().numpy(), WRONG, 1e-5)


def _sgd(recipe: Recipe, start: Floats, gradients: Floats) -> Floats:
    """Sutskever et al. (2013), in PyTorch's form: the velocity is a sum of gradients."""
    weights, velocity = start.copy(), np.zeros_like(start)
    for gradient in gradients:
        decayed = gradient + recipe.weight_decay * weights
        velocity = recipe.momentum * velocity + decayed
        ahead = decayed + recipe.momentum * velocity
        weights -= recipe.learning_rate * (ahead if recipe.nesterov else velocity)
    return weights


def _adam(recipe: Recipe, start: Floats, gradients: Floats) -> Floats:
    """Kingma and Ba (2015), algorithm 1; for adamw with the decay of Loshchilov and Hutter (2019), algorithm 2."""
    weights, first, second = start.copy(), np.zeros_like(start), np.zeros_like(start)
    apart = recipe.optimizer == "adamw"
    for step, gradient in enumerate(gradients, start=1):
        used = gradient if apart else gradient + recipe.weight_decay * weights
        weights *= 1 - recipe.learning_rate * recipe.weight_decay * apart
        first = 0.9 * first + 0.1 * used
        second = 0.999 * second + 0.001 * used**2
        centre, spread = first / (1 - 0.9**step), second / (1 - 0.999**step)
        weights -= recipe.learning_rate * centre / (np.sqrt(spread) + 1e-8)
    return weights
