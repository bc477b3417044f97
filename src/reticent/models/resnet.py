"""ResNets: 18 and 34 layers of basic blocks, 50, 101 and 152 of bottleneck blocks, and ResNet-20 for CIFAR.

Paper: He et al. (2016), "Deep residual learning for image recognition", section 3.3 and table 1, section 4.2 for
ResNet-20; option B (projection) shortcuts. Deviation: a bottleneck's stride lies on its 3x3 convolution, as in all
later implementations, not on its first. Parameters with 10 classes and the cifar stem, which is the default: 272,474 of
ResNet-20; 11,173,962, 21,282,122, 23,520,842, 42,512,970 and 58,156,618 of the others; with 1,000 classes and the
imagenet stem these have 11,689,512, 21,797,672, 25,557,032, 44,549,160 and 60,192,808.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Le
from pydantic import model_validator
from torch import Tensor, nn
from torch.nn import functional

from reticent.models.base import Architecture, Input, Stem, Strides, Widths, one_a_stage
from reticent.models.stages import Layered


class BasicBlock(nn.Module):
    """Two 3x3 convolutions with BatchNorm, and a shortcut that is a 1x1 convolution where the shape changes."""

    expansion: ClassVar[int] = 1

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.shortcut = shortcut(before, width, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block."""
        inner = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(inner + self.shortcut(x))


class Bottleneck(nn.Module):
    """A 1x1, a 3x3 and a 1x1 convolution, the last with four times as many channels, and a shortcut."""

    expansion: ClassVar[int] = 4

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        after = width * self.expansion
        self.conv1 = nn.Conv2d(before, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, after, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(after)
        self.shortcut = shortcut(before, after, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block."""
        inner = functional.relu(self.bn1(self.conv1(x)))
        inner = functional.relu(self.bn2(self.conv2(inner)))
        return functional.relu(self.bn3(self.conv3(inner)) + self.shortcut(x))


def shortcut(before: int, after: int, stride: int) -> nn.Module:
    """Make what goes past a block."""
    if stride == 1 and before == after:
        return nn.Identity()
    return nn.Sequential(nn.Conv2d(before, after, 1, stride=stride, bias=False), nn.BatchNorm2d(after))


def stem(channels: int, width: int, form: Stem) -> nn.Sequential:
    """Make the first layers."""
    if form == "imagenet":
        convolution = nn.Conv2d(channels, width, 7, stride=2, padding=3, bias=False)
        return nn.Sequential(convolution, nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1))
    stride = 2 if form == "tiny" else 1
    convolution = nn.Conv2d(channels, width, 3, stride=stride, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(width), nn.ReLU())


class ResNet(Layered):
    """Stem, residual stages, global average pooling and one linear layer."""

    FIRST: ClassVar[str] = "stem"
    BLOCKS: ClassVar[str] = "stages"
    BLOCK: ClassVar[str] = "stage"

    def __init__(
        self,
        first: nn.Sequential,
        block: type[BasicBlock | Bottleneck],
        sizes: Sequence[tuple[int, int, int]],
        classes: int,
    ) -> None:
        """Build the network."""
        super().__init__()
        self.stem = first
        before, made = sizes[0][0], []
        for width, count, stride in sizes:
            blocks = [block(before, width, stride)]
            before = width * block.expansion
            blocks += [block(before, width, 1) for _ in range(count - 1)]
            made.append(nn.Sequential(*blocks))
        self.stages = nn.Sequential(*made)
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


class Residual(Architecture):
    """Options that every ResNet has."""

    COUNTS: ClassVar[tuple[int, ...]] = ()
    """Number of blocks of each stage."""
    BLOCK: ClassVar[type[BasicBlock | Bottleneck]] = BasicBlock

    width: Annotated[int, Ge(1), Le(1024)] = 64
    """Channels of the first stage; each next one has twice as many. Bottleneck blocks answer four times as many."""
    widths: Widths = ()
    """Channels of each stage, in place of `width` and its doublings."""
    strides: Strides = ()
    """By how much each stage divides height and width; by default the first by 1 and each other one by 2."""
    stem: Stem = "cifar"
    """What comes before the first stage: a 3x3 convolution; tiny is one with stride 2, for 64 x 64 pixels; imagenet is
    7x7 with stride 2 and a max-pooling."""

    @model_validator(mode="after")
    def _one_a_stage(self) -> Any:
        one_a_stage(self, ("widths", "strides"), len(self.COUNTS))
        return self


def build(spec: Residual, given: Input, classes: int) -> nn.Module:
    """Build the network."""
    count = len(spec.COUNTS)
    widths = spec.widths or tuple(spec.width * 2**index for index in range(count))
    strides = spec.strides or (1,) + (2,) * (count - 1)
    sizes = list(zip(widths, spec.COUNTS, strides, strict=True))
    return ResNet(stem(given.shape[0], widths[0], spec.stem), spec.BLOCK, sizes, classes)


class ResNet18(Residual):
    """Options of ResNet-18."""

    method: ClassVar[str] = "resnet18"
    COUNTS: ClassVar[tuple[int, ...]] = (2, 2, 2, 2)


class ResNet20(Residual):
    """Options of ResNet-20."""

    method: ClassVar[str] = "resnet20"
    COUNTS: ClassVar[tuple[int, ...]] = (3, 3, 3)

    width: Annotated[int, Ge(1), Le(1024)] = 16
    """Channels of the first stage; the next ones have two and four times as many."""


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
