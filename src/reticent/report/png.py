"""A picture as a PNG file inside a page."""

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray


def data_uri(picture: NDArray[Any]) -> str:
    """Write a picture, ``uint8 (height, width)`` or ``(height, width, 3)``, as the address of an image."""
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture)).save(stream, "PNG", compress_level=9)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode("ascii")
