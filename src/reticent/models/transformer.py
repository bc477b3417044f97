"""A transformer for texts: an encoder whose tokens are averaged.

Paper: Vaswani et al. (2017), "Attention is all you need": sinusoids as positions, embeddings times the root of their
length. Deviations: the encoder alone, normalisation before each part of a block and GELU, which train without warm-up.
"""

import math
from typing import Annotated, Any, ClassVar

import torch
from annotated_types import Ge, Le, Lt
from pydantic import model_validator
from torch import Tensor, nn

from reticent.errors import InputError
from reticent.models._transformer_layers import Block, Normalised
from reticent.models.base import Architecture, Input
from reticent.models.stages import Layered

LONGEST = 10_000
"""Wave length of the slowest sinusoid, in tokens and up to a factor of 2 pi."""


class Transformer(Architecture):
    """Options of the transformer for texts."""

    method: ClassVar[str] = "transformer"

    dim: Annotated[int, Ge(8), Le(8192)] = 128
    """Length of a token's vector, an even number."""
    depth: Annotated[int, Ge(1), Le(64)] = 2
    """Number of blocks."""
    heads: Annotated[int, Ge(1), Le(64)] = 4
    """Number of attention heads, which must divide `dim`."""
    hidden: Annotated[int, Ge(1), Le(2**16)] = 256
    """Hidden units of each block's multilayer perceptron."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.0
    """Share of units, and of attention, dropped in training."""
    padding: Annotated[int, Ge(-1)] = 0
    """The token that fills up short texts, which nothing looks at; -1 where there is none."""

    @model_validator(mode="after")
    def _divides(self) -> Any:
        if self.dim % self.heads or self.dim % 2:
            raise ValueError(f"dim ({self.dim}) to be even and a multiple of heads ({self.heads})")
        return self


class Embedding(nn.Module):
    """Vectors of tokens, and sinusoids that say where they stand."""

    def __init__(self, vocabulary: int, dim: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, dim)
        nn.init.normal_(self.table.weight, std=dim**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        """Turn tokens into vectors."""
        dim = self.table.embedding_dim
        places = torch.arange(x.shape[1], device=x.device, dtype=torch.float32)[:, None]
        waves = torch.arange(0, dim, 2, device=x.device, dtype=torch.float32) * (-math.log(LONGEST) / dim)
        angles = places * waves.exp()
        out: Tensor = self.table(x) * math.sqrt(dim) + torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)
        return out


class Readout(Normalised):
    """The mean of the normalised tokens to logits."""

    def forward(self, x: Tensor, seen: Tensor) -> Tensor:
        """Answer logits."""
        shares = seen.to(x.dtype) / seen.sum(dim=1, keepdim=True)
        out: Tensor = self.linear(torch.einsum("bt,btd->bd", shares, self.norm(x)))
        return out


class Network(Layered):
    """Embedding, blocks, readout."""

    def __init__(self, embedding: Embedding, blocks: list[Block], head: Readout, padding: int) -> None:
        super().__init__()
        self.padding = padding
        self.embedding = embedding
        self.blocks = nn.ModuleList(blocks)
        self.head = head
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Answer logits."""
        seen = x != self.padding
        seen = seen | ~seen.any(dim=1, keepdim=True)  # A text of nothing but padding is read as it stands.
        out = self.embedding(x)
        for block in self.blocks:
            out = block(out, seen)
        logits: Tensor = self.head(out, seen)
        return logits


def build(spec: Transformer, given: Input, classes: int) -> nn.Module:
    """Build the network."""
    if given.vocabulary < 1:
        raise InputError(f"transformer: expected how many tokens there are, got a vocabulary of {given.vocabulary}")
    blocks = [Block(spec.dim, spec.heads, spec.hidden, spec.dropout) for _ in range(spec.depth)]
    return Network(Embedding(given.vocabulary, spec.dim), blocks, Readout(spec.dim, classes), spec.padding)
