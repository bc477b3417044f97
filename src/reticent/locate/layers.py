"""Where in a network membership begins to show: the disparity of feature maps by stage, and the first risky stage.

Paper: Fang and Kim, "Decoupling generalizability and membership privacy risks in neural networks" (PPTP), section 3.
Two networks of equal initial weights and equal streams are trained, one on all records, one on half of them. If a stage
carries no trace of membership, its maps differ between the two networks by as much on records that both have seen as on
those that only one has. The paper compares the two distributions by eye; `reticent.locate.onset` states a rule.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from reticent.data.records import first_rows
from reticent.errors import InputError
from reticent.findings.training import OnsetFacts
from reticent.locate.feature_maps import map_distances
from reticent.locate.group_split import group_split
from reticent.locate.onset import Contrast, Layers, judged
from reticent.models.stages import Stage, stages
from reticent.objectives import OBJECTIVES
from reticent.objectives.base import Examples
from reticent.objectives.cross_entropy import CrossEntropy
from reticent.samplers.shuffle import Shuffle
from reticent.training.loop import fit
from reticent.training.materials import Materials, untrained
from reticent.training.recipe import Recipe
from reticent.training.run import batch_sizes
from reticent.training.streams import Streams

FEWEST = 10
"""Fewest records of each half."""

Network = Callable[[Materials, Streams], nn.Module]
"""Builds an untrained network on the device, from the stream "init"."""

__all__ = ["Contrast", "Layers", "Network", "check_halves", "equalised", "onset"]


def onset(
    recipe: Recipe,
    materials: Materials,
    streams: Streams,
    options: Layers = Layers(),  # noqa: B008
    *,
    whole: nn.Module | None = None,
    network: Network | None = None,
) -> OnsetFacts:
    """Find the first risky stage of a recipe's network, from the members of one model alone.

    Networks are trained by plain cross-entropy and the recipe's optimizer and schedule, whatever its objective,
    sampler and procedure are; they are dropped. The first repetition takes its initial weights and its order from the
    streams themselves, so that its network on all members is the one that plain training gives.
    """
    built = network if network is not None else partial(untrained, recipe)
    materials = replace(materials, start=None, watched=None)
    members, groups = materials.members, first_rows(materials.members.x.cpu().numpy())
    found: list[Contrast] = []
    shown, sizes = list[Stage](), tuple[int, ...]()
    for seed in range(options.seeds):
        own = streams.child("onset", seed)
        one = group_split(groups, 0.5, np.random.default_rng(own.integer("halves")))
        check_halves(one)
        drawn = streams if seed == 0 else own
        everything = whole if whole is not None and seed == 0 else _trained(built, recipe, materials, drawn)
        shown = stages(everything, options.stages)
        for unseen in (one, ~one) if options.swap else (one,):
            kept = torch.from_numpy(~unseen).to(members.y.device)
            half = Examples(members.x[kept], members.y[kept])
            again = equalised(recipe, len(members), len(half), options)
            other = _trained(built, again, replace(materials, members=half), drawn)
            gap = map_distances(everything, other, members.x, materials.prepare, materials.classes, shown)
            found.append(Contrast(gap.distances, unseen))
            sizes = gap.sizes
    rng = np.random.default_rng(streams.child("onset").integer("bootstrap"))
    return judged([stage.name for stage in shown], sizes, found, options, rng)


def check_halves(one: NDArray[np.bool_]) -> None:
    """Check that both halves have records enough to compare."""
    least = int(min(one.sum(), (~one).sum()))
    if least < FEWEST:
        raise InputError(
            f"expected at least {FEWEST} records in each half of the members (exact duplicates stay together), got "
            f"{least} of {len(one)}: take more records"
        )


def equalised(recipe: Recipe, everything: int, half: int, options: Layers) -> Recipe:
    """Say how the network on half of the records is trained."""
    if options.equalise == "epochs":
        return recipe
    more = len(batch_sizes(everything, recipe.batch_size)) / len(batch_sizes(half, recipe.batch_size))
    stop = recipe.stop_after
    epochs = max(1, round(recipe.epochs * more))
    return recipe.replace(
        epochs=epochs,
        warmup_epochs=min(recipe.warmup_epochs * more, epochs),
        stop_after=None if stop is None else min(stop * more, epochs),
    )


def _trained(built: Network, recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    model = built(materials, streams)
    plain = CrossEntropy()
    fit(model, recipe.replace(sampler=Shuffle()), materials, OBJECTIVES[plain.method].build(plain), streams)
    return model
