"""The residual blocks and the network that the ResNets share.

Paper: He et al. (2016), "Deep residual learning for image recognition", section 3.3; option B (projection) shortcuts.
Deviation: a bottleneck's stride lies on its 3x3 convolution, as in all later implementations, not on its first.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from torch import Tensor, nn
from torch.nn import functional

from reticent.models.stages import Stage, Staged, outline_of

Stem = Literal["cifar", "tiny", "imagenet"]
"""3x3; 3x3 with stride 2; 7x7 with stride 2 and a max-pooling with stride 2."""


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
        """Apply the block.

        Args:
            x: ``(B, before, H, W)``.

        Returns:
            ``(B, width, H / stride, W / stride)``.
        """
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
        """Apply the block.

        Args:
            x: ``(B, before, H, W)``.

        Returns:
            ``(B, 4 width, H / stride, W / stride)``.
        """
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


class ResNet(Staged):
    """Stem, residual stages, global average pooling and one linear layer."""

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

    def outline(self) -> list[Stage]:
        """Say the stages: the stem, "stage 1" (conv2_x) to the last, the head."""
        return outline_of("stage", "stages", len(self.stages), "stem")

    def forward(self, x: Tensor) -> Tensor:
        """Answer logits.

        Args:
            x: images ``(B, channels, H, W)``.

        Returns:
            ``(B, C)``.
        """
        out: Tensor = self.head(self.stages(self.stem(x)))
        return out
