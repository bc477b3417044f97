"""The recipes that no other one beats in accuracy and leak at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import checks


def front(accuracy: ArrayLike, leak: ArrayLike) -> NDArray[np.bool_]:
    """Find the rows that are on the Pareto front, by the estimates alone.

    A row is beaten by another one that is at least as accurate, leaks at most as much, and is better in one of the
    two. Rows that are equal in both are both kept.

    Args:
        accuracy: ``(K,)``, higher is better.
        leak: ``(K,)``, lower is better.

    Returns:
        ``(K,)``. Cost: ``O(K**2)``.

    Raises:
        ShapeError: the two have different lengths.
    """
    gain = checks.floats(accuracy=accuracy, ndim=1)
    loss = checks.floats(leak=leak, ndim=1)
    checks.shape(leak=loss, expected=gain.shape, meaning="as `accuracy` has")
    as_good = (gain[None, :] >= gain[:, None]) & (loss[None, :] <= loss[:, None])
    better = (gain[None, :] > gain[:, None]) | (loss[None, :] < loss[:, None])
    return np.asarray(~(as_good & better).any(axis=1))
