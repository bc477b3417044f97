"""Focal loss: cross-entropy of which a record counts the less, the surer the model is of its label.

Paper: Lin et al. (2017), "Focal loss for dense object detection", ICCV, section 3.2, without its weights of classes.
With p the probability of the label, a record's loss is ``-(1 - p)^gamma ln p``. It is computed from the margin
``z_y - logsumexp of the others``, so that neither p nor 1 - p is rounded to 0 or 1.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge
from torch import Tensor
from torch.nn import functional

from reticent.objectives.base import Batch, Configured, ObjectiveEntry, label_margin
from reticent.spec import Spec


class Focal(Spec):
    """Options of the focal loss."""

    method: ClassVar[str] = "focal"

    gamma: Annotated[float, Ge(0)] = 2.0
    """The exponent of 1 - p, which takes the weight off records that are answered well; 0 is cross-entropy."""


class _Focal(Configured[Focal]):
    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        if not self.spec.gamma:
            return functional.cross_entropy(logits, targets)
        margin = label_margin(logits, targets)
        weight = (self.spec.gamma * functional.logsigmoid(-margin)).exp()
        return -(weight * functional.logsigmoid(margin)).mean()


ENTRY = ObjectiveEntry(
    Focal,
    _Focal,
    "Cross-entropy of which a record counts the less, the surer the model is of its label.",
    per_record=True,
    off=(Focal(gamma=0.0),),
    paper="Lin et al. (2017), ICCV",
    cost="a few more operations on the logits",
)
