import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.errors import InputError, NonFiniteError, ShapeError
from reticent.signals import matrix
from reticent.signals.matrix import Rows, Signals, log_probability, margin


def test_the_exact_values_of_the_margin():
    z = np.array([[2.0, 1.0, 0.0], [2.0, 1.0, 0.0]])
    assert margin(z, np.array([0, 1])) == pytest.approx([0.686738, -1.126928], abs=5e-7)
    p = np.log([[0.5, 0.25, 0.25], [0.9, 0.06, 0.04]])
    assert margin(p, np.array([0, 0])) == pytest.approx([0.0, math.log(9)], abs=1e-12)


def test_a_probability_of_one_minus_1e_9_does_not_saturate():
    z = np.array([[-math.log(1e-9 / (1 - 1e-9)), 0.0]])
    assert margin(z, np.array([0]))[0] == pytest.approx(20.723, abs=1e-3)


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=6), st.integers(0, 5))
def test_the_log_probability_is_log_softmax(z, y):
    logits, label = np.array([z]), np.array([y % len(z)])
    expected = z[label[0]] - np.logaddexp.reduce(z)
    assert log_probability(margin(logits, label))[0] == pytest.approx(expected, abs=1e-9)


def test_the_margin_does_not_depend_on_a_common_shift():
    z = np.random.default_rng(0).normal(size=(5, 4)) * 10
    y = np.array([0, 1, 2, 3, 0])
    assert margin(z, y) == pytest.approx(margin(z + 1000, y), abs=1e-9)


def test_one_logit_is_two():
    logits = np.array([[0.5, -2.0], [1.0, 3.0]])
    signals = Signals.from_logits(logits, [1, 0])
    assert signals.classes == 2
    assert signals.margins[:, :][..., 0] == pytest.approx(np.array([[0.5, 2.0], [1.0, -3.0]]))


def test_rows_read_blocks():
    rows = [np.arange(12.0).reshape(6, 2) + 100 * m for m in range(3)]
    stacked = Rows(rows)
    assert stacked.shape == (3, 6, 2)
    assert np.array_equal(stacked[:, 2:4], np.stack(rows)[:, 2:4])
    assert np.array_equal(stacked[[2, 0], 1:3], np.stack(rows)[[2, 0], 1:3])
    assert np.array_equal(stacked[1, :], rows[1])
    with pytest.raises(ShapeError, match="expected equal shapes"):
        Rows([np.zeros(3), np.zeros(4)])


def test_blocks_cover_every_record_once(monkeypatch):
    monkeypatch.setattr(matrix, "BLOCK_BYTES", 8 * 2 * 3)
    signals = Signals.from_margins(np.zeros((2, 10)), np.zeros(10, np.int64), classes=2)
    covered = [i for block in signals.blocks() for i in range(block.start, block.stop)]
    assert covered == list(range(10))
    assert max(b.stop - b.start for b in signals.blocks()) == 3


def test_probabilities_are_not_taken_for_logits():
    told = np.full((4, 12, 4), 0.25)
    with pytest.raises(InputError, match="these are probabilities, as after a softmax: give them as probabilities"):
        Signals.from_logits(told, np.arange(12) % 3)
    assert Signals.from_logits(np.log(told), np.arange(12) % 3).classes == 4
    assert Signals.from_logits(told[:, :9], np.arange(9) % 3).classes == 4  # a few rows may sum to one by accident


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (
            lambda: Signals.from_logits(np.full((2, 3, 4), np.nan), [0, 1, 2]),
            NonFiniteError,
            r"logits: model 0 has 12 NaN or infinite of 12, the first is nan of record 0, class 0 \(from 0\)",
        ),
        (
            lambda: Signals.from_margins([[0.0, np.inf]], [0, 1]),
            NonFiniteError,
            "margins: model 0 has 1 NaN or infinite of 2, the first is inf of record 1 ",
        ),
        (
            lambda: Signals.from_logits(np.zeros((2, 3, 4)), [0, 1, 4]),
            InputError,
            "labels: expected integers from 0 to 3, got 4",
        ),
        (
            lambda: Signals.from_logits(np.zeros((2, 3, 4)), [0, 1]),
            ShapeError,
            r"logits: expected shape \(M, 2\) or \(M, 2, C\) of models, 2 records and classes, got \(2, 3, 4\)",
        ),
        (lambda: margin(np.zeros((2, 1)), np.zeros(2, np.int64)), InputError, "at least 2 classes"),
    ],
)
def test_the_words_of_each_refusal(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize("form", [lambda y: y[:, None], lambda y: y.astype(float), lambda y: np.eye(3, dtype=int)[y]])
def test_labels_are_taken_in_the_forms_that_an_audit_takes(form):
    labels = np.arange(6) % 3
    logits = np.random.default_rng(0).normal(size=(2, 6, 3))
    plain = Signals.from_logits(logits, labels)
    found = Signals.from_logits(logits, form(labels))
    assert np.array_equal(found.labels, labels)
    assert np.array_equal(found.margins, plain.margins)
    assert np.array_equal(Signals.from_margins(plain.margins, form(labels)).labels, labels)


@pytest.mark.parametrize("labels", [["d3", "d1"], np.array(["d3", "d1"], dtype=object)])
def test_names_of_classes_are_refused_with_the_remedy(labels):
    with pytest.raises(
        InputError,
        match=r"^labels: expected whole numbers from 0, got texts among d1, d3: renumber them, for example with "
        r"numpy.unique\(labels, return_inverse=True\)\[1\], which numbers the classes in sorted order, as the answers' "
        r"columns must be$",
    ):
        Signals.from_logits(np.zeros((2, 2, 3)), labels)


def test_numbers_written_as_texts_are_no_names_to_be_sorted():
    """Sorted as texts, 10 comes before 2."""
    labels = np.arange(12).astype(str)
    for form in (labels, labels.astype(object), labels.astype(bytes)):
        with pytest.raises(
            InputError, match=r"^labels: .* texts among .*: give numpy.asarray\(labels\).astype\(int\)$"
        ):
            Signals.from_logits(np.zeros((2, 12, 12)), form)


@pytest.mark.parametrize("labels", [np.eye(3)[np.arange(6) % 3].T, np.arange(6)[None] % 3])
def test_labels_whose_records_are_columns_are_told_so(labels):
    with pytest.raises(InputError, match=r"^labels: .* shape \([13], 6\): are records the columns\? Give labels.T$"):
        Signals.from_logits(np.zeros((2, 6, 3)), labels)
    assert Signals.from_logits(np.zeros((2, 6, 3)), labels.T).labels.tolist() == [0, 1, 2, 0, 1, 2]


def test_labels_of_another_form_are_told_by_their_name():
    with pytest.raises(InputError, match=r"labels: expected one label a record, or rows with a single 1, got shape"):
        Signals.from_logits(np.zeros((2, 6, 3)), np.ones((6, 2), dtype=int))
