"""Divide records into parts at random; exact duplicates stay together, so that a record seen by one is seen by one."""

import hashlib

import numpy as np
from numpy.typing import NDArray
from torch import Tensor


def duplicate_groups(x: Tensor) -> NDArray[np.int64]:
    """Find exact duplicates: for each record the first row that holds the same values."""
    flat = x.detach().cpu().contiguous().flatten(1).numpy()
    first: dict[bytes, int] = {}
    keys = (hashlib.blake2b(row.data, digest_size=16).digest() for row in flat)
    return np.array([first.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.int64)


def group_split(groups: NDArray[np.int64], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw a part of the records, as near to the share as whole groups come in the order drawn; true for the part."""
    order, sizes = np.unique(groups, return_counts=True)
    shuffled = rng.permutation(len(order))
    reached = np.cumsum(sizes[shuffled])
    count = int(np.argmin(np.abs(reached - share * len(groups)))) + 1
    chosen: NDArray[np.bool_] = np.isin(groups, order[shuffled[:count]])
    return chosen
