"""Distillation: the answers are drawn to soft targets that something else gave, such as models that never saw a record.

It is no line of the table, since its targets are no option of a recipe: procedures make it. Papers: Hinton, Vinyals and
Dean (2015), "Distilling the knowledge in a neural network"; Tang et al. (2022), SELENA, section 4.3, temperature 1.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from reticent.objectives.base import Batch, Objective

Teacher = Callable[[Tensor, Tensor], Tensor]
"""From a step's model input ``(B, ...)`` and ``Batch.ids`` to probabilities ``(B, C)``; asked without gradient."""

FLOOR = -100.0
"""Log-probabilities below this count as this, so that one answer of zero gives no infinite loss."""


class Distillation(Objective):
    """Mean over records of the divergence KL(soft target || answer), which is zero where the targets are met."""

    def __init__(self, targets: Tensor | Teacher) -> None:
        self._targets = targets

    def inputs(self, x: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Ask a function for the soft targets of a step, and leave its input as it is."""
        if not isinstance(self._targets, Tensor):
            with torch.no_grad():
                self._wanted = self._targets(x, batch.ids).float()
        return x

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Compute the distance to the soft targets; labels have no part in it."""
        wanted = self._targets[batch.ids] if isinstance(self._targets, Tensor) else self._wanted
        loss = -(wanted * functional.log_softmax(logits, dim=1).clamp(min=FLOOR)).sum(dim=1).mean()
        return loss + torch.xlogy(wanted, wanted).sum(dim=1).mean()
