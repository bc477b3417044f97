"""Imitation: the answers are drawn to those that another model gave to the same records, once labels are learned.

It is no line of the table, since what it imitates is no option of a recipe. Paper: Du et al. (2026), "IMIA", USENIX
Security; the distance is on logits, as in the released code.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Lt
from torch import Tensor
from torch.nn import functional

from reticent.objectives.base import Batch, Context, Objective
from reticent.spec import Spec


class Imitating(Spec):
    """How a model is drawn to another's answers."""

    method: ClassVar[str] = "imitating"

    warmup: Annotated[float, Ge(0), Lt(1)] = 0.8
    """Share of the epochs that learn the labels alone."""
    margin_weight: Annotated[float, Gt(0)] = 1.0
    """Weight of the true class and of the imitated model's largest other class; others count 1."""
    temperature: Annotated[float, Gt(0)] = 1.0
    """What logits are divided by before they are compared."""


class Imitation(Objective):
    """Cross-entropy, and after the warm-up a half of it and a half of the weighted square distance of logits."""

    def __init__(self, spec: Imitating, answers: Tensor) -> None:
        """Take the logits ``(n, C)`` that the members are to be answered with."""
        self._spec, self._answers = spec, answers

    def begin(self, context: Context) -> None:
        """Count the epochs that learn the labels alone."""
        super().begin(context)
        self._alone = round(self._spec.warmup * context.epochs)

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Compute the loss."""
        learned = functional.cross_entropy(logits, targets)
        if batch.epoch < self._alone:
            return learned
        return 0.5 * learned + 0.5 * distance(logits, self._answers[batch.ids], targets, self._spec)


def distance(logits: Tensor, answers: Tensor, labels: Tensor, spec: Imitating) -> Tensor:
    """Compute the mean over records and classes of ``((z - z_imitated) w)^2 / mean(w)``, logits ``(B, C)``."""
    apart = (logits - answers) / spec.temperature
    other = answers.scatter(1, labels[:, None], float("-inf")).argmax(dim=1)
    weights = apart.new_ones(apart.shape)
    for classes in (labels, other):
        weights = weights.scatter(1, classes[:, None], spec.margin_weight)
    return ((apart * weights) ** 2).mean() / weights.mean()
