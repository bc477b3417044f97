"""CCL: cross-entropy with a concave part, which pushes harder the surer the model is, so that losses stay spread.

Paper: Liu et al. (2024), "Mitigating privacy risk in membership inference by convex-concave loss", ICML. With p the
probability of the label, a record's loss is ``beta * (alpha * convex(p) + (1 - alpha) * concave(p))``. Deviation: the
focal forms subtract ``exp(p)``, as the theory asks; the released class of that name adds it. Everything is computed
from the margin ``z_y - logsumexp of the others``, so that neither p nor 1 - p is rounded to 0 or 1.
"""

from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le
from torch import Tensor
from torch.nn import functional

from reticent.objectives.base import Batch, Configured, ObjectiveEntry, label_margin
from reticent.spec import Spec


class Ccl(Spec):
    """Options of the convex-concave loss."""

    method: ClassVar[str] = "ccl"

    concave: Literal["exponential", "quadratic", "linear"] = "exponential"
    """The concave part: -exp(p), -(p + p^2 / 2) or -p."""
    alpha: Annotated[float, Ge(0), Le(1)] = 0.5
    """The share of the convex part; 1 leaves nothing concave."""
    beta: Annotated[float, Gt(0)] = 0.05
    """The factor on the whole loss; under sgd it scales the learning rate, and weight decay weighs more below 1."""
    focal: Annotated[float, Ge(0)] = 0.0
    """The exponent of (1 - p) on the convex part, which makes it the focal loss; 0 is cross-entropy."""


class _Ccl(Configured[Ccl]):
    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        spec = self.spec
        if spec.alpha == 1 and not spec.focal:
            return spec.beta * functional.cross_entropy(logits, targets)
        margin = label_margin(logits, targets)
        known = functional.logsigmoid(margin)
        # exp(ln p), since the derivative of that is p * sigmoid(-margin): sigmoid's own has 1 - p, which rounds to 0.
        loss = (1 - spec.alpha) * _concave(spec.concave, known.exp())
        if spec.alpha:
            convex = -known
            if spec.focal:
                convex = (spec.focal * functional.logsigmoid(-margin)).exp() * convex
            loss = loss + spec.alpha * convex
        return spec.beta * loss.mean()


def _concave(name: str, p: Tensor) -> Tensor:
    if name == "exponential":
        return -p.exp()
    return -(p + p.square() / 2) if name == "quadratic" else -p


ENTRY = ObjectiveEntry(
    Ccl,
    _Ccl,
    "Cross-entropy with a concave part, so that the losses of members stay spread.",
    per_record=True,
    paper="Liu et al. (2024), ICML",
    cost="a few more operations on the logits",
    off=(Ccl(alpha=1.0, beta=1.0),),
)
