r"""Which weights give members away: scores by learning members while non-members are pulled back to the initial model.

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
arXiv 2603.13186, section 4.1 and algorithm 1, step 1. No code is public and the formulas of the text are lost; they are
read from its prose and from Molchanov et al. (2019), whose first-order Taylor importance is the learnability score.
What the paper leaves open is an option of `Scoring`.

.. math::
    s_i = \sum_{t=1}^{T} |g_i^{(t)} w_i^{(t)}|^p, \qquad
    g = \nabla [(1 - \lambda)\, CE(f(x_{members}), y) + \lambda\, KL(f_0(x_{reference}) \| f(x_{reference}))]
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from reticent.errors import InputError, ModelError, TrainingDivergedError
from reticent.locate.scoring import Scores, Scoring
from reticent.locate.working_copy import WorkingCopy, copied, fill
from reticent.objectives.base import Examples
from reticent.training.loop import accuracy
from reticent.training.materials import Materials, forward
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

__all__ = ["Answers", "Scores", "Scoring", "answers", "run", "score"]


def score(
    model: nn.Module,
    vanilla_state: Mapping[str, Tensor],
    materials: Materials,
    scoring: Scoring,
    streams: Streams,
    recipe: Recipe,
) -> Scores:
    """Score every trainable weight by its part in telling members from non-members.

    A working copy learns the members while its answers about the reference non-members are pulled to those of the
    initial model; at each step ``|gradient * weight|``, both before the update, is added to the weight's score.

    Cost: T steps of two forward and two backward passes each, one forward pass of the initial model over the
        non-members that are drawn, and one of the working copy over members and non-members. Beyond the network and the
        initial state that are given: five copies of the weights (adam), which are the one that is worked on, gradients,
        two moments and scores, and a layer's gradient.
    """
    working = copied(model)
    told: Answers | None = None
    if scoring.unlearning:
        fill(working, vanilla_state, "the initial state")
        told = answers(working, materials, scoring, streams, recipe)
        fill(working, model.state_dict(), "the trained state")
    found = run(working, told, materials, scoring, streams, recipe)
    if told is not None:
        kinds = {"members": materials.members, "reference": materials.reference}
        found.accuracy = {one: accuracy(working, materials, kinds[one], scoring.batch_size) for one in kinds}
    return found


@dataclass(frozen=True, eq=False)
class Answers:
    """What the initial model says of the reference non-members that will be drawn.

    Attributes:
        log_probabilities: ``float32 (K, C)`` of the K records that are drawn at least once.
        places: for each reference record its row there, -1 for those that are not drawn.
        entropy: mean entropy of the answers, as a share of that of guessing, log C.
    """

    log_probabilities: Tensor
    places: Tensor
    entropy: float


def answers(vanilla: nn.Module, materials: Materials, scoring: Scoring, streams: Streams, recipe: Recipe) -> Answers:
    """Ask the initial model, in eval mode, once about every reference non-member that the steps will draw.

    With the statistics of the batch, BatchNorm alone is in training mode, and what it notes is to be overwritten.
    """
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
    parts: Sequence[Tensor] = torch.split(known, scoring.batch_size)
    if scoring.initial_statistics == "batch":
        parts = torch.tensor_split(known, max(1, len(known) // scoring.batch_size))  # No batch of a record alone.
        for module in vanilla.modules():
            module.training = isinstance(module, nn.modules.batchnorm._BatchNorm)
    ask = _asker(vanilla, materials, recipe)
    with torch.no_grad():
        told = torch.cat([functional.log_softmax(ask(reference.take(part).x), dim=1) for part in parts])
    if not bool(torch.isfinite(told).all()):
        raise ModelError("the initial model answers NaN or infinity: check the initial state")
    entropy = max(0.0, float(-(told.exp() * told).sum(dim=1).double().mean()) / math.log(materials.classes))
    return Answers(told, places.to(told.device), entropy)


def run(
    working: nn.Module,
    told: Answers | None,
    materials: Materials,
    scoring: Scoring,
    streams: Streams,
    recipe: Recipe,
) -> Scores:
    """Take the steps, which move the network that is given, and sum what each weight does in them."""
    if len(materials.members) < 2:
        raise InputError(f"scoring needs at least 2 members, got {len(materials.members)}")
    named = {name: p for name, p in working.named_parameters() if p.requires_grad}
    if not named:
        raise ModelError("the network has no parameter that asks for a gradient: there is nothing to score")
    member_loss: list[float] = []
    divergence: list[float] = []
    with streams.lent("scoring/dropout"), WorkingCopy(named, scoring) as moving:
        for part in _parts(working, told, materials, scoring, streams, recipe):
            value = float(part.loss.detach())
            if not math.isfinite(value):
                raise TrainingDivergedError(
                    f"the loss became {value} in step {len(member_loss) + 1} of scoring: lower its learning rate "
                    f"({scoring.learning_rate:g})"
                )
            moving.back(part.loss, last=part.entropy is not None)
            member_loss += [] if part.entropy is None else [float(part.entropy)]
            divergence += [] if part.distance is None else [float(part.distance)]
    sums = moving.sums
    unused = [name for name in named if name not in sums]
    found = {
        name: sums.pop(name).float().cpu() if name in sums else torch.zeros(p.shape, dtype=torch.float32)
        for name, p in named.items()
    }
    entropy = None if told is None else told.entropy
    return Scores(found, unused=unused, member_loss=member_loss, divergence=divergence, entropy=entropy)


class _Part(NamedTuple):
    """A part of a step's loss: what to send back, and the two means that it holds; members come last."""

    loss: Tensor
    entropy: Tensor | None
    distance: Tensor | None


