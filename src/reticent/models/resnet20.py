"""ResNet-20 for CIFAR: 3 stages of 3 basic blocks, 16-32-64 channels, projection shortcuts.

Paper: He et al. (2016), section 4.2, with option B shortcuts: 272,474 parameters with 10 classes.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge, Le
from torch import nn

from reticent.models.base import Input
from reticent.models.blocks import ResNet
from reticent.spec import Spec


class ResNet20(Spec):
    """Options of ResNet-20."""

    method: ClassVar[str] = "resnet20"

    width: Annotated[int, Ge(1), Le(1024)] = 16
    """Channels of the first stage; the next ones have two and four times as many."""


def build(spec: ResNet20, given: Input, classes: int) -> nn.Module:
    """Build the network.

    Args:
        spec: its options.
        given: what a record looks like: (channels, height, width).
        classes: number of classes C.

    Returns:
        A module from images ``(B, channels, height, width)`` to logits ``(B, C)``.
    """
    return ResNet(given.shape[0], (spec.width, 2 * spec.width, 4 * spec.width), (3, 3, 3), classes)
