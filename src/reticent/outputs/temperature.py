"""Temperature: divide all logits by a constant, so that answers are less sure.

It keeps the order of classes and can be undone by whoever sees all probabilities: it hides nothing from an attacker who
trains references under it.
"""

from typing import Annotated, ClassVar

from annotated_types import Gt
from torch import Tensor

from reticent.outputs.base import Context, Output
from reticent.spec import Spec


class Temperature(Spec):
    """Options of the temperature."""

    method: ClassVar[str] = "temperature"

    temperature: Annotated[float, Gt(0)] = 2.0
    """What logits are divided by; above 1 answers are less sure."""


def build(spec: Temperature, context: Context) -> Output:
    """Return the division.

    Args:
        spec: the temperature.
        context: not used.

    Returns:
        The function that answers go through.
    """
    del context

    def divided(logits: Tensor, x: Tensor) -> Tensor:
        del x
        return logits / spec.temperature

    return divided
