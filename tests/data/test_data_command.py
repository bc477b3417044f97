"""`reticent data`: what it prints, and that importing it is cheap."""

import subprocess
import sys

import numpy as np
import pytest

from reticent.cli.data import app
from reticent.data.datasets import DATASETS
from reticent.errors import MissingFileError, ReticentError, UnknownNameError

pytestmark = pytest.mark.usefixtures("no_other_folders")


def run(capsys, *arguments):
    app(list(arguments), result_action="return_value")
    return capsys.readouterr().out


def test_list_names_every_data_set(capsys, shared):
    out = run(capsys, "list", "--data-dir", str(shared))
    here = {line.split()[0]: "yes" in line.split() for line in out.splitlines() if line.split()[:1] and line[0] != " "}
    assert [name for name in DATASETS if name in here] == list(DATASETS)
    assert [name for name, yes in here.items() if yes] == ["digits", "location30"]


def test_show_gives_address_and_checksum(capsys):
    out = run(capsys, "show", "cifar10")
    assert "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz" in out
    assert "sha1 fab780a1e191a7eda0f345501ccd62d20f7ed891" in out
    assert "cifar-10-batches-bin/test_batch.bin" in out
    assert "60,000" in out
    assert "Krizhevsky" in out


@pytest.mark.parametrize("name", DATASETS)
def test_show_works_for_every_data_set(name, capsys):
    assert DATASETS[name].title in run(capsys, "show", name)


def test_check_counts(capsys, shared):
    out = " ".join(run(capsys, "check", "location30", "--data-dir", str(shared)).split())
    for words in (
        "records: 5,010",
        "classes: 30, of 97 to 308 records",
        "shape: 446 float32",
        "exact duplicates: 0",
        "right (1 of 1",
    ):
        assert words in out


def test_check_takes_a_file(capsys, tmp_path):
    np.savez(tmp_path / "d.npz", x=[[0.0], [1], [1]], y=[0, 1, 1])
    out = " ".join(run(capsys, "check", str(tmp_path / "d.npz")).split())
    assert "records: 3" in out
    assert "exact duplicates: 1" in out
    assert "checksums" not in out


def test_fetch_of_what_is_there(capsys):
    assert "digits comes with scikit-learn" in run(capsys, "fetch", "digits")


@pytest.mark.parametrize("verb", ["show", "fetch"])
def test_unknown_names_are_reticent_errors(verb, capsys):
    with pytest.raises(UnknownNameError, match="did you mean 'cifar10'"):
        run(capsys, verb, "cifar-10")


def test_missing_files_are_reticent_errors(capsys, tmp_path):
    with pytest.raises(ReticentError, match="reticent data fetch mnist"):
        run(capsys, "check", "mnist", "--data-dir", str(tmp_path))


def test_a_folder_of_the_name_of_a_missing_data_set_is_pointed_at(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for there in (False, True):
        with pytest.raises(MissingFileError) as caught:
            run(capsys, "check", "mnist", "--data-dir", "data")
        words = "\n  there is a folder ./mnist here: give ./mnist to read it"
        assert str(caught.value).endswith(words) == there
        (tmp_path / "mnist").mkdir(exist_ok=True)


@pytest.mark.parametrize(
    ("module", "heavy"),
    [("reticent.cli.data", "numpy torch rich sklearn"), ("reticent.data.load", "torch sklearn PIL pyarrow scipy")],
)
def test_imports_stay_light(module, heavy):
    code = f"import sys, {module}; sys.exit(' '.join(m for m in {heavy.split()!r} if m in sys.modules) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.parametrize("words", [["list"], ["show", "cifar10"], ["check", "digits"]])
def test_a_data_folder_that_is_not_there_is_refused_whatever_the_data_set(words, capsys):
    with pytest.raises(MissingFileError, match="data_dir: no folder 'nowhere'"):
        run(capsys, *words, "--data-dir", "nowhere")
