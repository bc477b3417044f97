"""The script for a GPU: what it runs and writes, with a stand-in for the study; and its form for the CPU."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu.sh"
DATA = Path("/tmp/official-data")
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


def run(*words, **environment):
    given = os.environ | {"PYTHON": sys.executable} | environment
    return subprocess.run(
        [SCRIPT, *map(str, words)], env=given, capture_output=True, text=True, timeout=1500, check=False
    )


@pytest.fixture
def stand_in(tmp_path):
    """A command that notes its words and writes a section, and a python whose torch has no device or one."""
    command = tmp_path / "study"
    command.write_text(
        f'#!/bin/sh\necho "$@" >{tmp_path}/words\n'
        'while [ "$1" != "--out" ]; do shift; done; mkdir -p "$2"; echo "| table |" >"$2/study.md"\n'
    )

    def python(device, name):
        path = tmp_path / f"python-{device}"
        path.write_text(f'#!/bin/sh\ncase "$2" in *get_device_name*) echo "{name}";; *) echo {device};; esac\n')
        path.chmod(path.stat().st_mode | stat.S_IEXEC)
        return str(path)

    command.chmod(command.stat().st_mode | stat.S_IEXEC)
    return {"RETICENT": str(command)}, python


def test_it_runs_the_study_on_the_card_and_writes_its_name(stand_in, tmp_path):
    environment, python = stand_in
    done = run("gpu", "/some data", tmp_path / "out", PYTHON=python("cuda", "NVIDIA Test"), **environment)
    assert done.returncode == 0, done.stderr
    words = (tmp_path / "words").read_text().strip()
    assert words.startswith("study cwrf-defenses --scale gpu --device cuda --store ")
    assert words.endswith("--data-dir /some data")
    table = (tmp_path / "out" / "table.md").read_text()
    assert table.startswith("Machine: NVIDIA Test. Time: ")
    assert table.endswith("| table |\n")
    assert "NVIDIA Test" in done.stdout


def test_without_a_card_it_says_what_to_do(stand_in, tmp_path):
    environment, python = stand_in
    done = run("gpu", "", tmp_path / "out", PYTHON=python("cpu", "2 cores"), **environment)
    assert done.returncode == 2
    assert "no CUDA device here: give another scale" in done.stderr
    assert not (tmp_path / "words").exists()
    done = run("tiny", "", tmp_path / "out", PYTHON=python("cpu", "2 cores"), RETICENT_DATA="", **environment)
    assert done.returncode == 0, done.stderr
    assert "--data-dir" not in (tmp_path / "words").read_text()


def test_a_study_that_fails_writes_no_table(stand_in, tmp_path):
    done = run("tiny", "", tmp_path / "out", PYTHON=stand_in[1]("cpu", "2 cores"), RETICENT="false")
    assert done.returncode == 1
    assert not (tmp_path / "out" / "table.md").exists()


@pytest.mark.calibration
@pytest.mark.skipif(not DATA.is_dir(), reason="the official files are not at hand")
def test_its_form_for_the_cpu_ends_with_a_table(tmp_path):
    done = run("tiny", DATA, tmp_path / "out", RETICENT=f"{sys.executable} -m reticent")
    assert done.returncode == 0, done.stderr
    table = (tmp_path / "out" / "table.md").read_text()
    assert "| RelaxLoss + CWRF |" in table
    assert "cores" in table.splitlines()[0]
