"""Labels that count from nowhere near 0, labels that are missing, and records without features: one sentence."""

import tracemalloc

import numpy as np
import pytest

import reticent
from reticent import checks
from reticent.data import conversion
from reticent.data.load import load, of_python
from reticent.data.records import Records
from reticent.errors import InputError, ShapeError
from reticent.jobs.attack import attack

X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
Y = np.arange(200) % 3
ONE_SLIP = np.where(np.arange(200) == 5, 3 * 10**8, Y)
FAR = [Y + 10**15, Y + 2**62, ONE_SLIP, Y.astype(np.uint64) + np.uint64(2**63), Y + 1e20]


class Items:
    """A data set of pairs."""

    def __init__(self, labels):
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return X[i], self.labels[i]


@pytest.fixture
def little_memory():
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


def roads(folder, labels):
    """Bring the same data in every way in which labels are not numbered by reticent."""
    np.savez(folder / "a.npz", x=X, y=labels)
    np.save(folder / "x.npy", X)
    np.save(folder / "y.npy", labels)
    yield lambda: load(str(folder / "a.npz"))
    yield lambda: load(str(folder / "x.npy"))
    yield lambda: of_python("dataset", (X, labels))
    yield lambda: of_python("mine:data", {"x": X, "y": labels.tolist()})
    yield lambda: of_python("mine:data", Items(labels))


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("labels", FAR, ids=["1e15", "2**62", "one slip", "2**63", "1e20"])
def test_labels_far_from_0_are_refused_at_once_in_little_memory(tmp_path, labels):
    for road in roads(tmp_path, labels):
        with pytest.raises(InputError, match=r"renumber them, for example with numpy\.unique\(y, return_inverse=True"):
            road()
    with pytest.raises(InputError, match=r"labels: .*renumber them, for example with numpy\.unique\(labels, "):
        attack(labels=labels, membership=np.eye(2, 200, dtype=bool), margins=np.zeros((2, 200)))


@pytest.mark.usefixtures("little_memory")
def test_gaps_are_counted_and_the_first_named_without_an_array_of_all_classes():
    with pytest.raises(InputError, match=r"97 of 1[0]{14} classes .*\(class 1, 2, 3, 5, 6, \.\.\.\)"):
        Records.make(np.eye(3), [0, 4, 10**14 - 1])
    with pytest.raises(InputError, match=r"2 of 5 classes have no record \(class 1, 4\): expected labels 0 to 4"):
        Records.make(np.eye(3), [0, 2, 3], classes=5)
    with pytest.raises(InputError, match=r"got 18446744073709551616 for record 1; renumber"):
        of_python("dataset", (np.eye(3), [0, 2**64, 1]))


def test_outputs_may_be_of_few_of_many_classes():
    margins = np.random.default_rng(0).normal(size=(8, 200))
    membership = reticent.Membership.draw(8, 200, 0)
    told = {"membership": membership, "margins": margins, "attacks": "loss", "replicates": 100}
    assert attack(labels=Y * 400_000, **told).document["data"]["classes"] == 800_001
    assert attack(labels=Y + 10**15, classes=10**16, **told).document["data"]["classes"] == 10**16


def test_numbers_beyond_64_bits_are_not_called_negative():
    with pytest.raises(InputError, match=r"rows: expected integers below 2\*\*63, got 9223372036854775809 at "):
        checks.integers(rows=np.array([1, 2**63 + 1], dtype=np.uint64), ndim=1, low=0)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (X, None, "dataset: y: the labels are missing: expected an array with one entry a record, got None"),
        (None, Y, "dataset: x: the features are missing"),
        (
            X,
            np.zeros((2, 2, 2), int),
            "y: expected one label a record, or rows with a single 1, got shape (2, 2, 2) of other numbers",
        ),
        (X[:, :0], Y, "x: expected at least one feature a record, got none: shape (200, 0)"),
        (X[:, :0].astype(int), Y, "x: expected at least one feature a record, got none"),
        (np.zeros((200, 0, 4), np.uint8), Y, "x: expected at least one feature a record, got none: shape (200, 0, 4)"),
    ],
)
def test_what_is_missing_is_named(x, y, words):
    with pytest.raises(ShapeError) as caught:
        reticent.audit(dataset=(x, y))
    assert words in str(caught.value)


def test_measurements_are_not_taken_for_tokens():
    times = 1_700_000_000 + np.arange(200)[:, None]
    with pytest.raises(InputError, match=r"are tokens of texts, expected below 10,000,000, .* give features as floats"):
        Records.make(times, Y)
    assert Records.make(times, Y, vocabulary=2**31).vocabulary == 2**31


class Column:
    """A column of a data frame, as far as it is asked."""

    def __init__(self, values):
        self._values = values

    def to_numpy(self):
        return self._values

    def __array__(self, dtype=None, copy=None):
        return self._values


def test_a_column_of_a_data_frame_may_hold_any_whole_numbers():
    x = np.random.default_rng(0).normal(size=(6, 2)).astype(np.float32)
    made = conversion.records(x, Column(np.array([2**63 + 1, 2**63 + 5] * 3, np.uint64)), name="frame")
    assert made.class_names == (str(2**63 + 1), str(2**63 + 5))
