"""Active Token Mixer: four stages of blocks that take context from learned places of the row and the column.

Paper: Wei et al. (2022), "Active token mixer" (ActiveMLP), arXiv 2203.06108, table 1: XT, T and B have 15, 27 and 52
million parameters with 1,000 classes. With the layers of the released code that is 15,349,128, 27,152,232 and
52,154,792. Deviations: no stochastic depth, and a stage begins with its own down-sampling where theirs ends with the
next one's, so that a stage is what has one size of feature map. Their operator (section 3.2) is a deformable 1x1
convolution with one offset a channel along one axis; here it is the same, a shift with linear interpolation and zeros
outside, then a linear layer, so that no compiled operator is needed and records keep gradients of their own.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import torch
from annotated_types import Ge, Le
from pydantic import model_validator
from torch import Tensor, nn

from reticent.errors import InputError
from reticent.models._transformer_layers import STD, Normalised
from reticent.models.base import Architecture, Input, Strides, one_a_stage
from reticent.models.stages import Layered

STAGES = 4
WIDTHS = (64, 128, 320, 512)
SHARED = (2, 4, 4, 8)
"""How many channels of each stage have one offset."""


@dataclass(frozen=True)
class Size:
    """One column of the paper's table of variants.

    Attributes:
        depths: number of blocks of each stage.
        ratios: hidden units of each stage's multilayer perceptrons, by the stage's channels.
        every: after how many blocks offsets are made anew.
    """

    depths: tuple[int, ...]
    ratios: tuple[int, ...]
    every: int


SIZES = {
    "xt": Size((2, 2, 4, 2), (4, 4, 4, 4), 2),
    "t": Size((2, 3, 10, 3), (4, 4, 4, 4), 2),
    "b": Size((3, 8, 27, 3), (8, 8, 4, 4), 6),
}


class ATM(Architecture):
    """Options of the Active Token Mixer."""

    method: ClassVar[str] = "atm"

    size: Literal["xt", "t", "b"] = "xt"
    """The paper's variant: extra tiny, tiny or base."""
    depths: tuple[Annotated[int, Ge(2), Le(128)], ...] = ()
    """Number of blocks of each stage, in place of the variant's."""
    widths: tuple[Annotated[int, Ge(8), Le(8192)], ...] = ()
    """Channels of each stage, multiples of 2, 4, 4 and 8; 64, 128, 320 and 512 by default."""
    strides: Strides = ()
    """By how much each stage divides height and width; by default the first by 1 and each other one by 2."""
    patch: Annotated[int, Ge(1), Le(16)] = 4
    """Pixels from one token to the next; patches overlap, and are twice as large less one."""

    @model_validator(mode="after")
    def _one_a_stage(self) -> Any:
        one_a_stage(self, ("depths", "widths", "strides"), STAGES)
        if any(width % (2 * shared) for width, shared in zip(self.widths, SHARED, strict=False)):
            multiples = ", ".join(str(2 * shared) for shared in SHARED)
            raise ValueError(f"widths to be multiples of {multiples}, got {', '.join(map(str, self.widths))}")
        return self


def shifted(x: Tensor, offsets: Tensor, axis: int) -> Tensor:
    """Read every number of ``(B, H, W, C)`` so many places further along an axis, by linear interpolation."""
    size = x.shape[axis]
    shape = [1] * x.dim()
    shape[axis] = size
    exact = torch.promote_types(x.dtype, torch.float32)
    place = torch.arange(size, device=x.device, dtype=exact).view(shape) + offsets.to(exact)
    below = place.detach().floor()
    part = place - below
    out = torch.zeros_like(x, dtype=exact)
    for step, weight in ((0, 1 - part), (1, part)):
        index = below.clamp(-2, size).long() + step
        inside = (index >= 0) & (index < size)
        out = out + torch.gather(x, axis, index.clamp(0, size - 1)) * (weight * inside)
    return out.to(x.dtype)


