"""What an objective is: a function of logits and labels to a scalar, and facts about it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from reticent.spec import Spec


@dataclass(frozen=True)
class Batch:
    """What an objective may know of a step besides logits and labels.

    Attributes:
        ids: rows of the batch's records among the members, ``int64 (B,)``.
        epoch: from 0.
    """

    ids: Tensor
    epoch: int


class Objective(Protocol):
    """A loss: differentiable, a mean over the batch unless its entry says otherwise."""

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Compute the loss.

        Args:
            logits: ``(B, C)``, C at least 2.
            targets: ``int64 (B,)``.
            batch: what else is known of the step.

        Returns:
            A scalar, in nats.
        """


@dataclass(frozen=True)
class ObjectiveEntry:
    """One line of the table.

    Attributes:
        spec: the class of its spec.
        build: from a spec to the function that the loop calls.
        summary: one sentence.
        per_record: the loss is a mean of terms of single records; DP-SGD refuses others.
    """

    spec: type[Spec]
    build: Callable[[Any], Objective]
    summary: str
    per_record: bool
