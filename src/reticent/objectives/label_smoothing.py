"""Label smoothing: cross-entropy against labels that give a small share to every class.

Paper: Szegedy et al. (2016), "Rethinking the Inception architecture for computer vision", section 7. It can make a
model easier to attack (Kaya and Dumitras, 2021): what is said of the label tells more where all else is held equal.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge, Lt
from torch import Tensor
from torch.nn import functional

from reticent.objectives.base import Batch, Objective
from reticent.spec import Spec


class LabelSmoothing(Spec):
    """Options of label smoothing."""

    method: ClassVar[str] = "label-smoothing"

    smoothing: Annotated[float, Ge(0), Lt(1)] = 0.1
    """The share that is spread over all classes, the true one among them."""


def build(spec: LabelSmoothing) -> Objective:
    """Return the loss."""
    return _LabelSmoothing(spec.smoothing)


class _LabelSmoothing(Objective):
    def __init__(self, smoothing: float) -> None:
        self._smoothing = smoothing

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        del batch
        return functional.cross_entropy(logits, targets, label_smoothing=self._smoothing)
