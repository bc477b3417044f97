"""The steps of scoring: batches drawn ahead, the initial model's answers to them, and a working copy that moves.

The initial model is asked once about all that will be drawn, and is not held during the steps.
"""

import copy
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from reticent.errors import InputError, ModelError, TrainingDivergedError
from reticent.locate.steps import Answers, Steps, asker
from reticent.locate.topk_mask import Scores
from reticent.locate.working_copy import WorkingCopy
from reticent.models.state_dicts import check_state
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

if TYPE_CHECKING:
    from reticent.locate.weights import Scoring


def copied(model: nn.Module) -> nn.Module:
    """Copy a network to work on, at least in float32."""
    try:
        working = copy.deepcopy(model)
    except (RuntimeError, TypeError) as error:
        raise ModelError(
            f"the network cannot be copied, and scoring must not change the one that is given: {error}"
        ) from None
    working.zero_grad(set_to_none=True)
    return wide(working)


def wide(model: nn.Module) -> nn.Module:
    """Bring weights of half precision to float32, since what is added up step by step would be lost in them."""
    half = any(p.dtype in {torch.float16, torch.bfloat16} for p in model.parameters())
    return model.float() if half else model


def fill(model: nn.Module, state: Mapping[str, Tensor], what: str) -> None:
    """Bring a network to a state."""
    check_state(model, state, what)
    model.load_state_dict(dict(state))


def answers(vanilla: nn.Module, materials: Materials, scoring: "Scoring", streams: Streams, recipe: Recipe) -> Answers:
    """Ask the initial model, in eval mode, about every reference non-member that the steps will draw."""
    reference = materials.reference
    if not len(reference):
        raise InputError(
            "scoring needs reference non-members, which the model never saw: give some (--reference N), or "
            "unlearning of 0, which scores learnability"
        )
    known = torch.unique(torch.cat(list(_batches(len(reference), scoring, streams, "reference"))))
    places = torch.full((len(reference),), -1, dtype=torch.int64)
    places[known] = torch.arange(len(known))
    vanilla.eval()
    asked = asker(vanilla, materials, recipe)
    with torch.no_grad():
        parts = [
            functional.log_softmax(asked(reference.take(part).x), dim=1)
            for part in torch.split(known, scoring.batch_size)
        ]
    told = torch.cat(parts)
    if not bool(torch.isfinite(told).all()):
        raise ModelError("the initial model answers NaN or infinity: check the initial state")
    entropy = max(0.0, float(-(told.exp() * told).sum(dim=1).double().mean()) / math.log(materials.classes))
    return Answers(told, places.to(told.device), entropy)


def run(
    working: nn.Module,
    told: Answers | None,
    materials: Materials,
    scoring: "Scoring",
    streams: Streams,
    recipe: Recipe,
) -> Scores:
    """Take the steps and sum what each weight does in them."""
    if len(materials.members) < 2:
        raise InputError(f"scoring needs at least 2 members, got {len(materials.members)}")
    named = {name: p for name, p in working.named_parameters() if p.requires_grad}
    if not named:
        raise ModelError("the network has no parameter that asks for a gradient: there is nothing to score")
    steps = Steps(working, told, materials, scoring, recipe, streams)
    member_loss: list[float] = []
    divergence: list[float] = []
    others: Iterator[Tensor | None] = iter([None] * scoring.steps)
    if told is not None:
        others = _batches(len(materials.reference), scoring, streams, "reference")
    with streams.lent("scoring/dropout"), WorkingCopy(named, scoring) as mover:
        for rows, other in zip(_batches(len(materials.members), scoring, streams, "members"), others, strict=True):
            for part in steps.parts(rows, other):
                value = float(part.loss.detach())
                if not math.isfinite(value):
                    raise TrainingDivergedError(
                        f"the loss became {value} in step {len(member_loss) + 1} of scoring: lower its learning rate "
                        f"({scoring.learning_rate:g})"
                    )
                mover.back(part.loss, last=part.last)
                member_loss += [] if part.entropy is None else [float(part.entropy)]
                divergence += [] if part.distance is None else [float(part.distance)]
            mover.step()
    sums = mover.sums
    unused = [name for name in named if name not in sums]
    found = {name: sums.pop(name).float().cpu() if name in sums else _nothing(p) for name, p in named.items()}
    return Scores(found, unused=unused, member_loss=member_loss, divergence=divergence)


def _nothing(parameter: Tensor) -> Tensor:
    return torch.zeros(parameter.shape, dtype=torch.float32)


def _batches(count: int, scoring: "Scoring", streams: Streams, name: str) -> Iterator[Tensor]:
    """Draw the rows of each step: whole passes in random order, of which a last, smaller batch is left out."""
    generator = streams.generator(f"scoring/{name}")
    size = min(scoring.batch_size, count)
    for step in range(scoring.steps):
        place = step % (count // size)
        if place == 0:
            order = torch.randperm(count, generator=generator)
        yield order[place * size : (place + 1) * size]
