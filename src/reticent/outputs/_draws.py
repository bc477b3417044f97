"""Random draws that belong to a query: who asks the same again gets the same again."""

import hashlib
from collections.abc import Callable

import torch
from torch import Tensor


def secret(generator: torch.Generator) -> bytes:
    """Draw a key that only the owner of a model knows."""
    return bytes(torch.randint(0, 256, (32,), generator=generator, dtype=torch.uint8).tolist())


def seeds(x: Tensor, key: bytes) -> list[int]:
    """Turn the content of each query into a seed that nobody can tell without the key."""
    # Zero and minus zero are the same query.
    rows = (x + 0 if x.is_floating_point() else x).detach().cpu().contiguous().numpy()
    digests = (hashlib.blake2b(row.tobytes(), digest_size=8, key=key).digest() for row in rows)
    return [int.from_bytes(digest, "little") >> 1 for digest in digests]


def drawn(x: Tensor, key: bytes, draw: Callable[[torch.Generator], Tensor]) -> Tensor:
    """Draw once for each query, from a generator that its content seeds."""
    generator = torch.Generator()
    return torch.stack([draw(generator.manual_seed(seed)) for seed in seeds(x, key)])
