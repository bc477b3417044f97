"""What a user's code reads is noted, and refused where it has changed since."""

import subprocess
import sys
import threading
import time
from importlib import import_module
from pathlib import Path

import pytest

from reticent import user_reads
from reticent.errors import OutdatedRunError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(user_reads, "_READ", {})
    return tmp_path


def read(action, code="m:f"):
    with user_reads.noted(code):
        action()
    return user_reads.read(code, ())


@pytest.mark.parametrize(
    "change", [lambda file: file.write_text("16"), lambda file: file.unlink(), lambda file: file.write_text("")]
)
def test_a_file_that_changed_is_refused_by_its_name(folder, change):
    (folder / "cfg.json").write_text("8")
    found = read(Path("cfg.json").read_text)
    user_reads.check(found, "m:f")
    change(folder / "cfg.json")
    words = "m:f read cfg.json when it made this model, which has changed since.*: set it back .*--retrain NAME"
    with pytest.raises(OutdatedRunError, match=words):
        user_reads.check(found, "m:f")


def test_a_file_that_was_missing_counts_too(folder):
    def looked():
        with pytest.raises(FileNotFoundError):
            Path("cfg.json").read_text()

    found = read(looked)
    user_reads.check(found, "m:f")
    (folder / "cfg.json").write_text("8")
    with pytest.raises(OutdatedRunError, match=r"cfg\.json"):
        user_reads.check(found, "m:f")


def test_only_what_the_code_reads_of_the_users_counts(folder):
    packages, cache = folder / "site-packages", folder / ".cache"
    for file in (packages / "p.json", cache / "c.json", folder / "before.json", folder / "beside.json"):
        file.parent.mkdir(exist_ok=True)
        file.write_text("1")

    def action():
        for file in (packages / "p.json", cache / "c.json", "/proc/self/stat", threading.__file__, user_reads.__file__):
            Path(file).read_bytes()
        Path("log.txt").write_text("1")
        Path("log.txt").read_text()
        beside = threading.Thread(target=Path("beside.json").read_text)
        beside.start()
        beside.join()

    Path("before.json").read_text()
    assert read(action) == {}
    Path("before.json").read_text()
    assert user_reads.read("m:f", ()) == {}


def test_a_checkpoint_that_the_code_wrote_in_c_is_its_own(folder):
    def action():
        time.sleep(0.02)  # A file system tells times in steps of some milliseconds.
        subprocess.run(["cp", "/proc/version", "best.pt"], check=True)
        Path("best.pt").read_bytes()

    assert read(action) == {}


def test_each_code_has_its_own_files(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    for file in (folder / "a.json", other / "far.json"):
        file.write_text("1")
    assert set(read(Path("a.json").read_text, "m:a")) == {"a.json"}
    assert set(read((other / "far.json").read_text, "m:b")) == {str(other / "far.json")}


def test_a_module_that_is_imported_by_a_text_is_a_file_that_was_read(folder):
    (folder / "zz_lazy.py").write_text("1")
    sys.path.insert(0, str(folder))
    for _ in range(2):  # The second time from its bytecode.
        assert set(read(lambda: import_module("zz_lazy"))) == {"zz_lazy.py"}
        del sys.modules["zz_lazy"]
    assert user_reads.read("m:g", [folder / "zz_lazy.py"]) == user_reads.read("m:f", ())


def test_a_project_may_be_moved(folder, tmp_path_factory, monkeypatch):
    (folder / "cfg.json").write_text("8")
    found = read(Path("cfg.json").read_text)
    moved = tmp_path_factory.mktemp("moved")
    (folder / "cfg.json").rename(moved / "cfg.json")
    monkeypatch.chdir(moved)
    user_reads.check(found, "m:f")
