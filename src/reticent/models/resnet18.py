"""ResNet-18: 4 stages of 2 basic blocks; by default in the form used on CIFAR, with a 3x3 stem without pooling.

Paper: He et al. (2016), table 1; 11,173,962 parameters with 10 classes in this form, and 11,689,512 with the imagenet
stem and 1,000 classes.
"""

from typing import ClassVar

from reticent.models._residual import Residual, build

__all__ = ["ResNet18", "build"]


class ResNet18(Residual):
    """Options of ResNet-18."""

    method: ClassVar[str] = "resnet18"
    COUNTS: ClassVar[tuple[int, ...]] = (2, 2, 2, 2)
