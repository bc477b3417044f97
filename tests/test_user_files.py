"""Files that are no data are refused by what they are, wherever they are read."""

import os

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from reticent.data.load import load
from reticent.errors import CorruptFileError, InputError
from reticent.jobs.locate.records import read_rows
from reticent.jobs.locate.source import member_ids
from reticent.jobs.locate.states import read
from reticent.jobs.read_audit import read_document
from reticent.jobs.signals_file import read_signals
from reticent.spec import read_toml

READERS = {
    "o.npz": read_signals,
    "d.csv": load,
    "d.npz": load,
    "d.parquet": load,
    "x.npy": load,
    "a.toml": read_toml,
    "w.pt": read,
    "w.safetensors": read,
    "m.npy": lambda path: member_ids(path, 9),
    "m.txt": lambda path: member_ids(path, 9),
    "audit.json": read_document,
    "records.csv": read_rows,
}
DAMAGED = {
    "cut": "a zip archive that is cut off or damaged .*: copy or download it again, or write it anew by numpy.savez",
    "text": r"what is none, and begins with b'label,score.*': write it anew by numpy.savez",
    "pickle": "a pickle, which may run code when it is loaded; nothing was unpickled: write it anew by numpy.savez",
    "objects": r"'(x|labels)', an array of Python .*; nothing was unpickled, .*=numpy\.array\((x|labels)\.tolist",
}


@pytest.mark.parametrize(("name", "reader"), READERS.items())
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name, reader):
    np.save(tmp_path / "y.npy", np.arange(3))
    os.mkfifo(tmp_path / name)
    with pytest.raises(CorruptFileError, match="got a named pipe: write what comes out of it into a file"):
        reader(tmp_path / name)


def test_a_pipe_among_pictures_is_refused(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        os.mkfifo(tmp_path / name / "1.png")
    with pytest.raises(CorruptFileError, match=r"1\.png: expected a picture, got a named pipe"):
        load(tmp_path)


@pytest.mark.parametrize(("name", "reader"), [one for one in READERS.items() if one[0] != "audit.json"])
def test_a_folder_where_a_file_is_expected_is_told_as_one(tmp_path, name, reader):
    (tmp_path / name).mkdir()
    with pytest.raises((CorruptFileError, InputError, FileNotFoundError), match=r"got a folder|is a folder"):
        reader(tmp_path / name)


def _written(path, kind):
    if kind == "npz":
        np.savez(path, x=np.arange(3))
    elif kind == "npy":
        with path.open("wb") as stream:
            np.save(stream, np.arange(3))
    elif kind == "safetensors":
        save_file({"w": torch.zeros(2)}, path)
    else:
        with path.open("wb") as stream:
            np.arange(3).dump(stream)


@pytest.mark.parametrize(
    ("kind", "got"),
    [
        ("npz", r"a zip archive, as \.npz, \.pt and \.xlsx files are"),
        ("npy", r"an \.npy file"),
        ("safetensors", r"a \.safetensors file"),
        ("pickle", "a pickle"),
    ],
)
@pytest.mark.parametrize(
    ("name", "expected", "remedy"),
    [
        ("audit.json", "the audit.json of `reticent audit`", "give it, or the folder .* attack --signals FILE$"),
        ("a.toml", "a TOML file, which is a text", "give a text file with lines such as epochs = 20$"),
        ("d.csv", "a table as text", "save it as CSV, or give it the ending of what it is$"),
        ("m.txt", "the row numbers of the members, as .npy or as text", "write it as text$"),
    ],
)
def test_what_is_no_text_is_told_as_what_it_is(tmp_path, kind, got, name, expected, remedy):
    path = tmp_path / "made"
    _written(path, kind)
    path = path.with_suffix(".npz") if kind == "npz" else path
    path.rename(tmp_path / name)
    with pytest.raises(CorruptFileError, match=rf"{name}: expected {expected}.*, got {got}: {remedy}"):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("reader", [load, read_signals])
@pytest.mark.parametrize(("damage", "told"), DAMAGED.items())
def test_arrays_that_cannot_be_read(tmp_path, reader, damage, told):
    path = tmp_path / "f.npz"
    values = np.arange(40.0).reshape(20, 2)
    labels = np.arange(20) % 2
    np.savez(path, x=values, y=labels, labels=labels, membership=values[None, :, 0] > 9)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-9])
    elif damage == "objects":
        np.savez(path, labels=labels.astype(object), x=values.astype(object), y=labels)
    elif damage == "pickle":
        values.dump(path)
    else:
        path.write_text("label,score\n1,2\n")
    with pytest.raises(CorruptFileError, match=f"expected an .npz file of plain arrays.*, got {told}"):
        reader(path)
