"""Class-wise self-distillation: records of one class are to be answered alike, each the teacher of another.

Paper: Yun et al. (2020), "Regularizing class-wise predictions via self-knowledge distillation", CVPR, equation 3.
"""

from typing import Annotated, ClassVar

import torch
from annotated_types import Ge, Gt
from torch import Tensor
from torch.nn import functional

from reticent.objectives._sampling import ClassIndex
from reticent.objectives.base import Batch, Configured, Context, ObjectiveEntry
from reticent.spec import Spec


class CsKd(Spec):
    """Options of class-wise self-distillation."""

    method: ClassVar[str] = "cs-kd"

    weight: Annotated[float, Ge(0)] = 1.0
    """What the distance to the other record's answer is multiplied by (lambda)."""
    temperature: Annotated[float, Gt(0)] = 4.0
    """What both answers' logits are divided by (T)."""


class _CsKd(Configured[CsKd]):
    def begin(self, context: Context) -> None:
        super().begin(context)
        if self.spec.weight:
            self._classes = ClassIndex(context.members.y, context.classes)
            self._partners, self._noise = (context.generator(f"cs-kd/{name}") for name in ("partner", "augmentation"))

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        loss = functional.cross_entropy(logits, targets)
        if not self.spec.weight:
            return loss
        others = self.context.members.take(_partners(self._classes, batch.ids, targets, self._partners))
        with torch.no_grad():
            teacher = self.context.ask(self.context.augment(others.x, self._noise))
        return loss + self.spec.weight * _distance(logits, teacher, self.spec.temperature)


def _partners(classes: ClassIndex, ids: Tensor, targets: Tensor, generator: torch.Generator) -> Tensor:
    """Draw for each record another one of its class, uniformly; itself where the class has no other."""
    others = classes.count[targets] - 1
    drawn = torch.rand(len(ids), dtype=torch.float64, generator=generator).to(ids.device)
    place = torch.minimum((drawn * others).long(), (others - 1).clamp(min=0))
    place += (place >= classes.place[ids]) & (others > 0)
    return classes.order[classes.start[targets] + place]


def _distance(logits: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """Mean over records of ``T^2 KL(softmax(teacher / T) || softmax(logits / T))``."""
    student, wanted = (functional.log_softmax(z / temperature, dim=1) for z in (logits, teacher))
    return temperature**2 * functional.kl_div(student, wanted, reduction="batchmean", log_target=True)


ENTRY = ObjectiveEntry(
    CsKd,
    _CsKd,
    "Each record is taught by what the model says of another record of its class.",
    per_record=False,
    asks_in_training=True,
    paper="Yun et al. (2020), CVPR",
    cost="one more forward pass a step",
    off=(CsKd(weight=0.0),),
)
