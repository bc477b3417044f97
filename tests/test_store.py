import errno
import json
import os
import shutil
import socket
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from reticent.errors import CorruptRunError, StoreError, StoreLockedError
from reticent.jobs.config import gather, prepare
from reticent.population.in_store import using
from reticent.store import Store, folder
from reticent.store.locks import process


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store").open()


def write(store, run_id="r1", value=1.0):
    with store.claim(run_id) as draft:
        draft.write_arrays("a.safetensors", {"x": np.full(3, value, np.float32)})
        draft.write_json("spec.json", {"v": value})
        draft.facts = {"seconds": 1.5}


def test_a_run_exists_once_it_is_finished(store):
    assert store.find("r1") is None
    write(store)
    run = store.find("r1")
    assert run.id == "r1"
    assert run.facts == {"seconds": 1.5}
    assert run.arrays("a.safetensors")["x"].tolist() == [1.0, 1.0, 1.0]
    assert run.problems() == ()


def fail(store):
    with store.claim("r1") as draft:
        draft.write_bytes("a", b"1")
        raise ZeroDivisionError


def test_a_run_that_fails_leaves_nothing(store):
    with pytest.raises(ZeroDivisionError):
        fail(store)
    assert store.find("r1") is None
    assert list((store.root / "runs").iterdir()) == []
    write(store)
    assert store.find("r1") is not None


def test_a_folder_without_done_json_does_not_exist_and_is_replaced(store):
    folder = store.root / "runs" / "r1"
    folder.mkdir()
    (folder / "weights.safetensors").write_bytes(b"half")
    assert store.find("r1") is None
    write(store)
    assert sorted(p.name for p in folder.iterdir()) == ["a.safetensors", "done.json", "spec.json"]


def test_the_first_writer_of_a_run_wins(store):
    write(store, value=1.0)
    write(store, value=2.0)
    assert store.find("r1").arrays("a.safetensors")["x"][0] == 1.0


def test_makers_that_do_not_see_each_others_claims_leave_each_others_drafts(store, monkeypatch):
    monkeypatch.setattr(Store, "_held", lambda *_: nullcontext())
    with store.claim("r1") as draft:
        draft.write_json("spec.json", {"v": 1})
        monkeypatch.setattr(socket, "gethostname", lambda: "another-machine")
        write(store, value=2.0)
        draft.write_json("more.json", {"v": 1})
    assert not draft.won
    assert store.find("r1").arrays("a.safetensors")["x"][0] == 2.0
    assert [p.name for p in (store.root / "runs").iterdir()] == ["r1"]


def test_drafts_of_this_machine_and_old_ones_are_removed_by_the_next_maker(store):
    partial = store.root / "runs" / "r1.partial"
    for name in (f"1.{socket.gethostname()}", "2.another-machine", "3.another-machine"):
        (partial / name).mkdir(parents=True)
    os.utime(partial / "3.another-machine", (1e9, 1e9))
    write(store)
    assert [p.name for p in partial.iterdir()] == ["2.another-machine"]
    assert store.find("r1") is not None


def test_a_whole_run_that_takes_a_corrupt_ones_place_meanwhile_is_not_removed(store, tmp_path, monkeypatch):
    other = Store(tmp_path / "other").open()
    write(other, value=2.0)
    write(store)
    here = store.root / "runs" / "r1"
    (here / "a.safetensors").write_bytes(b"half")
    examine = folder.examine

    def then_replaced(place):
        found = examine(place)
        monkeypatch.setattr(folder, "examine", examine)
        shutil.rmtree(here)
        shutil.copytree(other.root / "runs" / "r1", here)
        return found

    with store.claim("r1") as draft:
        draft.write_json("spec.json", {"v": 1})
        monkeypatch.setattr(folder, "examine", then_replaced)
    assert not draft.won
    assert store.find("r1").arrays("a.safetensors")["x"][0] == 2.0
    assert [p.name for p in (store.root / "runs").iterdir()] == ["r1"]


