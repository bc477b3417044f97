"""Layers that the transformers share: attention, blocks and positions, of layers with per-record gradients.

Papers: Vaswani et al. (2017), "Attention is all you need"; Dosovitskiy et al. (2021) for normalisation before each part
of a block. What is not in a linear layer or a LayerNorm is an embedding, so that DP-SGD can tell records apart.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

STD = 0.02
"""Standard deviation of weights at first."""


class Attention(nn.Module):
    """Self-attention of several heads."""

    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.inputs = nn.Linear(dim, 3 * dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x: Tensor, seen: Tensor | None) -> Tensor:
        """Mix the tokens ``(B, T, dim)`` of each record; ``seen`` ``(B, T)`` says which may be looked at, None all."""
        batch, length, dim = x.shape
        parts = self.inputs(x).view(batch, length, 3, self.heads, dim // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mask = None if seen is None else seen[:, None, None, :]
        rate = self.dropout if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=rate)
        out: Tensor = self.output(mixed.transpose(1, 2).reshape(batch, length, dim))
        return out


class Block(nn.Module):
    """Attention and a multilayer perceptron, each after a LayerNorm and with a shortcut."""

    def __init__(self, dim: int, heads: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = Attention(dim, heads, dropout)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, dim))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, seen: Tensor | None = None) -> Tensor:
        """Apply the block."""
        x = x + self.dropout(self.attention(self.norm1(x), seen))
        out: Tensor = x + self.dropout(self.mlp(self.norm2(x)))
        return out


class Learned(nn.Module):
    """Vectors that are the same for every record, such as positions, looked up record by record."""

    def __init__(self, count: int, dim: int) -> None:
        super().__init__()
        self.table = nn.Embedding(count, dim)

    def forward(self, batch: int) -> Tensor:
        """Look all of them up."""
        index = torch.arange(self.table.num_embeddings, device=self.table.weight.device)
        out: Tensor = self.table(index.expand(batch, -1))
        return out


def narrow(module: nn.Module) -> None:
    """Initialise a module and all in it: weights from a normal distribution cut at two standard deviations."""
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Conv2d | nn.Embedding):
            nn.init.trunc_normal_(part.weight, std=STD, a=-2 * STD, b=2 * STD)
        if isinstance(part, nn.Linear | nn.Conv2d) and part.bias is not None:
            nn.init.zeros_(part.bias)


class Normalised(nn.Module):
    """A LayerNorm and a linear layer; each network says of which tokens they are."""

    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.linear = nn.Linear(dim, classes)
