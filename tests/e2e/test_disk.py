"""A full disk is one clear sentence, and nothing that was finished is lost."""

import shutil
import subprocess
import sys

import pytest


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"a small tmpfs cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk(small_disk, tmp_path):
    command = [
        sys.executable,
        "-m",
        "reticent",
        "audit",
        "--models",
        "8",
        "--records",
        "200",
        "--epochs",
        "1",
        "--attack",
        "lira",
    ]
    command += ["--workers", "1", "--store", str(small_disk / "store"), "--out", str(tmp_path / "out")]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    message = " ".join(result.stderr.split())
    assert result.returncode == 2, message
    assert "Traceback" not in message
    assert "No space left on device" in message
    assert "free some space" in message
    kept = list((small_disk / "store" / "runs").glob("*/done.json"))
    assert kept
    shutil.move(small_disk / "store", tmp_path / "store")
    command[command.index("--store") + 1] = str(tmp_path / "store")
    again = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert again.returncode == 0, again.stderr
