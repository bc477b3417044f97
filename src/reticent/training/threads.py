"""One thread, where bits must not depend on a machine's number of cores."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread until the block ends: sums in another order have other last bits.

    Yields:
        Nothing. The process has as many threads as before when the block ends, also by an error.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
