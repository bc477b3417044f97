"""Split-AI: sub-models that each leave some members out, and what those that never saw a member say of it.

Paper: Tang et al. (2022), "Mitigating membership inference attacks by self-distillation through a novel ensemble
architecture", algorithm 1. A member's non-models are the sub-models that did not train on it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

import torch
from torch import Tensor, nn

from reticent.errors import SpecError, TrainingDivergedError, about
from reticent.objectives.base import Examples
from reticent.procedures.base import fresh, objective
from reticent.training.loop import EVALUATION_BATCH, History, fit
from reticent.training.materials import Materials, forward
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

FEWEST = 2
"""Records that a sub-model trains on at least; BatchNorm needs two."""


def assign(members: int, models: int, outside: int, generator: torch.Generator) -> Tensor:
    """Draw each member's non-models: a subset of the sub-models, every one equally likely, independent of the others.

    Cost: O(n K log K).
    """
    drawn = torch.rand((members, models), generator=generator, dtype=torch.float64)
    return drawn.argsort(dim=1, stable=True)[:, :outside].sort(dim=1).values.to(torch.int16)


def outside_of(assigned: Tensor, model: int) -> Tensor:
    """List the members that one sub-model never sees."""
    return (assigned == model).any(dim=1).nonzero().flatten()


def inside_of(assigned: Tensor, model: int) -> Tensor:
    """List the members that one sub-model trains on."""
    return (assigned != model).all(dim=1).nonzero().flatten()


def sure_sizes(members: int, models: int, outside: int) -> None:
    """Refuse, before anything is drawn, where some sub-model would train on too few members however they are drawn."""
    most = members * (models - outside) // models
    if most < FEWEST:
        _too_few(f"at least one of {models} sub-models would train on at most {most}", members, outside)


def check_sizes(assigned: Tensor, models: int) -> list[int]:
    """Count what each sub-model trains on, before one is trained."""
    sizes = [len(inside_of(assigned, model)) for model in range(models)]
    for model, size in enumerate(sizes):
        if size < FEWEST:
            members, outside = assigned.shape
            _too_few(f"sub-model {model} of {models} would train on {size}", members, outside)
    return sizes


def _too_few(which: str, members: int, outside: int) -> NoReturn:
    """Refuse a sub-model with too few members."""
    raise SpecError(
        f"selena: {which} of {members} members, each of which is left out by {outside} sub-models: expected at least "
        f"{FEWEST} records: give more members, or make outside smaller"
    )


def sub_models(
    recipe: Recipe, materials: Materials, streams: Streams, assigned: Tensor, models: int
) -> Iterator[tuple[nn.Module, History, list[str]]]:
    """Train the sub-models one after the other, each from its own initialisation and streams."""
    for model in range(models):
        own = streams.child("sub-model", model)
        share = replace(materials, members=materials.members.take(inside_of(assigned, model)), watched=None)
        network, loss = fresh(recipe, share, own), objective(recipe)
        with about(f"sub-model {model} of {models}"):
            history = fit(network, recipe, share, loss, own)
        notices = loss.notices()
        del loss
        yield network, history, notices
        del network


@torch.no_grad()
def softened(network: nn.Module, materials: Materials, records: Examples) -> Tensor:
    """Ask a sub-model for the probabilities of some records, in eval mode."""
    network.eval()
    parts = [
        forward(network, materials.prepare(x), materials.classes).double().softmax(dim=1)
        for x in torch.split(records.x, EVALUATION_BATCH)
    ]
    answers = torch.cat(parts)
    bad = int(torch.count_nonzero(~answers.isfinite().all(dim=1)))
    if bad:
        raise TrainingDivergedError(
            f"a sub-model answers {bad} of {len(records)} records with NaN or infinity: lower the learning rate, or "
            "clip the gradient (clip_norm)"
        )
    return answers


@dataclass(frozen=True, eq=False)
class Views:
    """What non-models say of the view of a member that a step of the distillation is taken on.

    Attributes:
        networks: the K sub-models, in eval mode.
        assigned: non-models of each member ``(n, L)``, on the device.
    """

    networks: Sequence[nn.Module]
    assigned: Tensor
    classes: int

    @torch.no_grad()
    def __call__(self, x: Tensor, ids: Tensor) -> Tensor:
        """Ask each record's non-models, and none that trained on it.

        Cost: L queries a record, in up to K forward passes.
        """
        chosen = self.assigned[ids.to(self.assigned.device)]
        total = torch.zeros((len(x), self.classes), dtype=torch.float64, device=x.device)
        for model, network in enumerate(self.networks):
            rows = outside_of(chosen, model)
            if len(rows):
                total[rows] += forward(network, x[rows], self.classes).double().softmax(dim=1)
        return (total / self.assigned.shape[1]).float()
