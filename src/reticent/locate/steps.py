"""One step of scoring: the loss of members, and how far non-members are from what the initial model says of them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from reticent.objectives.base import Examples
from reticent.training.data import augment
from reticent.training.materials import Materials, forward
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

if TYPE_CHECKING:
    from reticent.locate.weights import Scoring


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


def asker(model: nn.Module, materials: Materials, recipe: Recipe) -> Callable[[Tensor], Tensor]:
    """Return a function from stored records to logits, under the recipe's precision.

    Args:
        model: the network, in the mode that it is in.
        materials: say how records become input.
        recipe: names the precision.

    Returns:
        From ``(B, ...)`` to logits ``(B, C)``, ``float32``, or ``float64`` where the network is.
    """
    device = materials.prepare.device.type
    cast: Callable[[], AbstractContextManager[object]] = (
        (lambda: torch.autocast(device, dtype=torch.bfloat16)) if recipe.precision == "bfloat16" else nullcontext
    )

    def ask(x: Tensor) -> Tensor:
        with cast():
            logits = forward(model, materials.prepare(x), materials.classes)
        return logits if logits.dtype == torch.float64 else logits.float()

    return ask


class Part(NamedTuple):
    """A part of a step's loss.

    Attributes:
        loss: what to send back.
        entropy: mean cross-entropy of the members, where this part has it.
        distance: mean divergence of the non-members, where this part has it.
        last: it is the step's last part.
    """

    loss: Tensor
    entropy: Tensor | None
    distance: Tensor | None
    last: bool


class Steps:
    """The loss of one step, of members and non-members apart."""

    def __init__(
        self,
        model: nn.Module,
        told: Answers | None,
        materials: Materials,
        scoring: "Scoring",
        recipe: Recipe,
        streams: Streams,
    ) -> None:
        self.model, self.told, self.materials, self.scoring, self.recipe = model, told, materials, scoring, recipe
        self.ask = asker(model, materials, recipe)
        self.noise = streams.generator("scoring/augmentation")

    def parts(self, rows: Tensor, other: Tensor | None) -> Iterator[Part]:
        """Compute the parts of a step's loss one after the other; each is to be sent back before the next is asked for.

        Non-members are asked first, so that at the first step the statistics are still those that the model came with:
        an untrained network then has no divergence at all. Their part is sent back before members are asked, since
        batch normalisation in eval mode goes back by the running statistics that it finds then, and members move them;
        so one pass's activations and one copy of gradients are held at a time, too.
        """
        members, weight = self._members(rows), self.scoring.unlearning
        if self.told is None or other is None:
            self.model.train()
            entropy = functional.cross_entropy(self.ask(members.x), members.y)
            yield Part(entropy, entropy.detach(), None, last=True)
            return
        reference = self.materials.reference.take(other)
        if self.scoring.statistics == "joint":
            self.model.train()
            both = self.ask(torch.cat([members.x, reference.x]))
            entropy = functional.cross_entropy(both[: len(rows)], members.y)
            distance = self._divergence(self.told, both[len(rows) :], other)
            loss = (1 - weight) * entropy + weight * distance
            yield Part(loss, entropy.detach(), distance.detach(), last=True)
            return
        self.model.train(self.scoring.statistics == "own")
        distance = self._divergence(self.told, self.ask(reference.x), other)
        yield Part(weight * distance, None, distance.detach(), last=False)
        self.model.train()
        entropy = functional.cross_entropy(self.ask(members.x), members.y)
        yield Part((1 - weight) * entropy, entropy.detach(), None, last=True)

    def _members(self, rows: Tensor) -> Examples:
        found = self.materials.members.take(rows)
        if self.scoring.augmentation == "none" or self.recipe.augmentation == "none":
            return found
        return Examples(augment(found.x, self.recipe.augmentation, self.recipe.padding, self.noise), found.y)

    def _divergence(self, told: Answers, logits: Tensor, other: Tensor) -> Tensor:
        """Compute the mean divergence of a batch of non-members."""
        initial = told.log_probabilities[told.places[other.to(told.places.device)]]
        updated = functional.log_softmax(logits, dim=1)
        first, second = (initial, updated) if self.scoring.divergence == "vanilla-first" else (updated, initial)
        return functional.kl_div(second, first, reduction="batchmean", log_target=True)
