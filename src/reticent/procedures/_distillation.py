"""Distillation: cross-entropy against soft targets that somebody else's models gave."""

from collections.abc import Callable

from torch import Tensor

from reticent.objectives.base import Batch, Objective

LEAST = -30.0
"""Log-probabilities below this count as this, so that a single class cannot make the gradient explode."""


class Distillation(Objective):
    """Mean cross-entropy against probabilities of each record."""

    def __init__(self, targets: Tensor | Callable[[Tensor, Batch], Tensor]) -> None:
        self._targets = targets
        self._now: Tensor | None = None

    def inputs(self, x: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Look up or ask for the soft targets of a step.

        Args:
            x: model input.
            targets: not used.
            batch: says which members they are.

        Returns:
            The input, unchanged.
        """
        del targets
        given = self._targets
        self._now = given[batch.ids.to(given.device)].to(x.device) if isinstance(given, Tensor) else given(x, batch)
        return x

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Compute the loss.

        Args:
            logits: ``float32 (B, C)``.
            targets: not used.
            batch: not used.

        Returns:
            A scalar, in nats.
        """
        del targets, batch
        assert self._now is not None
        return -(self._now * logits.log_softmax(dim=1).clamp(min=LEAST)).sum(dim=1).mean()
