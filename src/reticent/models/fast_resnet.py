"""A nine-layer ResNet that is trained on CIFAR in a minute or two on one GPU.

Its form is that of the winning entries of DAWNBench (Coleman et al., 2017): a convolution and three stages that halve
height and width, two of them with a residual block, then a maximum over all places and one linear layer. 6,573,120
parameters on CIFAR-10. benchmarks/fast_resnet.toml is a recipe for it.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Le
from torch import Tensor, nn

from reticent.errors import InputError
from reticent.models.base import Architecture, Input
from reticent.models.stages import Layered

SMALLEST = 8
"""Pixels that three halvings need."""


class FastResNet(Architecture):
    """Options of the nine-layer ResNet."""

    method: ClassVar[str] = "fast-resnet"

    width: Annotated[int, Ge(1), Le(1024)] = 64
    """Channels of the first convolution; the stages have two, four and eight times as many."""
    head_scale: Annotated[float, Gt(0)] = 0.125
    """By what the features are multiplied before the linear layer."""


def convolution(before: int, after: int) -> nn.Sequential:
    """Make a 3x3 convolution with BatchNorm and ReLU."""
    return nn.Sequential(nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU())


class Residual(nn.Module):
    """Two convolutions, added to what they are given."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(convolution(width, width), convolution(width, width))

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block."""
        answer: Tensor = x + self.inner(x)
        return answer


class Scaled(nn.Module):
    """Multiply by a constant."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: Tensor) -> Tensor:
        """Multiply."""
        return self.factor * x


class Network(Layered):
    """Stem, three stages, and the head."""

    FIRST: ClassVar[str] = "stem"
    BLOCKS: ClassVar[str] = "stages"
    BLOCK: ClassVar[str] = "stage"

    def __init__(self, channels: int, width: int, head_scale: float, classes: int) -> None:
        """Build the network."""
        super().__init__()
        self.stem = convolution(channels, width)
        self.stages = nn.Sequential(
            nn.Sequential(convolution(width, 2 * width), nn.MaxPool2d(2), Residual(2 * width)),
            nn.Sequential(convolution(2 * width, 4 * width), nn.MaxPool2d(2)),
            nn.Sequential(convolution(4 * width, 8 * width), nn.MaxPool2d(2), Residual(8 * width)),
        )
        linear = nn.Linear(8 * width, classes, bias=False)
        self.head = nn.Sequential(nn.AdaptiveMaxPool2d(1), nn.Flatten(), Scaled(head_scale), linear)


def build(spec: FastResNet, given: Input, classes: int) -> nn.Module:
    """Build the network."""
    channels, height, width = given.shape
    if min(height, width) < SMALLEST:
        raise InputError(
            f"fast-resnet: three halvings need images of {SMALLEST} pixels, got {height} x {width}: "
            "give --architecture mlp"
        )
    return Network(channels, spec.width, spec.head_scale, classes)
