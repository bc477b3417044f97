"""DenseNet-121: four blocks whose every layer sees the maps of all layers before it, joined by halving transitions.

Paper: Huang et al. (2017), "Densely connected convolutional networks", table 1 and section 3 (bottleneck layers,
compression by one half). Parameters with 10 classes and the cifar stem, which is the default: 6,956,298, and 1,000,618
with a growth of 12; with 1,000 classes and the imagenet stem 7,978,856.
"""

from typing import Annotated, ClassVar

import torch
from annotated_types import Ge, Le
from torch import Tensor, nn

from reticent.models.base import Architecture, Input, Stem
from reticent.models.stages import Layered

BOTTLENECK = 4
"""How many times the growth the 1x1 convolution of a layer answers."""


class DenseNet121(Architecture):
    """Options of DenseNet-121."""

    method: ClassVar[str] = "densenet121"
    COUNTS: ClassVar[tuple[int, ...]] = (6, 12, 24, 16)
    """Number of layers of each block."""

    growth: Annotated[int, Ge(1), Le(256)] = 32
    """Channels that each layer adds; the stem answers twice as many."""
    stem: Stem = "cifar"
    """What comes before the first block: a 3x3 convolution; tiny is one with stride 2, for 64 x 64 pixels; imagenet is
    7x7 with stride 2, BatchNorm and a max-pooling."""


class DenseLayer(nn.Module):
    """BatchNorm, ReLU and a 1x1 convolution, then the same with 3x3; the answer is joined to what came in."""

    def __init__(self, before: int, growth: int) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(before)
        self.conv1 = nn.Conv2d(before, BOTTLENECK * growth, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(BOTTLENECK * growth)
        self.conv2 = nn.Conv2d(BOTTLENECK * growth, growth, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer."""
        inner = self.conv1(self.bn1(x).relu())
        return torch.cat([x, self.conv2(self.bn2(inner).relu())], dim=1)


class DenseNet(Layered):
    """Stem, dense blocks with a transition before each but the first, BatchNorm, average pooling and a linear layer."""

    FIRST: ClassVar[str] = "stem"
    BLOCKS: ClassVar[str] = "stages"
    BLOCK: ClassVar[str] = "stage"

    def __init__(self, spec: DenseNet121, channels: int, classes: int) -> None:
        super().__init__()
        width = 2 * spec.growth
        self.stem = _stem(channels, width, spec.stem)
        made = []
        for index, count in enumerate(spec.COUNTS):
            layers: list[nn.Module] = []
            if index:
                layers += _transition(width)
                width //= 2
            layers += [DenseLayer(width + spec.growth * place, spec.growth) for place in range(count)]
            width += spec.growth * count
            made.append(nn.Sequential(*layers))
        self.stages = nn.Sequential(*made)
        pooled = (nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Sequential(*pooled, nn.Linear(width, classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)


def _stem(channels: int, width: int, form: Stem) -> nn.Sequential:
    if form == "imagenet":
        convolution = nn.Conv2d(channels, width, 7, stride=2, padding=3, bias=False)
        return nn.Sequential(convolution, nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1))
    return nn.Sequential(nn.Conv2d(channels, width, 3, stride=2 if form == "tiny" else 1, padding=1, bias=False))


def _transition(width: int) -> list[nn.Module]:
    convolution = nn.Conv2d(width, width // 2, 1, bias=False)
    return [nn.BatchNorm2d(width), nn.ReLU(), convolution, nn.AvgPool2d(2)]


def build(spec: DenseNet121, given: Input, classes: int) -> nn.Module:
    """Build the network."""
    return DenseNet(spec, given.shape[0], classes)
