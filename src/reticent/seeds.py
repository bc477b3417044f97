"""One master seed, and as many independent named streams as are asked for.

A stream is named by a path such as ``("model", 3, "order")``. Adding a stream moves no other one: the name is hashed
into the entropy, so streams are not numbered by the order in which somebody asked for them.
"""

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

Name = str | int


def sequence(seed: int, *name: Name) -> np.random.SeedSequence:
    """Derive a NumPy seed sequence from the master seed and a stream's name."""
    path = "/".join(f"{type(part).__name__}:{part}" for part in name)
    digest = hashlib.sha256(path.encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 32, 4)]
    return np.random.SeedSequence([seed, *words])


def rng(seed: int, *name: Name) -> np.random.Generator:
    """Return the NumPy generator of a named stream."""
    return np.random.default_rng(sequence(seed, *name))


def integer(seed: int, *name: Name) -> int:
    """Return one 63-bit integer of a named stream, to seed a generator of another library."""
    return int(sequence(seed, *name).generate_state(1, np.uint64)[0] >> np.uint64(1))


def torch_generator(seed: int, *name: Name, device: str = "cpu") -> "torch.Generator":
    """Return the torch generator of a named stream."""
    import torch

    return torch.Generator(device=device).manual_seed(integer(seed, *name))
