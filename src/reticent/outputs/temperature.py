"""Temperature: divide all logits by a constant, so that answers are less sure.

Paper: Guo et al. (2017), "On calibration of modern neural networks", section 4; as a defense, Shokri et al. (2017),
"Membership inference attacks against machine learning models", section VIII. It keeps the order of classes and can be
undone by whoever sees all probabilities: it hides nothing from an attacker who trains references under it.

Deviations: none, but for logits so close that the quotients would tie, or so large that they would overflow (`_top`).
"""

from typing import Annotated, ClassVar

from annotated_types import Ge
from torch import Tensor

from reticent.outputs._top import keep_top
from reticent.outputs.base import Context, Output, OutputEntry
from reticent.spec import Spec


class Temperature(Spec):
    """Options of the temperature."""

    method: ClassVar[str] = "temperature"

    temperature: Annotated[float, Ge(0.01)] = 2.0
    """What logits are divided by; above 1 answers are less sure, below 1 surer, which is no defense."""


def build(spec: Temperature, context: Context) -> Output:
    """Return the division."""

    def divided(logits: Tensor, x: Tensor) -> Tensor:
        return keep_top(logits / spec.temperature, logits)

    return divided


ENTRY = OutputEntry(
    Temperature,
    build,
    "Logits divided by a constant; the order of classes stays.",
    paper="Guo et al. (2017), ICML",
)
