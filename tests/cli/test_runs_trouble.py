"""``reticent runs`` on a store with trouble: files that hold anything, disks that don't read, live processes."""

import errno
import json
import os
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from reticent.errors import CorruptRunError, StoreLockedError, UnreadableRunError
from reticent.jobs.runs import scan
from reticent.store import Store
from reticent.store.locks import process
from reticent.store.run import sealed

GOOD, BAD, SEEN = "0" * 19 + "1", "0" * 19 + "2", "0" * 19 + "3"
DEEP = '{"a":' * 900 + "1" + "}" * 900
DEEPER = '{"a":' * 200_000


def words(text):
    return " ".join(text.split())


def make(store, name, **recipe):
    with store.claim(name) as draft:
        draft.write_arrays("weights.safetensors", {"w": np.arange(3)})
        draft.write_arrays("roles.safetensors", {"members": np.arange(3)})
        made = {"architecture": {"method": "mlp", "dropout": 0.0}, "epochs": 5, "optimizer": "adam"} | recipe
        draft.write_json("spec.json", {"kind": "training", "model": 0, "members": name, "recipe": made, "seed": 0})
        draft.facts = {"kind": "training", "model": 0, "data": "mine.csv"}


@pytest.fixture
def store(tmp_path):
    """Two whole runs."""
    made = Store(tmp_path / "reticent-store").open()
    make(made, GOOD)
    make(made, BAD, epochs=9)
    return made


def spoil(store, file, content):
    (store.root / "runs" / BAD / file).write_text(content)


SPOILED = [
    ("done.json", DEEP),
    ("done.json", DEEPER),
    ("done.json", json.dumps({"files": [], "facts": {}})),
    ("done.json", json.dumps({"files": {"x" * 5000: "0"}, "facts": {}})),
    ("done.json", json.dumps({"files": {"spec.json": {}}, "facts": {}})),
    ("done.json", json.dumps({"files": {"a\0b": "0"}, "facts": {}})),
    ("done.json", '{"files": {}, "facts": {"a": 1e999}}'),
    ("done.json", '{"files": {}, "facts": {"data": "\\ud800"}}'),
    ("spec.json", DEEP),
    ("spec.json", DEEPER),
    ("spec.json", "[]"),
    ("spec.json", '{"recipe": 1e999}'),
]


@pytest.mark.parametrize(("file", "content"), SPOILED)
def test_one_bad_file_makes_its_run_corrupt_and_no_other(command, store, file, content):
    spoil(store, file, content)
    code, out, err = command("runs list --all")
    assert (code, err) == (0, "")
    [line] = [words(line) for line in out.splitlines() if line.startswith(BAD)]
    assert f"corrupt ({file} cannot be read: " in line
    assert f"{GOOD} training 0 " in words(out)
    assert command("runs list")[0] == command("runs list --json")[0] == command(f"runs show {BAD}")[0] == 0
    code, out, _ = command("runs verify")
    assert (code, f"{BAD}: " in out, "1 of 2 runs corrupt" in out) == (1, True, True)
    with pytest.raises(CorruptRunError):
        store.whole(BAD)
    assert command("runs rm --corrupt --yes")[0] == 0
    assert [path.name for path in (store.root / "runs").iterdir()] == [GOOD]


VALUES = [[], {}, -5, None, True, "x" * 5000, [[1]], {"method": ["x"]}, 10**300]


@pytest.mark.parametrize("key", ["kind", "model", "data", "finished", "of", "recipe", "seed", "epochs", "architecture"])
def test_wrong_types_are_shown_and_harm_nobody(command, store, key):
    folder = store.root / "runs" / BAD
    whole = {file: json.loads((folder / file).read_text()) for file in ("spec.json", "done.json")}
    for number, value in enumerate(VALUES):
        spec, done = whole["spec.json"], whole["done.json"]
        spec = spec | ({"recipe": spec["recipe"] | {key: value}} if key in spec["recipe"] else {key: value})
        done = sealed(done["files"], done["facts"] | {key: value})
        (folder / "spec.json").write_text(json.dumps(spec))
        (folder / "done.json").write_text(json.dumps(done))
        groups = scan(store.root).groups
        assert sum(len(one.runs) for one in groups) == 2
        assert all(len(one.recipe) < 400 and len(one.data) < 100 for one in groups)
        assert GOOD in command("runs list --all")[1]
        assert command(("runs list", "runs list --json", f"runs show {BAD}")[number % 3])[::2] == (0, "")


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES, errno.ESTALE])
@pytest.mark.parametrize("file", ["done.json", "weights.safetensors", "spec.json"])
def test_what_cannot_be_read_now_is_not_corrupt_and_is_never_removed_as_such(command, store, monkeypatch, code, file):
    opened = os.open

    def broken(path, *rest, **more):
        if str(path).endswith(f"{BAD}/{file}"):
            raise OSError(code, os.strerror(code), str(path))
        return opened(path, *rest, **more)

    monkeypatch.setattr("os.open", broken)
    _, out, _ = command("runs list --all")
    if file != "weights.safetensors":  # in the list, hashes are not computed
        assert f"cannot be read ({file}: {os.strerror(code)})" in words(out)
        assert "1 cannot be read now, and may be whole: look at the disk" in words(out)
    result, out, _ = command("runs verify")
    assert (result, "1 of 2 runs cannot be read now, and may be whole" in words(out)) == (1, True)
    assert f"{file} cannot be read ({os.strerror(code)})" in words(out)
    with pytest.raises(UnreadableRunError, match="it may be whole, so nothing was changed"):
        store.find(BAD)
    assert words(command("runs rm --corrupt --yes")[1]) == "There is nothing to remove."
    monkeypatch.undo()
    assert store.find(BAD) is not None


