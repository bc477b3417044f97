"""Files of bits: the block reader against the csv module, whatever the block, the quotes and the line ends."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.data import shokri2017
from reticent.errors import CorruptFileError


def text_of(rows, labels, *, quoted, end, last_end):
    lines = []
    for i, row in enumerate(rows):
        label = [f'"{labels[i]}"' if quoted else str(labels[i])] if labels is not None else []
        lines.append(",".join(label + [str(b) for b in row]))
    return (end.join(lines) + (end if last_end else "")).encode()


@given(
    st.integers(1, 9),
    st.lists(st.integers(1, 100), min_size=1, max_size=12),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(1, 40),
    st.integers(0, 1000),
)
def test_equals_the_csv_module(width, labels, quoted, end, last_end, block, seed):
    rows = np.random.default_rng(seed).integers(0, 2, (len(labels), width))
    text = text_of(rows, labels, quoted=quoted, end=end, last_end=last_end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shokri2017, "BLOCK", block)
        read, texts = shokri2017.read_bits(io.BytesIO(text), "f", width=width, labelled=True)
    naive = [[int(cell) for cell in row] for row in csv.reader(io.StringIO(text.decode(), newline=""))]
    assert read.tolist() == [row[1:] for row in naive]
    assert shokri2017.whole_numbers(texts, "f").tolist() == [row[0] for row in naive] == labels


def test_without_labels():
    read, texts = shokri2017.read_bits(io.BytesIO(b"0,1,1\n1,0,0\n"), "f", width=3, labelled=False)
    assert read.tolist() == [[0, 1, 1], [1, 0, 0]]
    assert read.dtype == np.uint8
    assert texts == []


@pytest.mark.parametrize(
    ("text", "labelled", "words"),
    [
        (b"", False, "got an empty file"),
        (b"0,1,1\n0,1\n", False, "line 2 has 3 bytes: expected 3 bits"),
        (b"0,1,1\n0,2,1\n", False, "line 2 holds something that is no bit"),
        (b"0,1,1\n0;1,1\n", False, "line 2 holds something that is no bit"),
        (b"0,1,1\n\n", False, "line 2 has 0 bytes"),
        (b"7,0,1,1\n0,1,1\n", True, "line 2 has 5 bytes: expected 3 bits with commas after a label"),
        (b"7,0,1,1\n8;0,1,1\n", True, "line 2 holds something that is no bit"),
        (b"1234567890,0,1,1\n", True, "line 1 has 16 bytes"),
    ],
)
def test_damage_is_named_by_its_line(text, labelled, words):
    with pytest.raises(CorruptFileError) as caught:
        shokri2017.read_bits(io.BytesIO(text), "f", width=3, labelled=labelled)
    assert words in str(caught.value)


def test_the_line_is_counted_over_blocks(monkeypatch):
    monkeypatch.setattr(shokri2017, "BLOCK", 10)
    with pytest.raises(CorruptFileError, match="line 9 "):
        shokri2017.read_bits(io.BytesIO(b"0,1,1\n" * 8 + b"x,1,1\n"), "f", width=3, labelled=False)


def test_a_label_that_is_no_number_is_refused():
    with pytest.raises(CorruptFileError, match="whole numbers as labels"):
        shokri2017.whole_numbers([b"1", b"a"], "f")
