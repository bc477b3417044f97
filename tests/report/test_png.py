import base64
import io

import numpy as np
import pytest
from PIL import Image

from reticent.report.png import data_uri


@pytest.mark.parametrize("shape", [(1, 1), (28, 28), (5, 40), (6, 8, 3)])
def test_the_address_carries_the_picture(shape):
    picture = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    head, body = data_uri(picture).split(",")
    assert head == "data:image/png;base64"
    read = Image.open(io.BytesIO(base64.b64decode(body)))
    assert (read.format, read.mode) == ("PNG", "RGB" if len(shape) == 3 else "L")
    np.testing.assert_array_equal(np.asarray(read), picture)


def test_a_view_that_is_not_contiguous():
    picture = np.arange(3 * 6 * 8, dtype=np.uint8).reshape(3, 6, 8).transpose(1, 2, 0)[::-1]
    read = Image.open(io.BytesIO(base64.b64decode(data_uri(picture).split(",")[1])))
    np.testing.assert_array_equal(np.asarray(read), picture)
