"""RelaxLoss: training holds the mean loss at a level above zero, and flattens what the model says of the other classes.

Paper: Chen, Yu and Fritz (2022), "RelaxLoss: defending membership inference attacks without losing utility", ICLR.
The even epochs go down to the level or up to it; the odd ones go down to it and, below it, flatten: each record has a
target that keeps the model's own probability of the label and shares the rest equally. Two forms of that step were
released: `B`, for CIFAR, which is the default for all data, and `A`, for tables, which is nearest to the paper. The
released code lets gradients flow through the targets, and so do we unless ``detach`` is on, as the paper reads.
"""

import math
from typing import Annotated, ClassVar, Literal

import torch
from annotated_types import Ge, Gt, Le
from torch import Tensor
from torch.nn import functional

from reticent.errors import SpecError
from reticent.objectives.base import Batch, Configured, ObjectiveEntry, hits
from reticent.spec import Spec

PUBLISHED: dict[str, dict[str, float]] = {
    "cifar10/vgg11": {"level": 0.4},
    "cifar100": {"level": 3.0},
    "cifar100/vgg11": {"level": 0.5},
    "purchase100": {"level": 0.8, "upper": 0.3},
    "texas100": {"level": 2.5, "upper": 0.1},
}
"""The authors' values by data set (for CIFAR-100 those of ResNet-20), and by network where it has others."""


class RelaxLoss(Spec):
    """Options of RelaxLoss."""

    method: ClassVar[str] = "relaxloss"

    level: Annotated[float, Ge(0)] = 1.0
    """The mean cross-entropy, in nats, that training holds (alpha in the paper): below ln C; 0 is plain training."""
    upper: Annotated[float, Gt(0), Le(1)] = 1.0
    """The largest probability that a flattened target gives the label."""
    variant: Literal["A", "B"] = "B"
    """How odd epochs flatten: B climbs on all records, and learns the targets of wrong ones only; A learns them all."""
    detach: bool = False
    """Whether flattened targets are constants; the released code lets gradients flow through them."""


def check(spec: RelaxLoss, classes: int) -> None:
    """Refuse a level at which nothing is learned."""
    ceiling = math.log(classes)
    if spec.level >= ceiling:
        usual = " (the default)" if spec.level == RelaxLoss().level else ""
        raise SpecError(
            f"relaxloss: level: expected less than ln C = {ceiling:.4g}, the loss of a model that tells "
            f"{classes} classes apart no better than chance, got {spec.level:g}{usual}: training would hold "
            f"the model there and nothing would be learned; give a lower level, such as {ceiling / 3:.1g}"
        )


class _RelaxLoss(Configured[RelaxLoss]):
    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        mean = functional.cross_entropy(logits, targets)
        level = self.spec.level
        if not level:
            return mean
        self.acts(batch.epoch, mean.detach() <= level)
        if batch.epoch % 2 == 0:
            return (mean - level).abs()
        # Both sides are computed, so that no step waits for the device to say which one it is.
        return torch.where(mean > level, mean, self._flattened(logits, targets))

    def notices(self) -> list[str]:
        level = self.spec.level
        why = f"the mean loss of no batch fell to the level of {level:g}"
        return self.idle(why, "Give a higher level, or train longer.") if level else []

    def _flattened(self, logits: Tensor, targets: Tensor) -> Tensor:
        known = logits.log_softmax(dim=1)
        label = known.gather(1, targets[:, None])
        share = label.exp().clamp(max=self.spec.upper)
        if self.spec.detach:
            share = share.detach()
        # -sum_j t_j ln p_j with t_y = share and t_j = (1 - share) / (C - 1)
        others = (known.sum(dim=1, keepdim=True) - label) / (logits.shape[1] - 1)
        soft = -(share * label + (1 - share) * others)
        if self.spec.variant == "A":
            return soft.mean()
        wrong = ~hits(logits, targets)[:, None]
        return (wrong * soft + label).mean()


ENTRY = ObjectiveEntry(
    RelaxLoss,
    _RelaxLoss,
    "Holds the mean loss at a level above zero, and flattens answers that fall below it.",
    check=check,
    per_record=False,
    paper="Chen et al. (2022), ICLR",
    cost="a second loss on the logits in every other epoch",
    published=PUBLISHED,
    level="level",
    off=(RelaxLoss(level=0.0),),
)
