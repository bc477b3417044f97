"""The active token mixer: each channel of a token is taken from another place of its row, and of its column.

Paper: Wei et al. (2022), "Active token mixer" (ActiveMLP), arXiv 2203.06108, section 3.2. Their operator is a
deformable 1x1 convolution with one offset a channel along one axis; here it is the same, a shift with linear
interpolation and zeros outside, then a linear layer, so that no compiled operator is needed and records keep gradients
of their own.
"""

import torch
from torch import Tensor, nn


def shifted(x: Tensor, offsets: Tensor, axis: int) -> Tensor:
    """Read every number at another place along one axis, between two places by linear interpolation.

    Args:
        x: ``(B, H, W, C)``.
        offsets: by how many places, of the same shape; 0 gives x.
        axis: 1 for the height, 2 for the width.

    Returns:
        ``(B, H, W, C)``; outside of x there are zeros.
    """
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
        """Mix the tokens.

        Args:
            x: ``(B, H, W, C)``.
            offsets: ``(B, H, W, 2C)``, along the row and along the column.

        Returns:
            ``(B, H, W, C)``.
        """
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
        """Apply the block.

        Args:
            x: ``(B, H, W, C)``.
            offsets: those of an earlier block; None for one that makes its own.

        Returns:
            ``(B, H, W, C)`` and the offsets ``(B, H, W, 2C)``.
        """
        if self.offsets is not None:
            offsets = self.offsets(x).repeat_interleave(self.shared, dim=3)
        x = x + self.mixer(self.norm1(x), offsets)
        return x + self.mlp(self.norm2(x)), offsets  # type: ignore[return-value]
