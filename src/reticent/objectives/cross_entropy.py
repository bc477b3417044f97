"""Cross-entropy: the mean negative log-probability of the true label."""

from typing import ClassVar

from torch import Tensor
from torch.nn import functional

from reticent.objectives.base import Batch, Configured, ObjectiveEntry
from reticent.spec import Spec


class CrossEntropy(Spec):
    """Options of cross-entropy: none."""

    method: ClassVar[str] = "cross-entropy"


class _CrossEntropy(Configured[CrossEntropy]):
    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        return functional.cross_entropy(logits, targets)

    def terms(self, logits: Tensor, targets: Tensor) -> Tensor:
        return functional.cross_entropy(logits, targets, reduction="none")


ENTRY = ObjectiveEntry(
    CrossEntropy,
    _CrossEntropy,
    "The mean negative log-probability of the true label.",
    per_record=True,
    off=(CrossEntropy(),),
)
