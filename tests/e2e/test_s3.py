"""An audit whose store is S3, as moto plays it, through a proxy: killed, kept waiting, given a truncated upload."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import audit_process
import numpy as np
import pytest
from audit_process import finish

from reticent.store import objects

obstore = pytest.importorskip("obstore", reason="obstore is not installed: pip install 'reticent[objects]'")
pytest.importorskip("moto", reason="moto is not installed: pip install 'moto[server]'")
MODELS = 6
FLAGS = ["--models", str(MODELS), "--records", "200", "--epochs", "25", "--attack", "lira", "--attack", "rmia"]
TRIES = 50


class S3:
    """The stand-in for S3, in a process of its own."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).parent / "faulty_s3.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.environment = {
            "AWS_ENDPOINT_URL": self.process.stdout.readline().strip(),
            "AWS_ACCESS_KEY_ID": "id",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }

    def do(self, words):
        """Make a fault; answers how many requests were refused so far."""
        self.process.stdin.write(f"{words}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@pytest.fixture(scope="module")
def s3():
    made = S3()
    yield made
    made.process.communicate(timeout=30)


@pytest.fixture
def here(s3, monkeypatch):
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    return s3


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What the audit finds whose store is a folder."""
    folder = tmp_path_factory.mktemp("alone")
    return finish(start(folder, "reticent-store", "1"), folder)[0]


def start(folder, store, workers="2"):
    own = {"XDG_CACHE_HOME": str(folder / "cache")}
    return audit_process.start(folder, *FLAGS, "--store", store, "--workers", workers, **own)


def commits(store):
    """Say of each run which version its commit is, and when it was made."""
    at = obstore.store.from_url(store, client_options={"allow_http": True})
    listed = [one for part in obstore.list(at, "runs/") for one in part]
    return {one["path"]: (one["e_tag"], one["last_modified"]) for one in listed if one["path"].endswith("done.json")}


def until(store, runs, process):
    deadline = time.monotonic() + 120
    while len(commits(store)) < runs:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_a_killed_audit_goes_on_elsewhere_and_trains_nothing_twice(here, alone, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    process = start(one, "s3://bucket/killed")
    until("s3://bucket/killed", 5, process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    there = commits("s3://bucket/killed")
    found, environment = finish(start(other, "s3://bucket/killed"), other)
    last = commits("s3://bucket/killed")
    assert found == alone
    assert len(last) == 2 * MODELS
    assert {run: last[run] for run in there} == there
    assert environment["models_found"] >= len(there) // 2


@pytest.mark.calibration
def test_an_audit_waits_for_a_store_that_is_busy_for_20_s(here, alone, tmp_path):
    process = start(tmp_path, "s3://bucket/busy")
    until("s3://bucket/busy", 2, process)
    before = here.do("busy 20")
    found, _ = finish(process, tmp_path)
    assert here.do("") > before
    assert found == alone


@pytest.mark.calibration
def test_a_truncated_upload_is_named_and_the_same_command_goes_on(here, alone, tmp_path):
    here.do("cut")
    process = start(tmp_path, "s3://bucket/cut", "1")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "1 of 6 models could not be made (5 are finished and kept)" in err
    assert ".safetensors arrived with " in err
    assert "bytes: the run is not finished, and what arrived is never used; run the same command again" in err
    found, environment = finish(start(tmp_path, "s3://bucket/cut", "1"), tmp_path)
    assert found == alone
    assert environment["models_found"] == 5


@pytest.mark.slow
def test_of_two_clients_that_commit_at_once_one_wins_and_the_other_notices(here, tmp_path, monkeypatch):
    monkeypatch.setattr(objects.ObjectStore, "_held", lambda *_: nullcontext())
    clients = []
    for number in range(3):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / str(number)))
        clients.append(objects.ObjectStore("s3://bucket/race").open())
    for n in range(TRIES):
        at_once, won = threading.Barrier(2), {}

        def make(number, n=n, at_once=at_once, won=won):
            with clients[number].claim(f"r{n}") as draft:
                draft.write_arrays("a.safetensors", {"x": np.full(3, number)})
                at_once.wait()
            won[number] = draft.won

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(make, range(2)))
        assert sorted(won.values()) == [False, True]
        winner = max(won, key=won.get)
        values = [client.whole(f"r{n}").arrays("a.safetensors")["x"].tolist() for client in clients]
        assert values == [[winner] * 3] * 3
