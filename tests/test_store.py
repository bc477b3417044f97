import json
import multiprocessing
import os
import signal

import numpy as np
import pytest

from reticent.errors import CorruptRunError, StoreError, StoreLockedError
from reticent.store import Store


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
    run.verify()


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


@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_changed_bytes_are_named_and_never_used(store, damage):
    write(store)
    path = store.root / "runs" / "r1" / "a.safetensors"
    content = path.read_bytes()
    if damage == "remove":
        path.unlink()
    else:
        path.write_bytes(
            content[:-1] + (b"\x00" if damage == "flip" and content[-1:] != b"\x00" else b"\x01") * (damage == "flip")
        )
    with pytest.raises(
        CorruptRunError, match=r"run r1: a\.safetensors is missing or not what was written.*remove the folder"
    ):
        store.find("r1").arrays("a.safetensors")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"files": {}}', '{"files": 3, "facts": {}}'])
def test_a_broken_done_json_is_named(store, content):
    write(store)
    (store.root / "runs" / "r1" / "done.json").write_text(content)
    with pytest.raises(CorruptRunError, match=r"run r1: done\.json"):
        store.find("r1")


def _hold(root, ready, release):
    with Store(root).claim("r1"):
        ready.set()
        release.wait(20)


def test_a_live_process_is_respected_and_a_dead_one_is_not(store):
    context = multiprocessing.get_context("spawn")
    ready, release = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(store.root, ready, release))
    holder.start()
    assert ready.wait(30)
    with (
        pytest.raises(StoreLockedError, match=f"run r1 .* is being made by process {holder.pid}, which is alive"),
        store.claim("r1", patience=0.1),
    ):
        pass
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    write(store)
    assert store.find("r1") is not None


def test_a_store_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "f").write_text("x")
    with pytest.raises(StoreError, match="cannot be written"):
        Store(tmp_path / "f").open()


def test_done_json_holds_the_hash_of_every_file(store):
    write(store)
    done = json.loads((store.root / "runs" / "r1" / "done.json").read_text())
    assert sorted(done["files"]) == ["a.safetensors", "spec.json"]
    assert all(len(digest) == 64 for digest in done["files"].values())
