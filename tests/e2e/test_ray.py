"""Four raylets on this machine: a node and the driver are killed, a task dies twice, and no number changes."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import audit_process
import pytest
from audit_process import finish

NODES = 4
NET = """
import os
import sys
from pathlib import Path

from torch import nn

HERE = Path(__file__).parent


def die_twice():
    import ray

    task = ray.get_runtime_context().get_task_id()
    try:
        with (HERE / "victim").open("x") as file:
            file.write(task)
    except FileExistsError:
        pass
    if (HERE / "victim").read_text() == task:
        for death in ("first", "second"):
            if not (HERE / death).exists():
                (HERE / death).touch()
                os._exit(1)


def net(input_shape, classes):
    if "ray" in sys.modules and (HERE / "mortal").exists():
        die_twice()
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, classes))
"""
"""A user's network: the first task of a cluster that builds it ends its process, twice, once there is a file mortal."""
FLAGS = ["--architecture", "my_net:net", "--records", "300", "--epochs", "30"]
FLAGS += ["--attack", "lira", "--attack", "rmia"]


class Raylets:
    """A cluster of four nodes of one core, in a process of its own."""

    def __init__(self):
        command = [sys.executable, Path(__file__).parent / "raylets.py", str(NODES)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.address = self.process.stdout.readline().strip()

    def do(self, word):
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'reticent[ray]'")
    made = Raylets()
    yield made
    made.process.communicate(timeout=60)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my_net.py").write_text(NET)
    return tmp_path


def start(folder, *flags):
    return audit_process.start(folder, *FLAGS, *flags)


def finished(folder):
    """Say which file each run's commit is, and when it was written."""
    return {path.parent.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in _commits(folder)}


def _commits(folder):
    return list((folder / "reticent-store" / "runs").glob("*/done.json"))


def until(folder, runs, process):
    deadline = time.monotonic() + 400
    while len(finished(folder)) < runs:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return finished(folder)


@pytest.mark.parametrize(
    "models", [pytest.param(12, marks=pytest.mark.slow), pytest.param(64, marks=pytest.mark.calibration)]
)
def test_a_killed_node_and_a_killed_driver_and_a_task_that_dies_twice_change_no_number(cluster, folder, models):
    count = ["--models", str(models)]
    ray = [*count, "--executor", "ray", "--address", cluster.address]
    driver = start(folder, *ray)
    first = until(folder, models // 3, driver)
    cluster.do("kill")
    second = until(folder, models, driver)
    os.kill(driver.pid, signal.SIGKILL)
    driver.communicate()
    cluster.do("add")
    there = finished(folder)
    (folder / "mortal").touch()
    found, environment = finish(start(folder, *ray), folder)
    last = finished(folder)

    assert (folder / "second").exists()
    assert len(there) < len(last) == 2 * models
    for earlier in (first, second, there):  # No run was committed twice.
        assert {run: last[run] for run in earlier} == earlier
    assert environment["models_found"] >= len(there) // 2 - NODES
    shutil.rmtree(folder / "reticent-store")
    shutil.rmtree(folder / "reticent-audit")
    alone, _ = finish(start(folder, *count, "--executor", "inline"), folder)
    assert found == alone


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_named(folder):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'reticent[ray]'")
    process = start(folder, "--executor", "ray", "--address", "127.0.0.1:1")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "the Ray cluster 127.0.0.1:1 cannot be reached" in err
    assert "give --address HOST:PORT" in err


@pytest.mark.slow
def test_a_cluster_without_a_gpu_is_named(cluster, folder):
    process = start(folder, "--executor", "ray", "--address", cluster.address, "--device", "cuda", "--workers", "4")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    told = "device cuda: no machine of the Ray cluster has a core and a GPU: start one first, or give --device cpu"
    assert told in err


@pytest.mark.slow
def test_a_driver_that_is_asked_to_end_says_so(cluster, folder):
    process = start(folder, "--models", "64", "--executor", "ray", "--address", cluster.address)
    until(folder, 1, process)
    process.terminate()
    _, err = process.communicate(timeout=120)
    assert (process.returncode, "reticent: ended by SIGTERM; finished models are kept" in err) == (143, True), err