@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_changed_bytes_are_named_and_never_used(store, damage):
    write(store)
    found = store.find("r1")
    path = store.root / "runs" / "r1" / "a.safetensors"
    content = path.read_bytes()
    if damage == "remove":
        path.unlink()
    else:
        path.write_bytes(
            content[:-1] + (b"\x00" if damage == "flip" and content[-1:] != b"\x00" else b"\x01") * (damage == "flip")
        )
    what = "missing" if damage == "remove" else "not what was written"
    told = rf"run r1: a\.safetensors is {what}: it will not be used; run the same command again, which makes it anew"
    with pytest.raises(CorruptRunError, match=told):
        found.arrays("a.safetensors")
    with pytest.raises(CorruptRunError, match=told):
        store.whole("r1")
    assert store.find("r1") is None
    write(store, value=2.0)
    assert store.find("r1").arrays("a.safetensors")["x"][0] == 2.0


@pytest.mark.parametrize("content", ["", "{", "[]", '{"files": {}}', '{"files": 3, "facts": {}}'])
def test_a_broken_done_json_is_named(store, content):
    write(store)
    (store.root / "runs" / "r1" / "done.json").write_text(content)
    with pytest.raises(
        CorruptRunError, match=r"run r1: done\.json cannot be read: .*: it will not be used; run the same"
    ):
        store.whole("r1")
    assert store.find("r1") is None


def test_a_run_that_is_gone_is_told(store):
    with pytest.raises(CorruptRunError, match="run r1 is gone: run the same command again"):
        store.whole("r1")