def test_a_pipe_in_place_of_a_file_does_not_hang(command, store):
    for file in ("spec.json", "weights.safetensors"):
        (store.root / "runs" / BAD / file).unlink()
        os.mkfifo(store.root / "runs" / BAD / file)
    code, out, _ = command("runs verify")
    assert (code, "spec.json is missing; weights.safetensors is missing" in out) == (1, True)


def test_verify_names_strays_links_and_what_is_not_finished(command, store, tmp_path):
    runs = store.root / "runs"
    (runs / GOOD / "notes.txt").write_text("x")
    (runs / BAD / "weights.safetensors").rename(tmp_path / "elsewhere")
    (runs / BAD / "weights.safetensors").symlink_to(tmp_path / "elsewhere")
    (runs / f"{SEEN}.partial").mkdir()
    (runs / "mine").mkdir()
    code, out, _ = command("runs verify")
    text = words(out)
    assert code == 0
    assert f"{GOOD}: notes.txt is not of this run: it is not used" in text
    assert f"{BAD}: weights.safetensors is a link to a file elsewhere" in text
    assert "2 runs, 6 files" in text
    assert "1 run not finished, so not checked." in text
    assert "not made by reticent, and left alone: mine" in text


def test_unfinished_runs_are_called_so_and_runs_that_differ_look_different(command, store):
    make(store, SEEN, epochs=9, stop_after=3.5)
    make(store, "0" * 19 + "4", epochs=9, architecture={"method": "mlp", "dropout": 0.5})
    (store.root / "runs" / ("0" * 19 + "5")).mkdir()
    text = words(command("runs list")[1])
    assert "– unfinished, left by a process that ended – 0 0 " in text
    assert "cannot be read" not in text
    assert "mlp, 5 epochs, adam none" in text
    for told in ("dropout 0.0, stop_after none", "dropout 0.0, stop_after 3.5", "dropout 0.5, stop_after none"):
        assert f"architecture.{told} 0 1 0" in text
    with store.claim("0" * 19 + "6"):
        assert "being made by a live process" in words(command("runs list")[1])


def test_what_a_live_process_uses_is_kept_with_its_model(command, store):
    runs = store.root / "runs"
    with store.using([BAD, SEEN]), store.claim(SEEN):  # the signals of BAD are being written: nothing says so yet
        code, out, _ = command("runs rm --all --yes")
        assert code == 1
        assert f"{BAD} is kept: {process()} is using it, and is alive." in words(out)
        assert sorted(path.name for path in runs.iterdir()) == [BAD, f"{SEEN}.partial"]
        assert f"run {BAD} is in use by {process()}" in command(f"runs rm {BAD} --yes")[2]
        for flag in ("--older-than 0h", "--unfinished"):
            command(f"runs rm {flag} --yes")
        with pytest.raises(StoreLockedError, match=f"run {BAD} is in use by {process()}"):
            store.remove(BAD)
        assert store.find(BAD) is not None
    assert command(f"runs rm {BAD} --yes")[0] == 0
    assert list((store.root / "locks" / "uses").iterdir()) == []


USER = """
import sys, time
from pathlib import Path
from reticent.store import Store
from reticent.store.run import sealed
with Store(Path(sys.argv[1])).using([sys.argv[2]]):
    print("ready", flush=True)
    time.sleep(60)
"""


def test_a_use_ends_with_its_process_even_if_that_is_killed(command, store):
    with subprocess.Popen([sys.executable, "-c", USER, str(store.root), BAD], stdout=subprocess.PIPE) as user:
        assert user.stdout.readline() == b"ready\n"
        assert store.users() == {BAD: f"process {user.pid} on {socket.gethostname()}"}
        assert command(f"runs rm {BAD} --yes")[0] == 2
        user.kill()
    assert store.users() == {}
    assert command(f"runs rm {BAD} --yes")[0] == 0
    left = list((store.root / "locks" / "uses").iterdir())
    assert len(left) == 2
    for path in left:
        os.utime(path, (time.time() - 2 * 86_400,) * 2)
    with store.using([GOOD]):
        assert store.users() == {GOOD: process()}
    assert list((store.root / "locks" / "uses").iterdir()) == []


def test_looking_at_a_lock_takes_nothing_and_needs_no_writing(store, monkeypatch):
    before = {path: path.stat().st_mtime_ns for path in (store.root / "locks").iterdir()}
    monkeypatch.setattr("filelock.FileLock.acquire", lambda *_, **__: pytest.fail("the lock was taken"))
    assert store.holder(BAD) is None
    assert store.holder("f" * 20) is None
    assert {path: path.stat().st_mtime_ns for path in (store.root / "locks").iterdir()} == before


def test_a_lock_that_cannot_be_looked_at_is_not_known_to_be_free(command, store, monkeypatch):
    (store.root / "runs" / f"{SEEN}.partial").mkdir()
    (store.root / "locks" / f"{SEEN}.lock").write_bytes(b"")
    opened = os.open

    def broken(path, *rest, **more):
        if str(path).endswith(f"{SEEN}.lock"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, *rest, **more)

    monkeypatch.setattr("os.open", broken)
    assert "whether a live process is writing it is not known: Permission denied" in words(
        command("runs list --all")[1]
    )
    assert words(command("runs rm --unfinished --yes")[1]) == "There is nothing to remove."
    code, out, _ = command("runs rm --all --yes")
    assert (code, f"{SEEN}.partial is kept: a process that cannot be told (Permission denied)" in words(out)) == (
        1,
        True,
    )
