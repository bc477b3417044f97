"""Cross-entropy: the mean negative log-probability of the true label."""

from typing import ClassVar

from torch import Tensor
from torch.nn import functional

from reticent.objectives.base import Batch, Objective
from reticent.spec import Spec


class CrossEntropy(Spec):
    """Options of cross-entropy: none."""

    method: ClassVar[str] = "cross-entropy"


def build(spec: CrossEntropy) -> Objective:
    """Return the loss."""
    del spec
    return _CrossEntropy()


class _CrossEntropy(Objective):
    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        del batch
        return functional.cross_entropy(logits, targets)
