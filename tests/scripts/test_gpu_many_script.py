"""The script that trains many models of CIFAR-10 on a GPU: its form for the CPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu_many.sh"
DATA = Path(os.environ.get("RETICENT_DATA", "/tmp/official-data"))


def run(*words):
    given = os.environ | {"PYTHON": sys.executable, "RETICENT": f"{sys.executable} -m reticent"}
    return subprocess.run(
        [SCRIPT, *map(str, words)], env=given, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_card_it_says_what_to_do(tmp_path):
    done = run("full", DATA, tmp_path / "out")
    assert done.returncode == 2
    assert "no CUDA device here: give another size, as in benchmarks/gpu_many.sh tiny DATA_DIR" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "cifar-10-batches-bin").is_dir(), reason="the official files are not at hand")
def test_its_form_for_the_cpu_ends_with_a_table_and_goes_on_from_there(tmp_path):
    done = run("tiny", DATA, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    table = (tmp_path / "out" / "table.md").read_text().splitlines()
    assert ". 4 models, seconds a model: " in table[0]
    assert [line.split(" | ")[0] for line in table[2:]] == ["| attack", "|---|---:|---:|---:|", "| lira", "| rmia"]
    assert all(line.endswith("not measurable |") for line in table[4:])
    again = run("tiny", DATA, tmp_path / "out")
    assert "seconds a model: all found" in again.stdout
