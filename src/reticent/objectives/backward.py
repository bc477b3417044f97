"""Going back through a network for gradients, where the network's own code may stand in the way."""

from collections.abc import Iterator
from contextlib import contextmanager

from reticent.errors import ModelError

INPLACE = "modified by an inplace operation"
"""What torch's error says where a tensor that a gradient needs was changed."""


@contextmanager
def named_inplace_errors() -> Iterator[None]:
    """Compute gradients, and say in plain words why a network has none."""
    try:
        yield
    except RuntimeError as error:
        if INPLACE not in str(error):
            raise
        raise ModelError(
            "the network changes a tensor in place that its gradient needs: write x = x * 0 instead of x.mul_(0) in "
            "its forward"
        ) from error
