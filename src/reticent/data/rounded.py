"""What is lost where features are rounded to 32 bits, in which models get them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

KEPT = 0.95
"""With a smaller share of a feature's different values left, it is told: a few fall together in any large column."""


def merged(values: NDArray[Any]) -> str:
    """Say how many of a feature's values are still different in 32 bits; empty where nearly all are."""
    known = np.unique(values)
    left = len(np.unique(known.astype(np.float32)))
    if left >= KEPT * len(known):
        return ""
    return f"of {len(known):,} different values the 32 bits of a feature keep {left:,} apart"
