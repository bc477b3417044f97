"""Files of states: read whatever their name and age, or refused in one sentence with what to do; no code is run."""

import errno
import os
import pickle
import zipfile

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from reticent.errors import CorruptFileError, MissingFileError
from reticent.jobs.locate.states import read
from reticent.models.state_dicts import fitted

STATE = {"weight": torch.arange(6.0).reshape(3, 2), "bias": torch.tensor([1.0, 2.0, 3.0])}


def network():
    with torch.random.fork_rng(devices=[]):
        return nn.Linear(2, 3)


class Evil:
    def __reduce__(self):
        return (print, ("run",))


class Mine(nn.Linear):
    """A module whose class only this file knows."""


def own():
    with torch.random.fork_rng(devices=[]):
        return Mine(2, 3)


def write(path, value=STATE, **options):
    torch.save(value, path, **options)
    return path


@pytest.mark.parametrize(
    "name", ["w.pt", "w.pth", "w.bin", "w.ckpt", "w.tar", "w.pth.tar", "W.PT", "W.CKPT", "weights", "w.safetensors"]
)
@pytest.mark.parametrize("form", ["new", "before PyTorch 1.6", "safetensors"])
def test_the_content_says_how_a_file_is_read_and_not_its_name(tmp_path, name, form):
    path = tmp_path / name
    if form == "safetensors":
        save_file(STATE, path)
    else:
        write(path, {"epoch": 3, "state_dict": STATE}, _use_new_zipfile_serialization=form == "new")
    found = fitted(read(path), network(), "it")
    assert all(torch.equal(found[key], value) for key, value in STATE.items())


def test_sparse_half_and_meta_tensors_in_files(tmp_path):
    half = read(write(tmp_path / "h.pt", {key: value.bfloat16() for key, value in STATE.items()}))
    assert half["weight"].dtype == torch.bfloat16
    sparse = read(write(tmp_path / "s.pt", {**STATE, "weight": STATE["weight"].to_sparse()}))
    assert torch.equal(fitted(sparse, network(), "it")["weight"], STATE["weight"])
    assert read(write(tmp_path / "m.pt", {"weight": torch.empty(3, device="meta")}))["weight"].is_meta


ALONE = r": write the tensors alone, by torch\.save\(model\.state_dict\(\), FILE\) or as safetensors"
CUT = "cut off or damaged: copy or download it again"


def cut(path, part=0.5):
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * part)])
    return path


def text(path, content):
    path.write_bytes(content)
    return path


def npz(path):
    with path.open("wb") as stream:
        np.savez(stream, x=np.ones(2))
    return path


def other_zip(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/readme.txt", "x")
    return path


def scripted(path):
    with pytest.warns(DeprecationWarning, match="jit"):
        torch.jit.save(torch.jit.script(network()), str(path))
    return path


def legacy(path):
    return write(path, _use_new_zipfile_serialization=False)


def pickled(path, value):
    path.write_bytes(pickle.dumps(value))
    return path


def safe(path):
    save_file(STATE, path)
    return path


HTML = b"\n<!DOCTYPE html><html><body>404</body></html>"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"
REFUSED = {
    "code": (lambda path: write(path, {**STATE, "evil": Evil()}), "holds Python objects .*print.*never loaded" + ALONE),
    "a module": (
        lambda path: write(path, network()),
        r"holds Python objects \(torch\.nn.*Linear\), which are never loaded" + ALONE,
    ),
    "an own module": (
        lambda path: write(path, own()),
        r"holds Python objects \(.*\.Mine\), which are never loaded" + ALONE,
    ),
    "NumPy numbers": (
        lambda path: write(path, {"state_dict": STATE, "best": np.float64(0.9)}),
        "holds NumPy values .*scalar",
    ),
    "NumPy arrays": (lambda path: write(path, {"weight": np.ones(3)}), "holds NumPy values .*_reconstruct.*" + ALONE),
    "a plain pickle": (lambda path: pickled(path, {"a": Evil()}), "holds "),
    "a tensor": (lambda path: write(path, torch.ones(2)), "expected a state dictionary, .*got Tensor" + ALONE),
    "a list": (lambda path: write(path, [torch.ones(2)]), "expected a state dictionary, names to tensors, got list"),
    "TorchScript": (scripted, "is a TorchScript file, which holds code" + ALONE),
    "npz": (npz, r"is a zip file that torch\.save did not write" + ALONE),
    "another zip": (other_zip, r"is a zip file that torch\.save did not write" + ALONE),
    "cut": (lambda path: cut(write(path)), CUT),
    "cut at the end": (lambda path: cut(write(path), 0.99), CUT),
    "legacy cut": (lambda path: cut(legacy(path)), CUT),
    "legacy cut at the end": (lambda path: cut(legacy(path), 0.99), CUT),
    "safetensors cut": (lambda path: cut(safe(path), 0.9), r"not a safetensors file \(.*\): it is " + CUT),
    "empty": (lambda path: text(path, b""), r"is empty \(0 bytes\): copy or download it again"),
    "a web page": (lambda path: text(path, HTML), r"is a web page \(HTML\), most often an error of the download"),
    "git-LFS": (lambda path: text(path, LFS), "is a git-LFS pointer, .*: run `git lfs pull` where it lies"),
    "text": (lambda path: text(path, b"0.1 0.2"), "is neither a file of torch.save nor of safetensors" + ALONE),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_with_the_remedy_and_runs_no_code(case, tmp_path, capsys):
    make, words = REFUSED[case]
    path = make(tmp_path / "w.pt")
    capsys.readouterr()
    with pytest.raises(CorruptFileError, match=rf"w\.pt:? .*{words}") as caught:
        read(path)
    assert "\n" not in str(caught.value)
    assert "weights_only" not in str(caught.value)
    assert capsys.readouterr().out == ""


def test_places_without_a_file(tmp_path, monkeypatch):
    with pytest.raises(CorruptFileError, match="expected the file of a network's weights, got a folder"):
        read(tmp_path)
    with pytest.raises(MissingFileError, match=r"no file '.*none\.pt': expected the file of a network's weights"):
        read(tmp_path / "none.pt")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert torch.equal(read(write(tmp_path / "w.pt") and "~/w.pt")["bias"], STATE["bias"])


def test_what_the_disk_does_not_give_is_told_in_its_words(tmp_path, monkeypatch):
    path = write(tmp_path / "w.pt")

    def broken(*_, **__):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("torch.load", broken)
    with pytest.raises(CorruptFileError, match=r"w\.pt: cannot be read: Input/output error"):
        read(path)