class Mixer(nn.Module):
    """Row, column and the token itself, linearly mapped and weighted channel by channel."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.itself = nn.Linear(dim, dim, bias=False)
        self.column = nn.Linear(dim, dim)
        self.row = nn.Linear(dim, dim)
        self.fusion = nn.Sequential(nn.Linear(dim, dim // 4), nn.GELU(), nn.Linear(dim // 4, 3 * dim))
        self.output = nn.Linear(dim, dim)

    def forward(self, x: Tensor, offsets: Tensor) -> Tensor:
        """Mix tokens ``(B, H, W, C)``; offsets ``(B, H, W, 2C)`` are those along the row and along the column."""
        along, across = offsets.chunk(2, dim=3)
        ways = torch.stack([self.row(shifted(x, along, 2)), self.column(shifted(x, across, 1)), self.itself(x)])
        weights = self.fusion(ways.sum(dim=0).mean(dim=(1, 2))).view(len(x), -1, 3).softmax(dim=2)
        mixed = torch.einsum("nbhwc,bcn->bhwc", ways, weights.to(ways.dtype))
        out: Tensor = self.output(mixed)
        return out


class Block(nn.Module):
    """Mixer and multilayer perceptron, each after a LayerNorm and with a shortcut; some make new offsets."""

    def __init__(self, dim: int, hidden: int, shared: int, *, fresh: bool) -> None:
        """Build the block."""
        super().__init__()
        self.shared = shared
        self.norm1 = nn.LayerNorm(dim)
        self.mixer = Mixer(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))
        self.offsets = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim // shared)) if fresh else None

    def forward(self, x: Tensor, offsets: Tensor | None) -> tuple[Tensor, Tensor]:
        """Apply the block."""
        if self.offsets is not None:
            offsets = self.offsets(x).repeat_interleave(self.shared, dim=3)
        x = x + self.mixer(self.norm1(x), offsets)
        return x + self.mlp(self.norm2(x)), offsets  # type: ignore[return-value]


class StageOfBlocks(nn.Module):
    """Down-sampling, positions, and blocks that share offsets."""

    def __init__(self, down: nn.Module, position: nn.Conv2d, blocks: list[Block]) -> None:
        super().__init__()
        self.down = down
        self.position = position
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the stage."""
        x = self.down(x).permute(0, 2, 3, 1)
        offsets = None
        for block in self.blocks:
            if block.offsets is not None:
                x = x + self.position(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
            x, offsets = block(x, offsets)
        return x.permute(0, 3, 1, 2)


class Readout(Normalised):
    """The mean of the normalised tokens to logits."""

    def forward(self, x: Tensor) -> Tensor:
        """Answer logits."""
        out: Tensor = self.linear(self.norm(x.permute(0, 2, 3, 1)).mean(dim=(1, 2)))
        return out


class Network(Layered):
    """Embedding of patches, four stages, readout."""

    BLOCKS: ClassVar[str] = "stages"
    BLOCK: ClassVar[str] = "stage"

    def __init__(self, embedding: nn.Conv2d, made: list[StageOfBlocks], head: Readout) -> None:
        super().__init__()
        self.embedding = embedding
        self.stages = nn.Sequential(*made)
        self.head = head
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=STD, a=-2 * STD, b=2 * STD)
            elif isinstance(module, nn.Conv2d):
                # The released code divides the fan by the groups, which a depthwise convolution's other fan is.
                depthwise = module.groups > 1
                nn.init.kaiming_normal_(module.weight, mode="fan_in" if depthwise else "fan_out", nonlinearity="relu")
            if isinstance(module, nn.Linear | nn.Conv2d) and module.bias is not None:
                nn.init.zeros_(module.bias)


def build(spec: ATM, given: Input, classes: int) -> nn.Module:
    """Build the network."""
    channels, height, width = given.shape
    kernel = 2 * spec.patch - 1
    if min(height, width) < spec.patch:
        raise InputError(f"atm: expected images of at least {spec.patch} pixels (patch), got {height} x {width}")
    size = SIZES[spec.size]
    widths = spec.widths or WIDTHS
    strides = spec.strides or (1, 2, 2, 2)
    embedding = nn.Conv2d(channels, widths[0], kernel, stride=spec.patch, padding=spec.patch // 2)
    made = []
    for index, depth in enumerate(spec.depths or size.depths):
        dim, hidden = widths[index], widths[index] * size.ratios[index]
        fresh = [j % size.every == 0 and j != depth - 1 for j in range(depth)]
        blocks = [Block(dim, hidden, SHARED[index], fresh=each) for each in fresh]
        position = nn.Conv2d(dim, dim, 3, padding=1, groups=dim)
        made.append(StageOfBlocks(_down(index, widths, strides[index]), position, blocks))
    return Network(embedding, made, Readout(widths[-1], classes))


def _down(index: int, widths: tuple[int, ...], stride: int) -> nn.Module:
    if index == 0 and stride == 1:
        return nn.Identity()
    return nn.Conv2d(widths[max(0, index - 1)], widths[index], 3, stride=stride, padding=1)
