"""Draws that follow from a hash: whole numbers from 64-bit words, each word by itself."""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
ODD = np.uint64(0x9E3779B97F4A7C15)
"""What numbers in a row are multiplied by before they are mixed."""
_ODDER = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


def mixed(words: Words) -> Words:
    """Scramble words in place (multiply and shift)."""
    for _ in range(2):
        words ^= words >> _HALF
        words *= _ODDER
    return words


def below(words: Words, most: NDArray[np.int64]) -> NDArray[np.int64]:
    """Turn words, in place, into numbers from 0 up to `most`."""
    words >>= _HALF
    words *= most.view(np.uint64)
    words >>= _HALF
    return words.view(np.int64)
