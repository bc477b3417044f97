import importlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from reticent.attacks import ATTACKS


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """An empty working folder whose modules, named mine..., are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    importlib.invalidate_caches()
    yield tmp_path
    for name in [n for n in sys.modules if n.startswith("mine")]:
        del sys.modules[name]


@pytest.fixture
def clock(monkeypatch):
    """The clock of plans, which goes on where a test says (`clock.sleep`), and by a second an epoch."""
    from reticent.training.run import Run

    now, drawn = [0.0], Run.drawn

    def sleep(seconds):
        now[0] += seconds

    def a_second(*given):
        sleep(1)
        return drawn(*given)

    made = SimpleNamespace(perf_counter=lambda: now[0], sleep=sleep)
    monkeypatch.setattr("reticent.jobs.plan.time", made)
    monkeypatch.setattr("reticent.procedures.costs.time", made)
    monkeypatch.setattr(Run, "drawn", a_second)
    return made


@pytest.fixture
def only_attacks():
    """Leave some attacks in the table; afterwards all are there, in their order (`monkeypatch.delitem` changes it)."""
    before = dict(ATTACKS)

    def leave(*names):
        for other in ATTACKS.keys() - set(names):
            del ATTACKS[other]

    yield leave
    ATTACKS.clear()
    ATTACKS.update(before)


@pytest.fixture
def images(tmp_path):
    """A file of 120 grey pictures of 8 x 8 in three classes: noise around a bright row."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    x = rng.integers(0, 120, (120, 8, 8))
    x[np.arange(120), 2 * y] += 100
    np.savez(tmp_path / "images.npz", x=x.astype(np.uint8), y=y)
    return tmp_path / "images.npz"
