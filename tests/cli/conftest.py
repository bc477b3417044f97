import importlib
import sys

import numpy as np
import pytest

from reticent.cli import app
from reticent.cli.run import guarded


@pytest.fixture
def command(tmp_path, monkeypatch, capfd):
    """Run ``reticent`` in this process, in an empty folder; answers (exit code, stdout, stderr on one line)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delenv("RETICENT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    importlib.invalidate_caches()

    def run(line, *more):
        code = guarded(app, [*line.split(), *more])
        out, err = capfd.readouterr()
        return code, out, " ".join(err.split())

    yield run
    for name in [n for n in sys.modules if n.startswith("mine")]:
        del sys.modules[name]


@pytest.fixture
def outputs(tmp_path):
    """Write a file of outputs, with some arrays changed or left out; answers its path."""

    def write(**changes):
        rng = np.random.default_rng(0)
        membership = rng.permuted(np.tile([True, False], (60, 4)), axis=1).T
        logits = rng.normal(size=(8, 60, 3))
        labels = np.arange(60) % 3
        logits[:, np.arange(60), labels] += 1 + membership
        arrays = {"logits": logits, "labels": labels, "membership": membership} | changes
        np.savez(tmp_path / "outputs.npz", **{k: v for k, v in arrays.items() if v is not None})
        return str(tmp_path / "outputs.npz")

    return write
