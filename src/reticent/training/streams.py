"""The named random streams of one model, and how torch's global generator is lent to initialisers and dropout."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from reticent import seeds


@dataclass(frozen=True)
class Streams:
    """Separate streams for initialisation, data order, augmentation, dropout and noise of one model.

    Attributes:
        path: names of the part of a procedure that the streams serve, such as ("sub-model", 3); empty for all of it.
    """

    seed: int
    model: int
    path: tuple[str | int, ...] = ()

    def child(self, *path: str | int) -> "Streams":
        """Return the streams of a part of a procedure, independent of all others."""
        return Streams(self.seed, self.model, (*self.path, *path))

    def generator(self, name: str) -> torch.Generator:
        """Return a stream of its own as a torch generator on the CPU."""
        return seeds.torch_generator(self.seed, "model", self.model, *self.path, name)

    def integer(self, name: str) -> int:
        """Return a stream as one integer, for code that takes a seed."""
        return seeds.integer(self.seed, "model", self.model, *self.path, name)

    @contextmanager
    def lent(self, name: str) -> Iterator[None]:
        """Seed the global generators of torch, NumPy and Python with a stream; put them back afterwards."""
        value = self.integer(name)
        cuda = bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]
        devices = list(range(torch.cuda.device_count())) if cuda else []
        python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
        with torch.random.fork_rng(devices=devices):
            _seed(value)
            np.random.seed(value % 2**32)  # noqa: NPY002
            random.seed(value)
            try:
                yield
            finally:
                random.setstate(python_state)
                np.random.set_state(numpy_state)  # noqa: NPY002


def _seed(value: int) -> None:
    """Seed torch's global generators.

    `torch.manual_seed` notes the whole stack for each kind of accelerator that may begin later: milliseconds.
    """
    if torch.cuda.is_available():
        torch.manual_seed(value)
    else:
        torch.default_generator.manual_seed(value)
