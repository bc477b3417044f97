"""Records: what arrays become, and what is refused."""

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.data.load import load
from reticent.data.records import Records
from reticent.errors import InputError, ShapeError

Y = np.array([0, 1, 1])


def test_floats_are_tabular_float32():
    records = Records.make([[0.5, 1], [2, 3], [4, 5]], Y)
    assert (records.kind, records.x.dtype, records.x.tolist()[0], records.classes) == (
        "tabular",
        np.float32,
        [0.5, 1.0],
        2,
    )


@pytest.mark.parametrize("dtype", [bool, np.uint8])
def test_bits_are_tabular(dtype):
    records = Records.make(np.array([[0, 1], [1, 1], [0, 0]], dtype=dtype), Y)
    assert records.kind == "tabular"
    assert records.x.dtype == np.float32
    assert records.x.tolist() == [[0, 1], [1, 1], [0, 0]]


def test_integers_are_tokens_which_is_told_unless_the_user_says_so(tmp_path, caplog):
    x = np.array([[0, 7], [1, 1], [0, 0]])
    records = Records.make(x, Y)
    assert (records.kind, records.vocabulary) == ("tokens", 8)
    assert "x: whole numbers of 2 axes are read as texts of 2 tokens each" in caplog.text
    assert "if it is a table of numbers, give x.astype('float32')" in caplog.text
    caplog.clear()
    assert Records.make(x, Y, vocabulary=9).vocabulary == 9
    np.savez(tmp_path / "texts.npz", x=x, y=Y, vocabulary=9)
    said = load(tmp_path / "texts.npz")
    assert (said.kind, said.vocabulary) == ("tokens", 9)
    assert Records.make(x.astype(np.float32), Y).kind == "tabular"
    assert not caplog.text


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((3, 5, 4), (3, 1, 5, 4)),
        ((3, 3, 5, 4), (3, 3, 5, 4)),
        ((3, 5, 4, 3), (3, 3, 5, 4)),
        ((3, 5, 6, 1), (3, 1, 5, 6)),
    ],
)
def test_images_become_channels_first(shape, expected):
    x = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    records = Records.make(x, Y)
    assert records.kind == "image"
    assert records.x.shape == expected
    assert records.x.flags.c_contiguous
    if shape[-1] == 3:
        assert records.x[1, 2, 3, 1] == x[1, 3, 1, 2]
    assert len(records.mean) == len(records.std) == expected[1]


@pytest.mark.parametrize(
    ("x", "y", "error", "words"),
    [
        (np.zeros((3, 2)), [0, 1], ShapeError, "x has 3 records, y has 2"),
        (np.zeros((3, 2)), [0, 2, 2], InputError, "1 of 3 classes have no record (class 1)"),
        (np.zeros((3, 2)), [1, 2, 2], InputError, "expected labels 0 to 2 without gaps"),
        (np.zeros((3, 2)), [0, 0, 0], InputError, "at least 2 classes, got 1"),
        (np.zeros((3, 2)), [0, -1, 1], InputError, "got -1 at position 1"),
        (np.zeros((3, 2)), [0.0, 1.0, 1.0], ShapeError, "y: expected integers, got float64"),
        (
            np.array([[0, np.nan], [1, 1], [2, 2]]),
            Y,
            InputError,
            "1 NaN or infinite of 6, the first is nan of record 0, feature 1 (from 0)",
        ),
        (
            np.array([[0, 1e300], [1, 1], [2, 2]]),
            Y,
            InputError,
            "1 NaN or infinite of 6, the first is inf of record 0, feature 1 (from 0)",
        ),
        (np.zeros((0, 2)), np.zeros(0, dtype=int), ShapeError, "at least one record, got none"),
        (np.zeros((3, 5, 5, 7), dtype=np.uint8), Y, ShapeError, "1, 3 or 4 channels"),
        (np.zeros((3, 5, 5)), Y, ShapeError, "images as uint8 from 0 to 255, got float64"),
        (np.zeros(3), Y, ShapeError, "expected 2 or 3 or 4 axes"),
        (np.array([[0, -1], [1, 1], [2, 2]]), Y, InputError, "got -1 at position 1"),
    ],
)
def test_bad_arrays_are_refused(x, y, error, words):
    with pytest.raises(error) as caught:
        Records.make(x, y)
    assert words in str(caught.value)


