"""What users of larger machines report: forks, threads, small shared memory, few open files. Each is survived."""

import os
import resource
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
AUDIT = [
    "-m",
    "reticent",
    "audit",
    "--models",
    "12",
    "--records",
    "200",
    "--epochs",
    "2",
    "--attack",
    "lira",
    "--workers",
    "2",
]
FORKED = """
import os
import threading

import torch

import reticent

torch.set_num_threads(2)
x = torch.ones(1000, 1000)
assert (x @ x)[0, 0] == 1000  # Threads of torch are there now, which a fork does not copy.
threading.Thread(target=threading.Event().wait, daemon=True).start()


def audit(name, workers):
    how = {"out": f"{name}-audit", "store": f"{name}-store", "workers": workers}
    return reticent.audit(dataset="digits", records=200, models=4, epochs=2, attacks=["loss"], **how)


child = os.fork()
if not child:
    audit("child", 1)
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
audit("parent", 2)
print("both")
"""
"""A script without a main guard, which forks after it had threads, and audits on both sides."""


def run(arguments, folder, **how):
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False, **how
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_caller_that_forked_after_it_had_threads(tmp_path):
    (tmp_path / "script.py").write_text(FORKED)
    assert run(["-W", "ignore::DeprecationWarning", "script.py"], tmp_path) == "both\n"
    assert (tmp_path / "child-audit" / "audit.json").exists()


def test_few_open_files(tmp_path):
    run(AUDIT, tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48)))
    assert (tmp_path / "reticent-audit" / "audit.json").exists()


@pytest.mark.skipif(os.getuid() != 0 or shutil.which("unshare") is None, reason="only root may mount")
def test_a_small_shared_memory(tmp_path):
    command = 'mount -t tmpfs -o size=64k none /dev/shm && exec "$@"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", command, "sh", sys.executable, *AUDIT],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip(f"this machine mounts nothing: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "reticent-audit" / "audit.json").exists()
