"""Kill the command at the worst moments; the same command goes on, trains nothing twice, ends with equal numbers."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

MODELS = 6
FLAGS = ["--models", str(MODELS), "--records", "200", "--epochs", "25", "--attack", "lira", "--attack", "rmia"]


def start(folder, *flags, **how):
    command = [sys.executable, "-m", "reticent", "audit", *FLAGS, *flags]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **how)


def finish(folder, *flags):
    process = start(folder, *flags)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err.decode()
    return numbers(folder)


def numbers(folder):
    document = json.loads((folder / "reticent-audit" / "audit.json").read_text())
    return {key: value for key, value in document.items() if key != "environment"}, document["environment"]


def finished(folder):
    runs = folder / "reticent-store" / "runs"
    done = [p for p in runs.glob("*/done.json") if not p.parent.name.endswith(".partial")] if runs.exists() else []
    return {p.parent.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in done}


def partial(folder):
    runs = folder / "reticent-store" / "runs"
    return (
        {p: len([one for one in p.rglob("*") if one.is_file()]) for p in runs.glob("*.partial")}
        if runs.exists()
        else {}
    )


def mid_model(folder):
    return finished(folder) and 0 in partial_sizes(folder)


def while_writing(folder):
    return any(size > 0 for size in partial_sizes(folder))


def between_models(folder):
    return len(finished(folder)) >= 4


def partial_sizes(folder):
    try:
        return list(partial(folder).values())
    except FileNotFoundError:
        return []


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return finish(folder, "--workers", "1")[0]


@pytest.mark.parametrize(
    ("moment", "workers"),
    [
        pytest.param(while_writing, 1, marks=pytest.mark.calibration),
        pytest.param(mid_model, 2, marks=pytest.mark.slow),
        pytest.param(between_models, 2, marks=pytest.mark.calibration),
        pytest.param(mid_model, 1, marks=pytest.mark.calibration),
        pytest.param(while_writing, 2, marks=pytest.mark.calibration),
    ],
)
def test_a_killed_audit_goes_on(tmp_path, uninterrupted, moment, workers):
    process = start(tmp_path, "--workers", str(workers))
    deadline = time.monotonic() + 60
    while not moment(tmp_path):
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.0005)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    before = finished(tmp_path)
    assert len(before) < 2 * MODELS
    again, environment = finish(tmp_path, "--workers", str(workers))
    after = finished(tmp_path)
    assert again == uninterrupted
    assert {run: after[run] for run in before} == before
    assert len(after) == 2 * MODELS
    assert not any(partial_sizes(tmp_path))  # A kill between a run's rename and the end leaves its folder empty.
    assert environment["models_found"] >= len(before) // 2


def says_that_it_begins(process):
    """Wait for the line that comes right before the workers are started."""
    assert process.stderr.readline() == b"models 0/6\n"


def has_a_model(process, folder):
    while not finished(folder):
        assert process.poll() is None
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "whole_group", "late"),
    [(signal.SIGTERM, False, False), (signal.SIGTERM, True, True), (signal.SIGHUP, True, False)],
)
def test_an_audit_that_is_asked_to_end_says_how_to_go_on_and_leaves_nothing(tmp_path, number, whole_group, late):
    process = start(tmp_path, "--workers", "2", start_new_session=True)
    says_that_it_begins(process)
    if late:
        has_a_model(process, tmp_path)
    (os.killpg if whole_group else os.kill)(process.pid, number)
    _, err = process.communicate(timeout=60)  # Until the last process that holds standard error has ended.
    assert process.returncode == 128 + number
    lines = [line for line in err.decode().splitlines() if not line.startswith("models ")]
    told = f"reticent: ended by {number.name}; finished models are kept: run the same command again to go on"
    assert lines == [told], "a worker, or the process that counts semaphores, says something of its own"


@pytest.mark.calibration
def test_a_changed_rate_data_file_or_line_of_code_is_trained_anew(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np, torch\n"
        "def load():\n    return np.load('x.npy'), np.arange(80) % 2\n"
        "def net(classes):\n    return torch.nn.Linear(4, classes)\n"
    )
    write_x = (
        "import numpy as np; x = np.random.default_rng(0).normal(size=(80, 4)); x[0, 0] += {}; np.save('x.npy', x)"
    )
    subprocess.run([sys.executable, "-c", write_x.format(0)], cwd=tmp_path, check=True)
    flags = ["audit", "--dataset", "mine:load", "--architecture", "mine:net", "--models", "4", "--epochs", "2"]

    def run(*more):
        command = [sys.executable, "-m", "reticent", *flags, "--attack", "loss", "--workers", "1", *more]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=60)
        return numbers(tmp_path)[1]["models_found"]

    assert run() == 0
    assert run("--learning-rate", "0.01") == 0
    subprocess.run([sys.executable, "-c", write_x.format(1)], cwd=tmp_path, check=True)
    assert run() == 0
    source = (tmp_path / "mine.py").read_text()
    (tmp_path / "mine.py").write_text(source.replace("Linear(4, classes)", "Linear(4, classes, bias=False)"))
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    assert run() == 0
    assert run() == 4
