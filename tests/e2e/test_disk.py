"""A full disk is one clear sentence, and nothing that was finished is lost."""

import shutil
import subprocess
import sys

import pytest

AUDIT = "audit --models 8 --records 200 --epochs 1 --attack lira --workers 1"


@pytest.fixture
def small_disk(tmp_path):
    """Mount disks of some size; answers a function from that size to an empty folder."""
    mounted = []

    def mount(size):
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        result = subprocess.run(command, capture_output=True)
        if result.returncode:
            pytest.skip(f"a small tmpfs cannot be mounted here: {result.stderr.decode().strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def audit(folder, store, out):
    command = [sys.executable, "-m", "reticent", *AUDIT.split(), "--store", str(store), "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)


def finished(store):
    return {path.parent.name: path.stat().st_mtime_ns for path in (store / "runs").glob("*/done.json")}


def refused(result):
    message = " ".join(result.stderr.split())
    assert result.returncode == 2, message
    assert "Traceback" not in message
    assert "No space left on device" in message
    assert "free some space" in message
    return message


@pytest.mark.slow
def test_a_full_disk_of_the_store(small_disk, tmp_path):
    store = small_disk("3m") / "store"
    refused(audit(tmp_path, store, tmp_path / "out"))
    shutil.move(store, tmp_path / "store")
    before = finished(tmp_path / "store")
    assert before
    again = audit(tmp_path, tmp_path / "store", tmp_path / "out")
    assert again.returncode == 0, again.stderr
    after = finished(tmp_path / "store")
    assert before.items() < after.items()


@pytest.mark.calibration
def test_a_full_disk_of_the_report(small_disk, tmp_path):
    out, store = small_disk("64k") / "out", tmp_path / "store"
    assert f"expected to write {out}" in refused(audit(tmp_path, store, out))
    assert [path.name for path in out.iterdir() if path.name == "audit.json" or path.name.endswith(".tmp")] == []
    before = finished(store)
    assert len(before) >= 8
    again = audit(tmp_path, store, tmp_path / "out")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "out" / "audit.json").is_file()
    assert finished(store) == before
