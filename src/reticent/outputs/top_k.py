"""Top-k: tell the k largest probabilities, and spread what is left evenly over the other classes.

Paper: Shokri et al. (2017), "Membership inference attacks against machine learning models", section VIII ("restrict the
prediction vector to top k classes").

Deviation: there, the other classes are left out of the answer. Here every class needs a number, so that each of them is
given the mean of what is left; that tells nothing which the k numbers do not tell, and no class gets on in the order.
"""

import math
from typing import Annotated, ClassVar

import torch
from annotated_types import Ge
from torch import Tensor

from reticent.errors import SpecError
from reticent.outputs._top import keep_top
from reticent.outputs.base import Context, Output, OutputEntry
from reticent.spec import Spec


class TopK(Spec):
    """Options of the top k."""

    method: ClassVar[str] = "top-k"

    k: Annotated[int, Ge(1)] = 3
    """How many probabilities are told; expected less than the number of classes minus one."""


def check(spec: TopK, classes: int) -> None:
    """Refuse a k that leaves nothing out."""
    if classes == 2:
        raise SpecError("top-k: with two classes one probability tells the other, so nothing is hidden: use rounding")
    if spec.k >= classes - 1:
        raise SpecError(
            f"top-k: k: expected less than the number of classes minus one ({classes - 1}), got {spec.k}: every "
            "probability would be told, or follow from the others, and nothing be hidden"
        )


def build(spec: TopK, context: Context) -> Output:
    """Return the restriction."""
    k = min(spec.k, context.classes)

    def restricted(logits: Tensor, x: Tensor) -> Tensor:
        ordered, order = logits.log_softmax(dim=1).sort(dim=1, descending=True, stable=True)
        if k < context.classes:
            rest = ordered[:, k:].logsumexp(dim=1, keepdim=True) - math.log(context.classes - k)
            ordered[:, k:] = rest
        return keep_top(torch.empty_like(ordered).scatter_(1, order, ordered), logits)

    return restricted


ENTRY = OutputEntry(
    TopK,
    build,
    "The k largest probabilities, and what is left spread evenly over the other classes.",
    check=check,
    paper="Shokri et al. (2017), S&P",
)
