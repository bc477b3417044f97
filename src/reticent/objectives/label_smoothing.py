"""Label smoothing: cross-entropy against labels that give a small share to every class.

Paper: Szegedy et al. (2016), "Rethinking the Inception architecture for computer vision", section 7. It can make a
model easier to attack (Kaya and Dumitras, 2021): what is said of the label tells more where all else is held equal.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge, Lt
from torch import Tensor
from torch.nn import functional

from reticent.objectives.base import Batch, Configured, ObjectiveEntry
from reticent.spec import Spec


class LabelSmoothing(Spec):
    """Options of label smoothing."""

    method: ClassVar[str] = "label-smoothing"

    smoothing: Annotated[float, Ge(0), Lt(1)] = 0.1
    """The share that is spread over all classes, the true one among them."""


class _LabelSmoothing(Configured[LabelSmoothing]):
    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        return functional.cross_entropy(logits, targets, label_smoothing=self.spec.smoothing)

    def terms(self, logits: Tensor, targets: Tensor) -> Tensor:
        return functional.cross_entropy(logits, targets, label_smoothing=self.spec.smoothing, reduction="none")


ENTRY = ObjectiveEntry(
    LabelSmoothing,
    _LabelSmoothing,
    "Cross-entropy against labels that give a small share to every class.",
    per_record=True,
    paper="Szegedy et al. (2016), CVPR",
    off=(LabelSmoothing(smoothing=0.0),),
)
