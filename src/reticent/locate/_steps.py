"""One step of scoring: the loss of members, and how far non-members are from what the initial model says of them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from reticent.objectives.base import Examples
from reticent.training.augment import augment
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

    def loss(self, rows: Tensor, other: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Compute the loss, and its two parts detached.

        Non-members are asked first, so that at the first step the statistics are still those that the model came with:
        an untrained network then has no divergence at all.

        Args:
            rows: of the members.
            other: of the reference non-members, or None.

        Returns:
            The loss; and its two parts detached, the second None where no non-members are asked.
        """
        members = self._members(rows)
        if self.told is None or other is None:
            self.model.train()
            entropy = functional.cross_entropy(self.ask(members.x), members.y)
            return entropy, entropy.detach(), None
        reference = self.materials.reference.take(other)
        if self.scoring.statistics == "joint":
            self.model.train()
            both = self.ask(torch.cat([members.x, reference.x]))
            logits, away = both[: len(rows)], both[len(rows) :]
        else:
            self.model.train(self.scoring.statistics == "own")
            away = self.ask(reference.x)
            self.model.train()
            logits = self.ask(members.x)
        entropy = functional.cross_entropy(logits, members.y)
        initial = self.told.log_probabilities[self.told.places[other.to(self.told.places.device)]]
        distance = self._divergence(initial, functional.log_softmax(away, dim=1))
        weight = self.scoring.weight
        return (1 - weight) * entropy + weight * distance, entropy.detach(), distance.detach()

    def _members(self, rows: Tensor) -> Examples:
        found = self.materials.members.take(rows)
        if self.scoring.augmentation == "none" or self.recipe.augmentation == "none":
            return found
        return Examples(augment(found.x, self.recipe.augmentation, self.recipe.padding, self.noise), found.y)

    def _divergence(self, initial: Tensor, updated: Tensor) -> Tensor:
        """Compute the mean divergence of a batch, of log-probabilities."""
        first, second = (initial, updated) if self.scoring.divergence == "vanilla-first" else (updated, initial)
        return functional.kl_div(second, first, reduction="batchmean", log_target=True)
