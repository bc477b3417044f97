"""The basic residual block that the ResNets share.

Paper: He et al. (2016), "Deep residual learning for image recognition", section 3.3; option B (projection) shortcuts.
"""

from torch import Tensor, nn
from torch.nn import functional

from reticent.models.stages import HEAD, Stage, Staged


class BasicBlock(nn.Module):
    """Two 3x3 convolutions with BatchNorm, and a shortcut that is a 1x1 convolution where the shape changes."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or before != after:
            self.shortcut = nn.Sequential(nn.Conv2d(before, after, 1, stride=stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block.

        Args:
            x: ``(B, before, H, W)``.

        Returns:
            ``(B, after, H / stride, W / stride)``.
        """
        inner = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(inner + self.shortcut(x))


def stages(widths: tuple[int, ...], blocks: tuple[int, ...]) -> list[nn.Module]:
    """Stack residual stages; each but the first halves height and width.

    Args:
        widths: channels of each stage.
        blocks: number of blocks of each stage.

    Returns:
        One module a stage.
    """
    made: list[nn.Module] = []
    before = widths[0]
    for index, (width, count) in enumerate(zip(widths, blocks, strict=True)):
        stride = 1 if index == 0 else 2
        steps = [BasicBlock(before if b == 0 else width, width, stride if b == 0 else 1) for b in range(count)]
        made.append(nn.Sequential(*steps))
        before = width
    return made


class ResNet(Staged):
    """Stem, residual stages, global average pooling and one linear layer, for small images."""

    def __init__(self, channels: int, widths: tuple[int, ...], blocks: tuple[int, ...], classes: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(channels, widths[0], 3, padding=1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU()
        )
        self.stages = nn.Sequential(*stages(widths, blocks))
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def outline(self) -> list[Stage]:
        """Say the stages: the stem, "stage 1" (conv2_x) to the last, the head.

        Returns:
            The stages in forward order.
        """
        names = [f"stages.{index}" for index in range(len(self.stages))]
        middle = [Stage(f"stage {index}", (name,), name) for index, name in enumerate(names, start=1)]
        return [Stage("stem", ("stem",), "stem"), *middle, Stage(HEAD, ("head",), "head")]

    def forward(self, x: Tensor) -> Tensor:
        """Answer logits.

        Args:
            x: images ``(B, channels, H, W)``.

        Returns:
            ``(B, C)``.
        """
        out: Tensor = self.head(self.stages(self.stem(x)))
        return out
