"""Distillation: the answers are drawn to soft targets that something else gave, such as models that never saw a record.

It is no line of the table, since its targets are no option of a recipe: procedures make it. Papers: Hinton, Vinyals and
Dean (2015), "Distilling the knowledge in a neural network"; Tang et al. (2022), SELENA, section 4.3, temperature 1.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from reticent.errors import InputError, ShapeError
from reticent.objectives.base import Batch, Context, Objective

Teacher = Callable[[Tensor, Tensor], Tensor]
"""From a step's model input ``(B, ...)`` and ``Batch.ids`` to probabilities ``(B, C)``; asked without gradient."""

FLOOR = -100.0
"""Log-probabilities below this count as this, so that one answer of zero gives no infinite loss."""


class Distillation(Objective):
    """Mean over records of the divergence KL(soft target || answer), which is zero where the targets are met."""

    def __init__(self, targets: Tensor | Teacher) -> None:
        self._targets = targets

    def begin(self, context: Context) -> None:
        """Check the targets against the members, and bring them to the device."""
        super().begin(context)
        self._table: Tensor | None = None
        if isinstance(self._targets, Tensor):
            expected = (len(context.members), context.classes)
            if tuple(self._targets.shape) != expected:
                raise ShapeError(
                    f"soft targets: expected shape {expected} (members, classes), got {tuple(self._targets.shape)}"
                )
            self._table = _checked(self._targets).to(context.device, torch.float32)

    def inputs(self, x: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Ask a function for the soft targets of a step, and leave its input as it is."""
        if not isinstance(self._targets, Tensor):
            with torch.no_grad():
                answer = self._targets(x, batch.ids)
            if tuple(answer.shape) != (len(x), self.context.classes):
                raise ShapeError(
                    f"soft targets: expected shape {(len(x), self.context.classes)} (records, classes) from the "
                    f"teacher, got {tuple(answer.shape)}"
                )
            self._wanted = answer.float()
        return x

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Compute the distance to the soft targets; labels have no part in it."""
        wanted = self._wanted if self._table is None else self._table[batch.ids]
        loss = -(wanted * functional.log_softmax(logits, dim=1).clamp(min=FLOOR)).sum(dim=1).mean()
        return loss + torch.xlogy(wanted, wanted).sum(dim=1).mean()


def _checked(probabilities: Tensor) -> Tensor:
    wrong = ~((probabilities >= 0).all(dim=1) & ((probabilities.sum(dim=1) - 1).abs() < 1e-3))
    if wrong.any():
        row = int(wrong.nonzero()[0])
        raise InputError(
            f"soft targets: expected probabilities that add up to 1, got {probabilities[row].tolist()} in row {row}: "
            "give the softmax of logits"
        )
    return probabilities
