"""A picture as a PNG file, with zlib alone: thumbnails must not need an image library.

Format: PNG (ISO/IEC 15948), colour types 0 (grey) and 2 (RGB), 8 bits, filter 0 on every line.
"""

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.errors import ShapeError

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def encode(picture: NDArray[Any]) -> bytes:
    """Write a picture as PNG."""
    array = np.asarray(picture)
    grey = array.ndim == 2
    if array.dtype != np.uint8 or not (grey or (array.ndim == 3 and array.shape[2] == 3)) or 0 in array.shape:
        raise ShapeError(
            f"picture: expected uint8 of shape (height, width) or (height, width, 3), got {array.dtype} of shape "
            f"{array.shape}; convert it with `.astype(numpy.uint8)` and put the colours last"
        )
    height, width = array.shape[:2]
    lines = np.ascontiguousarray(array).reshape(height, -1)
    filtered = np.concatenate([np.zeros((height, 1), np.uint8), lines], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if grey else 2, 0, 0, 0)
    body = zlib.compress(filtered.tobytes(), 9)
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def data_uri(picture: NDArray[Any]) -> str:
    """Write a picture as the address of an image that carries its own bytes."""
    return "data:image/png;base64," + base64.b64encode(encode(picture)).decode("ascii")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
