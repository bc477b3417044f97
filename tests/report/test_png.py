import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from reticent.errors import ShapeError
from reticent.report.png import data_uri, encode


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.booleans(), st.integers(0, 2**32 - 1))
def test_pillow_reads_back_the_same_picture(height, width, colour, seed):
    shape = (height, width, 3) if colour else (height, width)
    picture = np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)
    read = Image.open(io.BytesIO(encode(picture)))
    assert read.mode == ("RGB" if colour else "L")
    np.testing.assert_array_equal(np.asarray(read), picture)


def test_a_view_that_is_not_contiguous():
    picture = np.arange(3 * 6 * 8, dtype=np.uint8).reshape(3, 6, 8).transpose(1, 2, 0)[::-1]
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(encode(picture)))), picture)


def test_address_carries_the_bytes():
    import base64

    picture = np.eye(5, dtype=np.uint8) * 255
    head, body = data_uri(picture).split(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(body) == encode(picture)


@pytest.mark.parametrize(
    "wrong", [np.zeros((2, 2)), np.zeros((2, 2, 4), np.uint8), np.zeros(4, np.uint8), np.zeros((0, 3), np.uint8)]
)
def test_other_arrays_are_refused(wrong):
    with pytest.raises(ShapeError, match="put the colours last"):
        encode(wrong)
