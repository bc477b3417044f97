"""Pieces of procedures that train twice: other epochs, one history of two, a state kept on the way, errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from reticent.errors import ReticentError
from reticent.objectives.base import Objective
from reticent.procedures.base import snapshot
from reticent.training.loop import accuracy
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.run import Run
from reticent.training.streams import Streams


def shortened(recipe: Recipe, epochs: int) -> Recipe:
    """Give a recipe other epochs, and bring its warm-up and its stop into proportion."""
    share, stop = epochs / recipe.epochs, recipe.stop_after
    return recipe.replace(
        epochs=epochs,
        warmup_epochs=min(recipe.warmup_epochs * share, epochs),
        stop_after=None if stop is None else min(stop * share, epochs),
    )


class Noted(Run):
    """A run that copies the state after some epochs.

    Attributes:
        kept: where the copy is put.
    """

    def __init__(
        self,
        model: nn.Module,
        recipe: Recipe,
        materials: Materials,
        objective: Objective,
        streams: Streams,
        *,
        after: int | None,
        kept: dict[str, Tensor],
    ) -> None:
        super().__init__(model, recipe, materials, objective, streams)
        self._after, self.kept = after, kept

    def epoch(self, epoch: int, batches: int) -> float:
        """Visit the batches of one epoch, and copy the state if it was the one to copy."""
        loss = super().epoch(epoch, batches)
        if epoch + 1 == self._after:
            self.kept.update(snapshot(self.model))
        return loss


@contextmanager
def named(part: str) -> Iterator[None]:
    """Say in an error which part of a procedure it is about."""
    try:
        yield
    except ReticentError as error:
        raise error.prefixed(f"{part}: ") from error


def accuracies(model: nn.Module, materials: Materials) -> dict[str, float]:
    """Compute the accuracy of the model that is to be repaired, on each kind of records that there are."""
    roles = {"members": materials.members, "reference": materials.reference, "validation": materials.validation}
    return {role: accuracy(model, materials, records) for role, records in roles.items() if len(records)}
