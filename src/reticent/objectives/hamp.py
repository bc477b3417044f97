"""HAMP, training part: labels as soft as an entropy asks for, and a reward for entropy in what the model says.

Paper: Chen and Pattabiraman (2024), "Overconfidence is a dangerous thing: mitigating membership inference attacks by
enforcing less confident prediction", NDSS. Its other half, which re-assigns scores when the model is asked, is the
output defense `hamp-output`. Deviations: the divergence is a mean over records (the released code divides by the
classes too: ``kl_scale="element"``), the search for the label ends at 1 / C, and ``gamma = 0`` leaves labels hard;
records are shuffled and momentum is kept from epoch to epoch, which the released code does not do.
"""

import math
from functools import cache
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Le
from torch import Tensor
from torch.nn import functional

from reticent.errors import SpecError
from reticent.objectives.base import Batch, Configured, ObjectiveEntry
from reticent.spec import Spec

STEPS = 100
RELEASED = {"cifar10": 0.001, "cifar100": 0.005, "location30": 0.001, "purchase100": 0.01, "texas100": 0.01}
"""The authors' alpha by data set, as ``kl_scale="element"`` takes it."""
PUBLISHED: dict[str, dict[str, float]] = {
    "cifar10": {"gamma": 0.95, "alpha": 0.01},
    "cifar100": {"gamma": 0.5, "alpha": 0.5},
    "location30": {"gamma": 0.5, "alpha": 0.03},
    "purchase100": {"gamma": 0.8, "alpha": 1.0},
    "texas100": {"gamma": 0.6, "alpha": 1.0},
    **{f"{dataset}/kl_scale=element": {"alpha": alpha} for dataset, alpha in RELEASED.items()},
}
"""The authors' values by data set; alpha times C, as ``kl_scale="batch"`` takes it, and as it was released."""


class Hamp(Spec):
    """Options of HAMP's training part."""

    method: ClassVar[str] = "hamp"

    gamma: Annotated[float, Ge(0), Le(1)] = 0.5
    """The least entropy of a soft label, as a share of ln C; 0 leaves labels hard; 1 would make them uniform."""
    alpha: Annotated[float, Ge(0)] = 0.03
    """What a nat of the answers' mean entropy takes off the loss; under kl_scale batch, released values times C."""
    kl_scale: Literal["batch", "element"] = "batch"
    """What the divergence from the labels is divided by: the records, or as released the records times the classes."""


def check(spec: Hamp, classes: int) -> None:
    """Refuse labels from which nothing is learned."""
    if soft_label(spec.gamma, classes) * classes <= 1:
        raise SpecError(
            f"hamp: gamma: expected less, got {spec.gamma:g}: the only label of {classes} classes with that share of "
            "the entropy ln C is the uniform one, which is the same whatever the class, so that nothing would be "
            f"learned; give a lower gamma, such as {Hamp().gamma:g}"
        )


@cache
def soft_label(gamma: float, classes: int) -> float:
    """Find the probability that a soft label gives the true class.

    It is the first of 1, 0.99, 0.98, ... at which the entropy of the whole label, the rest shared equally, is at least
    ``gamma * ln C``; where there is none above 1 / C, it is 1 / C.
    """
    for step in range(STEPS, 0, -1):
        share = step / STEPS
        if share <= 1 / classes:
            break
        if _entropy(share, classes) >= gamma * math.log(classes):
            return share
    return 1 / classes


@cache
def _entropy(share: float, classes: int) -> float:
    """Compute the entropy of a label that gives one class a share and the others equal parts of the rest."""
    rest = 1 - share
    return -sum(part * math.log(part / count) for part, count in ((share, 1), (rest, classes - 1)) if part)


class _Hamp(Configured[Hamp]):
    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        classes = logits.shape[1]
        share = soft_label(self.spec.gamma, classes)
        known = logits.log_softmax(dim=1)
        if share == 1:
            divergence = functional.cross_entropy(logits, targets)
        else:
            label = known.gather(1, targets[:, None])[:, 0]
            others = (known.sum(dim=1) - label) / (classes - 1)
            divergence = -(share * label + (1 - share) * others).mean() - _entropy(share, classes)
        if self.spec.kl_scale == "element":
            divergence = divergence / classes
        if not self.spec.alpha:
            return divergence
        entropy = -(known.exp() * known).sum(dim=1).mean()
        return divergence - self.spec.alpha * entropy


ENTRY = ObjectiveEntry(
    Hamp,
    _Hamp,
    "Labels as soft as an entropy asks for, and a reward for unsure answers.",
    check=check,
    per_record=True,
    paper="Chen and Pattabiraman (2024), NDSS",
    cost="one more pass over the logits",
    published=PUBLISHED,
    off=(Hamp(gamma=0.0, alpha=0.0),),
)