def test_a_label_beyond_the_classes_is_refused():
    with pytest.raises(InputError, match="expected integers from 0 to 1, got 2 at position 2"):
        Records.make(np.zeros((3, 2)), [0, 1, 2], classes=2)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"class_names": ("a",)}, "expected 2 names, one a class, got 1"),
        ({"picture": (2, 2)}, "fit 2 features"),
        ({"columns": {"sex": np.zeros(2)}}, "columns['sex']: expected shape (3,)"),
    ],
)
def test_facts_that_do_not_fit_are_refused(facts, words):
    with pytest.raises(ShapeError) as caught:
        Records.make(np.zeros((3, 2)), Y, **facts)
    assert words in str(caught.value)


def test_take_keeps_classes_and_facts():
    records = Records.make(
        np.eye(4), [0, 1, 2, 2], name="eye", columns={"group": np.array([5, 6, 7, 8])}, picture=(2, 2)
    )
    taken = records.take(np.array([3, 0]))
    assert len(taken) == 2
    assert taken.x.tolist() == [[0, 0, 0, 1], [1, 0, 0, 0]]
    assert taken.y.tolist() == [2, 0]
    assert (taken.classes, taken.name, taken.picture) == (3, "eye", (2, 2))
    assert taken.columns["group"].tolist() == [8, 5]


def test_digest_is_of_what_a_model_sees():
    x = np.arange(6.0).reshape(3, 2)
    base = Records.make(x, Y).digest
    assert Records.make(x, Y, name="other", columns={"a": Y}, picture=(1, 2)).digest == base
    changed = x.copy()
    changed[2, 1] = np.nextafter(np.float32(5), np.float32(6))
    others = [Records.make(changed, Y), Records.make(x, [0, 1, 0]), Records.make(x, [0, 1, 1], mean=(1.0,))]
    assert len({base, *(other.digest for other in others)}) == 4


@given(arrays.arrays(np.uint8, st.tuples(st.integers(2, 30), st.integers(1, 2)), elements=st.integers(0, 2)))
def test_groups_are_the_first_equal_row(x):
    y = np.arange(len(x)) % 2
    records = Records.make(x, y)
    naive = [next(j for j in range(len(x)) if np.array_equal(x[j], x[i])) for i in range(len(x))]
    assert records.groups.tolist() == naive
    assert records.duplicates == len(x) - len(set(naive))


def test_thumbnails():
    grey = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    assert np.array_equal(Records.make(grey, [0, 1]).thumbnail(1), grey[1])
    colour = np.arange(150, dtype=np.uint8).reshape(2, 5, 5, 3)
    assert np.array_equal(Records.make(colour, [0, 1]).thumbnail(1), colour[1])
    alpha = np.arange(200, dtype=np.uint8).reshape(2, 5, 5, 4)
    assert np.array_equal(Records.make(alpha.transpose(0, 3, 1, 2), [0, 1]).thumbnail(0), alpha[0, ..., :3])
    rows = Records.make(np.array([[0, 0.5, 1, 2], [0, 0, 0, 0]]), [0, 1], picture=(2, 2))
    assert rows.thumbnail(0).tolist() == [[0, 128], [255, 255]]
    assert Records.make(np.eye(2), [0, 1]).thumbnail(0) is None


def test_one_class_is_told_as_such_whatever_its_number():
    with pytest.raises(InputError, match=r"at least 2 classes, got 1: every record has the label 3"):
        Records.make(np.zeros((5, 2)), [3] * 5)
