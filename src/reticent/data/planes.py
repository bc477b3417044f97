"""The binary format of CIFAR: label bytes, then 3,072 bytes of a 32 x 32 picture as red, green and blue planes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reticent.errors import CorruptFileError

PIXELS = 3 * 32 * 32


def parse(
    contents: Sequence[bytes], label_bytes: int, paths: Sequence[str]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Read some files, one after the other.

    Args:
        contents: the bytes of each.
        label_bytes: how many label bytes stand before each picture.
        paths: the files, for messages.

    Returns:
        Pictures ``uint8 (N, 3, 32, 32)`` and label bytes ``uint8 (N, label_bytes)``.

    Raises:
        CorruptFileError: a file is no whole number of records.
    """
    width = label_bytes + PIXELS
    for content, path in zip(contents, paths, strict=True):
        if not content or len(content) % width:
            raise CorruptFileError(
                f"{path}: expected records of {width} bytes, got {len(content):,} bytes; delete it and fetch it again"
            )
    rows = np.concatenate([np.frombuffer(content, dtype=np.uint8).reshape(-1, width) for content in contents])
    pictures = np.ascontiguousarray(rows[:, label_bytes:]).reshape(-1, 3, 32, 32)
    return pictures, rows[:, :label_bytes].copy()


def split(contents: Sequence[bytes], label_bytes: int, parts: Sequence[str]) -> NDArray[np.str_]:
    """Name the official part of every record.

    Args:
        contents: the bytes of each file.
        label_bytes: how many label bytes a record has.
        parts: the part that each file belongs to.

    Returns:
        ``(N,)`` names.
    """
    return np.repeat(np.array(parts), [len(content) // (label_bytes + PIXELS) for content in contents])
