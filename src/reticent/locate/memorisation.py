"""How far each member is memorised: what models trained on it say of it, less what models say that never saw it.

Papers: Feldman (2020), STOC; Feldman and Zhang (2020), NeurIPS, whose estimator this is; the soft form, by the
probability of the true label in place of whether the answer is right, is that of Shang et al. (2025), WeMem. Only the
members of one model are used. Deviation: each member is left out by equally many sub-models, drawn at random, where the
paper draws 70 % of the members for each sub-model: then none lacks a score, and all errors are of one size.
"""

from dataclasses import replace

import torch
from torch import Tensor

from reticent.errors import SpecError, TrainingDivergedError
from reticent.objectives import OBJECTIVES
from reticent.samplers.base import Memorisation
from reticent.training.loop import fit, member_losses
from reticent.training.materials import Materials, untrained
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

FEWEST = 2
"""Members that a sub-model trains on at least; BatchNorm needs two."""


def estimate(right: Tensor, inside: Tensor) -> Memorisation:
    """Estimate memorisation from what K models say of n records.

    `right` is ``(K, n)``: whether a model labels a record correctly (Feldman), or its probability of the true label;
    `inside` says whether a record trained a model. Scores and standard errors are NaN where the models do not tell
    them.
    """
    means, squares = zip(*(_side(right.double(), one) for one in (inside, ~inside)), strict=True)
    return Memorisation(means[0] - means[1], (squares[0] + squares[1]).sqrt())


def _side(right: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the mean over the chosen models, and its squared standard error."""
    count = chosen.sum(dim=0)
    mean = torch.where(chosen, right, 0.0).sum(dim=0) / count
    spread = torch.where(chosen, (right - mean).square(), 0.0).sum(dim=0)
    return mean, torch.where(count > 1, spread / (count - 1) / count, torch.nan)


def drawn(members: int, models: int, outside: int, generator: torch.Generator) -> Tensor:
    """Draw which members train each sub-model, booleans ``(K, n)``; each is left out by `outside` of them."""
    ranks = torch.rand((members, models), generator=generator, dtype=torch.float64).argsort(dim=1)
    inside = (ranks >= outside).T
    least = int(inside.sum(dim=1).min())
    if least < FEWEST:
        raise SpecError(
            f"memorisation: a sub-model would train on {least} of {members} members, each of which is left out by "
            f"{outside} of {models}: expected at least {FEWEST}: give more members, or make outside smaller"
        )
    return inside


def memorisation(recipe: Recipe, materials: Materials, streams: Streams, models: int, outside: int) -> Memorisation:
    """Measure how far a recipe's plain training memorises each member.

    Cost: `models` trainings on ``1 - outside / models`` of the members, one network in memory at a time.
    """
    members = materials.members
    inside = drawn(len(members), models, outside, streams.generator("assignment"))
    right = torch.empty(inside.shape, dtype=torch.float64)
    for model, chosen in enumerate(inside):
        own = streams.child("sub-model", model)
        share = replace(
            materials, members=members.take(chosen.nonzero().flatten()), watched=None, start=None, traced=False
        )
        network = untrained(recipe, share, own)
        loss = OBJECTIVES[recipe.objective.method].build(recipe.objective)
        fit(network, recipe, share, loss, own)
        right[model] = member_losses(network, materials).double().neg().exp()
    found = estimate(right, inside)
    if not found.scores.isfinite().all():
        raise TrainingDivergedError(
            "memorisation: a sub-model answers with NaN: lower the learning rate, or clip the gradient (clip_norm)"
        )
    return found
