"""Confidence penalty: cross-entropy less a share of the entropy of what the model says.

Paper: Pereyra et al. (2017), "Regularizing neural networks by penalizing confident output distributions", ICLR
workshop, without its annealing and its threshold.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge
from torch import Tensor
from torch.nn import functional

from reticent.objectives.base import Batch, Objective
from reticent.spec import Spec


class ConfidencePenalty(Spec):
    """Options of the confidence penalty."""

    method: ClassVar[str] = "confidence-penalty"

    weight: Annotated[float, Ge(0)] = 0.1
    """What a nat of the answers' mean entropy takes off the loss (beta in the paper)."""


def build(spec: ConfidencePenalty) -> Objective:
    """Return the loss."""
    return _ConfidencePenalty(spec.weight)


class _ConfidencePenalty(Objective):
    def __init__(self, weight: float) -> None:
        self._weight = weight

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        del batch
        loss = functional.cross_entropy(logits, targets)
        if not self._weight:
            return loss
        known = logits.log_softmax(dim=1)
        entropy = -(known.exp() * known).sum(dim=1).mean()
        return loss - self._weight * entropy
