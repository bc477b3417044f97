"""ResNet-18 in the form used on CIFAR: a 3x3 stem without pooling, 4 stages of 2 basic blocks.

Paper: He et al. (2016), table 1; 11,173,962 parameters with 10 classes in this form.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge, Le
from torch import nn

from reticent.models.base import Input
from reticent.models.blocks import ResNet
from reticent.spec import Spec


class ResNet18(Spec):
    """Options of ResNet-18."""

    method: ClassVar[str] = "resnet18"

    width: Annotated[int, Ge(1), Le(1024)] = 64
    """Channels of the first stage; each next one has twice as many."""


def build(spec: ResNet18, given: Input, classes: int) -> nn.Module:
    """Build the network.

    Args:
        spec: its options.
        given: what a record looks like: (channels, height, width).
        classes: number of classes C.

    Returns:
        A module from images ``(B, channels, height, width)`` to logits ``(B, C)``.
    """
    w = spec.width
    return ResNet(given.shape[0], (w, 2 * w, 4 * w, 8 * w), (2, 2, 2, 2), classes)