def _parts(
    model: nn.Module,
    told: Answers | None,
    materials: Materials,
    scoring: Scoring,
    streams: Streams,
    recipe: Recipe,
) -> Iterator[_Part]:
    """Compute the parts of each step's loss one after the other; each is to be sent back before the next is asked for.

    Non-members are asked first, so that at the first step the statistics are still those that the model came with:
    an untrained network then has no divergence at all. Their part is sent back before members are asked, since
    batch normalisation in eval mode goes back by the running statistics that it finds then, and members move them;
    so one pass's activations and one copy of gradients are held at a time, too.
    """
    ask, noise = _asker(model, materials, recipe), streams.generator("scoring/augmentation")
    rows = _batches(len(materials.members), scoring, streams, "members")
    others = repeat(None) if told is None else _batches(len(materials.reference), scoring, streams, "reference")
    weight = scoring.unlearning

    def divergence(told: Answers, logits: Tensor, other: Tensor) -> Tensor:
        initial = told.log_probabilities[told.places[other.to(told.places.device)]]
        updated = functional.log_softmax(logits, dim=1)
        first, second = (initial, updated) if scoring.divergence == "vanilla-first" else (updated, initial)
        return functional.kl_div(second, first, reduction="batchmean", log_target=True)

    for own, other in zip(rows, others, strict=False):
        members = materials.members.take(own)
        if scoring.augmentation == "recipe":
            members = Examples(materials.prepare.augmented(members.x, recipe, noise), members.y)
        distance = None
        if told is not None and other is not None:
            reference = materials.reference.take(other).x
            if scoring.statistics == "joint":
                model.train()
                both = ask(torch.cat([members.x, reference]))
                entropy = functional.cross_entropy(both[: len(own)], members.y)
                distance = divergence(told, both[len(own) :], other)
                yield _Part((1 - weight) * entropy + weight * distance, entropy.detach(), distance.detach())
                continue
            model.train(scoring.statistics == "own")
            distance = divergence(told, ask(reference), other)
            yield _Part(weight * distance, None, distance.detach())
        model.train()
        entropy = functional.cross_entropy(ask(members.x), members.y)
        yield _Part(entropy if distance is None else (1 - weight) * entropy, entropy.detach(), None)


def _asker(model: nn.Module, materials: Materials, recipe: Recipe) -> Callable[[Tensor], Tensor]:
    """Return a function from stored records to logits, under the recipe's precision and in the model's mode."""
    device = materials.prepare.device.type
    cast: Callable[[], AbstractContextManager[object]] = (
        (lambda: torch.autocast(device, dtype=torch.bfloat16)) if recipe.precision == "bfloat16" else nullcontext
    )

    def ask(x: Tensor) -> Tensor:
        with cast():
            logits = forward(model, materials.prepare(x), materials.classes)
        return logits if logits.dtype == torch.float64 else logits.float()

    return ask


def _batches(count: int, scoring: Scoring, streams: Streams, name: str) -> Iterator[Tensor]:
    """Draw the rows of each step: whole passes in random order, of which a last, smaller batch is left out."""
    generator = streams.generator(f"scoring/{name}")
    size = min(scoring.batch_size, count)
    for step in range(scoring.steps):
        place = step % (count // size)
        if place == 0:
            order = torch.randperm(count, generator=generator)
        yield order[place * size : (place + 1) * size]