HOST = socket.gethostname()
HOLDER = """
import sys
from pathlib import Path
from reticent.store import Store
with Store(Path(sys.argv[1])).claim("r1"):
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_a_live_process_is_respected_and_a_dead_one_is_not(store):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(store.root)], **pipes) as holder:
        assert holder.stdout.readline() == b"ready\n"
        with (
            pytest.raises(
                StoreLockedError, match=f"run r1 .* is being made by process {holder.pid} on {HOST}, which is alive"
            ),
            store.claim("r1", patience=0.1),
        ):
            pass
        holder.kill()
    write(store)
    assert store.find("r1") is not None


def test_a_store_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "f").write_text("x")
    with pytest.raises(StoreError, match="cannot be written"):
        Store(tmp_path / "f").open()


@pytest.fixture
def sealed(store, monkeypatch):
    """A store of one run on a disk that may only be read; chmod would not hold root back."""
    write(store)
    for path in (store.root / "locks").iterdir():
        path.unlink()
    ours = str(store.root.resolve())

    def refuse(name):
        kept = getattr(os, name)

        def refusing(path, *args, **options):
            if str(path).startswith(ours):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
            return kept(path, *args, **options)

        return refusing

    for name in ("mkdir", "unlink"):
        monkeypatch.setattr(os, name, refuse(name))
    opened, written = os.open, Path.write_bytes

    def opening(path, flags, *args, **options):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and str(path).startswith(ours):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return opened(path, flags, *args, **options)

    def write_bytes(path, content):
        opening(path, os.O_WRONLY)
        return written(path, content)

    monkeypatch.setattr(os, "open", opening)
    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    return store


def test_a_store_that_may_only_be_read_gives_its_runs_and_makes_none(sealed):
    opened = Store(sealed.root).open()
    assert opened.read_only
    with opened.using(["r1", "r2"]) as used:
        assert used.find("r1") is not None
        assert used.find("r2") is None
    with pytest.raises(StoreError, match=r"cannot be written \(Read-only file system\): give a folder that can be"):
        write(opened, "r2")


def test_a_population_that_is_not_whole_is_refused_at_once_where_nothing_can_be_added(sealed):
    job = prepare(gather(None, {"records": 100, "models": 4, "epochs": 1, "store": sealed.root}))
    with (
        pytest.raises(StoreError, match=r"may only be read, and 0 of the 4 models are there: give another --store"),
        using(sealed.root, job.population),
    ):
        pass


def test_a_folder_without_runs_that_may_only_be_read_is_refused(sealed):
    with pytest.raises(StoreError, match="cannot be written"):
        Store(sealed.root / "runs" / "r1").open()


@pytest.mark.parametrize("name", ["r1", "r1.partial"])
def test_a_file_where_a_run_should_be_is_named(store, name):
    (store.root / "runs" / name).write_text("x")
    with pytest.raises(StoreError, match=rf"runs/{name} is a file, expected the folder of a run: move it away"):
        write(store)


def test_done_json_holds_the_hash_of_every_file(store):
    write(store)
    done = json.loads((store.root / "runs" / "r1" / "done.json").read_text())
    assert sorted(done["files"]) == ["a.safetensors", "spec.json"]
    assert all(len(digest) == 64 for digest in done["files"].values())


def test_a_run_is_removed_and_can_be_made_again(store):
    write(store, value=1.0)
    (store.root / "runs" / "r1.partial").mkdir()
    store.remove("r1")
    assert store.find("r1") is None
    assert [p.name for p in (store.root / "runs").iterdir()] == ["r1.partial"]
    store.remove("r1.partial")
    store.remove("r1")  # nothing is there: nothing to do
    assert list((store.root / "runs").iterdir()) == []
    assert [p.name for p in (store.root / "locks").iterdir()] == ["r1.lock"]
    write(store, value=2.0)
    assert store.find("r1").arrays("a.safetensors")["x"][0] == 2.0


def test_a_removal_that_was_interrupted_is_finished_by_the_next(store, monkeypatch):
    write(store)
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        store.remove("r1")
    monkeypatch.undo()
    assert store.find("r1") is None
    assert [p.name for p in (store.root / "runs").iterdir()] == ["r1.removing"]
    write(store)
    store.remove("r1")
    assert list((store.root / "runs").iterdir()) == []
    (store.root / "runs" / "r1.removing").mkdir()
    store.remove("r1.removing")
    assert list((store.root / "runs").iterdir()) == []


@pytest.mark.parametrize("name", ["../locks", "..", ".", "", "x/../../outside"])
def test_nothing_outside_of_runs_is_removed(store, name):
    (store.root.parent / "outside").mkdir()
    with pytest.raises(StoreError):
        store.remove(name)
    assert (store.root.parent / "outside").is_dir()
    assert (store.root / "locks").is_dir()


def test_a_link_is_neither_followed_nor_removed(store):
    outside = store.root.parent / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    (store.root / "runs" / "r1").symlink_to(outside)
    with pytest.raises(StoreError, match="is no run: it is left alone"):
        store.remove("r1")
    write(store, "r2")
    (store.root / "runs" / "r2" / "link").symlink_to(outside)
    store.remove("r2")
    assert (outside / "precious").read_text() == "x"
    assert (store.root / "runs" / "r1").is_symlink()


def test_what_a_live_process_holds_is_not_removed(store):
    write(store)
    with store.claim("r1"):
        assert store.holder("r1") == process()
        with pytest.raises(StoreLockedError, match="which is alive"):
            store.remove("r1")
    assert store.find("r1") is not None
    assert store.holder("r1") is None
    (store.root / "locks" / "r1.owner").write_text("process 1")  # of a process that was killed
    assert store.holder("r1") is None


def test_a_run_that_was_finished_meanwhile_is_kept(tmp_path):
    store = Store(tmp_path).open()
    with store.claim("abc") as draft:
        draft.write_json("spec.json", {})
    with pytest.raises(StoreLockedError, match="was finished meanwhile: it is kept"):
        store.remove("abc", unfinished=True)
    assert store.find("abc") is not None
    store.remove("abc")
    assert store.find("abc") is None
