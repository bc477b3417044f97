"""Confidence penalty: cross-entropy less a share of the entropy of what the model says.

Paper: Pereyra et al. (2017), "Regularizing neural networks by penalizing confident output distributions", ICLR
workshop, without its annealing and its threshold.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge
from torch import Tensor
from torch.nn import functional

from reticent.objectives.base import Batch, Configured, ObjectiveEntry
from reticent.spec import Spec


class ConfidencePenalty(Spec):
    """Options of the confidence penalty."""

    method: ClassVar[str] = "confidence-penalty"

    weight: Annotated[float, Ge(0)] = 0.1
    """What a nat of the answers' mean entropy takes off the loss (beta in the paper)."""


class _ConfidencePenalty(Configured[ConfidencePenalty]):
    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        loss = functional.cross_entropy(logits, targets)
        if not self.spec.weight:
            return loss
        known = logits.log_softmax(dim=1)
        entropy = -(known.exp() * known).sum(dim=1).mean()
        return loss - self.spec.weight * entropy


ENTRY = ObjectiveEntry(
    ConfidencePenalty,
    _ConfidencePenalty,
    "Cross-entropy less a share of the entropy of what the model says.",
    per_record=True,
    paper="Pereyra et al. (2017), ICLR workshop",
    cost="one more pass over the logits",
    off=(ConfidencePenalty(weight=0.0),),
)
