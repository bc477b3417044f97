"""What the ResNets have in common: their options, and how these become a network."""

from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Le
from pydantic import model_validator
from torch import nn

from reticent.models import _sizes
from reticent.models.base import Input
from reticent.models.blocks import BasicBlock, Bottleneck, ResNet, Stem, stem
from reticent.spec import Spec


class Residual(Spec):
    """Options that every ResNet has."""

    COUNTS: ClassVar[tuple[int, ...]] = ()
    """Number of blocks of each stage."""
    BLOCK: ClassVar[type[BasicBlock | Bottleneck]] = BasicBlock

    width: Annotated[int, Ge(1), Le(1024)] = 64
    """Channels of the first stage; each next one has twice as many. Bottleneck blocks answer four times as many."""
    widths: _sizes.Widths = ()
    """Channels of each stage, in place of `width` and its doublings."""
    strides: _sizes.Strides = ()
    """By how much each stage divides height and width; by default the first by 1 and each other one by 2."""
    stem: Stem = "cifar"
    """What comes before the first stage: a 3x3 convolution; tiny is one with stride 2, for 64 x 64 pixels; imagenet is
    7x7 with stride 2 and a max-pooling."""

    @model_validator(mode="after")
    def _one_a_stage(self) -> Any:
        _sizes.one_a_stage(self, ("widths", "strides"), len(self.COUNTS))
        return self


def build(spec: Residual, given: Input, classes: int) -> nn.Module:
    """Build the network.

    Args:
        spec: its options.
        given: what a record looks like: (channels, height, width).
        classes: number of classes C.

    Returns:
        A module from images ``(B, channels, height, width)`` to logits ``(B, C)``.
    """
    count = len(spec.COUNTS)
    widths = spec.widths or tuple(spec.width * 2**index for index in range(count))
    strides = spec.strides or (1,) + (2,) * (count - 1)
    sizes = list(zip(widths, spec.COUNTS, strides, strict=True))
    return ResNet(stem(given.shape[0], widths[0], spec.stem), spec.BLOCK, sizes, classes)
