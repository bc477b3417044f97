"""The deeper ResNets: 34 layers of basic blocks; 50, 101 and 152 of bottleneck blocks; by default in their CIFAR form.

Paper: He et al. (2016), table 1. Parameters with 10 classes and the cifar stem: 21,282,122, 23,520,842, 42,512,970 and
58,156,618; with 1,000 classes and the imagenet stem 21,797,672, 25,557,032, 44,549,160 and 60,192,808.
"""

from typing import ClassVar

from reticent.models._residual import Residual, build
from reticent.models.blocks import BasicBlock, Bottleneck

__all__ = ["ResNet34", "ResNet50", "ResNet101", "ResNet152", "build"]


class ResNet34(Residual):
    """Options of ResNet-34."""

    method: ClassVar[str] = "resnet34"
    COUNTS: ClassVar[tuple[int, ...]] = (3, 4, 6, 3)


class ResNet50(Residual):
    """Options of ResNet-50."""

    method: ClassVar[str] = "resnet50"
    COUNTS: ClassVar[tuple[int, ...]] = (3, 4, 6, 3)
    BLOCK: ClassVar[type[BasicBlock | Bottleneck]] = Bottleneck


class ResNet101(Residual):
    """Options of ResNet-101."""

    method: ClassVar[str] = "resnet101"
    COUNTS: ClassVar[tuple[int, ...]] = (3, 4, 23, 3)
    BLOCK: ClassVar[type[BasicBlock | Bottleneck]] = Bottleneck


class ResNet152(Residual):
    """Options of ResNet-152."""

    method: ClassVar[str] = "resnet152"
    COUNTS: ClassVar[tuple[int, ...]] = (3, 8, 36, 3)
    BLOCK: ClassVar[type[BasicBlock | Bottleneck]] = Bottleneck
