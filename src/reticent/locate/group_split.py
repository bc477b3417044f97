"""Divide records into parts at random; exact duplicates stay together, so that a record seen by one is seen by one."""

import numpy as np
from numpy.typing import NDArray


def group_split(groups: NDArray[np.int64], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw a part of the records, as near to the share as whole groups come in the order drawn; true for the part."""
    order, sizes = np.unique(groups, return_counts=True)
    shuffled = rng.permutation(len(order))
    reached = np.cumsum(sizes[shuffled])
    count = int(np.argmin(np.abs(reached - share * len(groups)))) + 1
    chosen: NDArray[np.bool_] = np.isin(groups, order[shuffled[:count]])
    return chosen
