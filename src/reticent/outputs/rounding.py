"""Rounding: tell probabilities to a few decimal digits only.

Paper: Shokri et al. (2017), "Membership inference attacks against machine learning models", section VIII ("coarsen the
precision of the prediction vector").

Judgements. A probability that is rounded to zero is told as half a unit of the last digit, so that its logarithm is
finite. What is told need not sum to one, and is not brought to do so: that would show digits which rounding took away,
and attacks here compare classes, so that a common factor changes none of their numbers. Where rounding ties the largest
probability with another, the predicted class stays ahead by the least step that can be stored: its label is known
anyway, and its lead is not.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge, Le
from torch import Tensor

from reticent.outputs._top import keep_top
from reticent.outputs.base import Context, Output, OutputEntry
from reticent.spec import Spec


class Rounding(Spec):
    """Options of rounding."""

    method: ClassVar[str] = "rounding"

    digits: Annotated[int, Ge(1), Le(15)] = 1
    """Decimal digits that are told of each probability; the paper tries 3 and 1."""


def build(spec: Rounding, context: Context) -> Output:
    """Return the rounding."""
    units = 10.0**spec.digits

    def rounded(logits: Tensor, x: Tensor) -> Tensor:
        told = (logits.softmax(dim=1) * units).round().clamp(min=0.5) / units
        return keep_top(told.log(), logits)

    return rounded


ENTRY = OutputEntry(
    Rounding,
    build,
    "Probabilities to a few decimal digits.",
    paper="Shokri et al. (2017), S&P",
)
