"""Data from a user's own module: what may be returned, and how failures are told."""

import sys

import numpy as np
import pytest

from reticent.data.load import load
from reticent.errors import DataError, InputError

MODULE = """
import numpy as np

X = np.array([[0.5, 1], [2, 3], [4, 5], [6, 7]])
Y = [0, 1, 1, 0]
PICTURES = np.arange(4 * 5 * 6 * 3, dtype=np.uint8).reshape(4, 5, 6, 3)


def pair():
    return X, Y


def mapping():
    return {"x": X, "y": Y, "name": "mine", "columns": {"group": np.arange(4)}}


def records():
    from reticent.data.records import Records
    return Records.make(X, Y, name="made")


def typo():
    return {"x": X, "y": Y, "clas_names": ["a", "b"]}


def lonely():
    return X


def nothing():
    return None


def fails():
    raise KeyError("no such column")


def wrong_labels():
    return X, [1, 2, 2, 1]


class Pictures:
    def __init__(self, convert, label=int):
        self.convert, self.label = convert, label

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return self.convert(PICTURES[i]), self.label(Y[i])


def pil():
    from PIL import Image
    return Pictures(Image.fromarray)


def arrays():
    return Pictures(np.asarray)


def tensors():
    import torch
    return Pictures(lambda p: torch.from_numpy(p.transpose(2, 0, 1).copy()).float() / 255, torch.tensor)


def normalised():
    return Pictures(lambda p: (p / 255 - 0.5) / 0.2)


def broken_item():
    return Pictures(lambda p: 1 / 0)


def sizes():
    return Pictures(lambda p: p[: p[0, 0, 0] % 4 + 1])


def torch_dataset():
    import torch
    return torch.utils.data.TensorDataset(torch.tensor(X), torch.tensor(Y))
"""


def line_of(text):
    return str(next(i for i, line in enumerate(MODULE.split("\n"), 1) if text in line))


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module in the working directory, under a name that no other test has imported."""
    name = f"mine_{abs(hash(tmp_path)):x}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize("function", ["pair", "mapping", "records", "torch_dataset"])
def test_tables(function, module):
    records = load(f"{module}:{function}")
    assert records.x.tolist() == [[0.5, 1], [2, 3], [4, 5], [6, 7]]
    assert records.y.tolist() == [0, 1, 1, 0]
    names = {"mapping": "mine", "records": "made"}
    assert records.name == names.get(function, f"{module}:{function}")
    if function == "mapping":
        assert records.columns["group"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("function", ["pil", "arrays", "tensors"])
def test_pictures_of_a_data_set(function, module):
    records = load(f"{module}:{function}")
    expected = np.arange(4 * 5 * 6 * 3, dtype=np.uint8).reshape(4, 5, 6, 3).transpose(0, 3, 1, 2)
    assert np.array_equal(records.x, expected)
    assert records.x.dtype == np.uint8
    assert records.y.tolist() == [0, 1, 1, 0]


def test_a_file_by_its_path(module, tmp_path, monkeypatch):
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    assert len(load(f"../{module}.py:pair")) == 4
    assert len(load(f"{tmp_path}/{module}.py:pair")) == 4


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (
            "fails",
            DataError,
            ["failed: KeyError: 'no such column'", "{module}.py, line " + line_of("raise KeyError")],
        ),
        ("broken_item", DataError, ["failed: ZeroDivisionError", "{module}.py, line " + line_of("1 / 0")]),
        ("pairs", InputError, ["has no 'pairs': did you mean 'pair'"]),
        ("typo", InputError, ["unknown key 'clas_names': did you mean 'class_names'"]),
        ("lonely", InputError, ["got one array of shape (4, 2): expected a pair (x, y)"]),
        ("nothing", InputError, ["got NoneType: expected a pair of arrays"]),
        ("wrong_labels", InputError, ["{module}:wrong_labels: y: 1 of 3 classes have no record"]),
        ("normalised", InputError, ["Take Normalize and random augmentation out of the transform"]),
        ("sizes", InputError, ["item 1 has shape (3, 6, 3), item 0 (1, 6, 3): expected one size"]),
    ],
)
def test_failures_are_told(function, error, words, module):
    with pytest.raises(error) as caught:
        load(f"{module}:{function}")
    for word in words:
        assert word.format(module=module) in str(caught.value)


@pytest.mark.parametrize("text", ["no_such_module_here:f", "gone.py:f"])
def test_a_module_that_is_not_there(text, module, tmp_path):
    with pytest.raises(InputError, match="no module named") as caught:
        load(text)
    assert str(tmp_path) in str(caught.value)


def test_a_module_with_a_syntax_error(module, tmp_path):
    (tmp_path / "unfinished_module.py").write_text("def f():\n    return (\n")
    with pytest.raises(InputError, match=r"SyntaxError: .*unfinished_module\.py, line 2"):
        load("unfinished_module:f")
