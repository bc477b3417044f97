"""ResNet-20 for CIFAR: 3 stages of 3 basic blocks, 16-32-64 channels, projection shortcuts.

Paper: He et al. (2016), section 4.2, with option B shortcuts: 272,474 parameters with 10 classes.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge, Le

from reticent.models._residual import Residual, build

__all__ = ["ResNet20", "build"]


class ResNet20(Residual):
    """Options of ResNet-20."""

    method: ClassVar[str] = "resnet20"
    COUNTS: ClassVar[tuple[int, ...]] = (3, 3, 3)

    width: Annotated[int, Ge(1), Le(1024)] = 16
    """Channels of the first stage; the next ones have two and four times as many."""
