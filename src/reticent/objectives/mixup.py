"""Mixup: training on blends of two records, against the blend of their labels.

Paper: Zhang et al. (2018), "mixup: beyond empirical risk minimization", ICLR; one share a batch, as in its code.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge

from reticent.objectives._mixing import Mixing
from reticent.objectives.base import Objective
from reticent.spec import Spec


class Mixup(Spec):
    """Options of mixup."""

    method: ClassVar[str] = "mixup"

    alpha: Annotated[float, Ge(0)] = 1.0
    """Shares are drawn from Beta(alpha, alpha); 1 is uniform, smaller values blend less, and 0 not at all."""


def build(spec: Mixup) -> Objective:
    """Return the loss."""
    return Mixing(spec)
