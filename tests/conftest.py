"""Shared by all tests: one torch thread, no wait for the disk, pages and pictures where they are looked at, and no test
may change the global state of a random generator."""

import gc
import os
import random
import signal
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.pop("FORCE_COLOR", None)  # These two would make a terminal of what a test reads.
os.environ.pop("TTY_COMPATIBLE", None)
if sys.dont_write_bytecode:
    # Pytest rewrites every test file, which takes as long as all imports: what it made is kept outside the tree.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = sys.pycache_prefix or str(Path(tempfile.gettempdir(), f"reticent-bytecode-{os.getuid()}"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

import numpy as np
import pytest
import rich.console  # noqa: F401 (its first import draws from `random`: not in the middle of a test)
import torch
from matplotlib.figure import Figure

from reticent.interrupts import ASKED
from reticent.report import svg
from reticent.report.render.html import Html, _Page

torch.set_num_threads(1)
os.fsync = lambda _: None  # No test cuts the power, and a small audit waits sixty times.


def pytest_collection_finish():
    """Leave what was imported and collected out of every later search for garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


DRAWN = {"report", "studies", "scripts", "e2e"}
"""Folders whose tests look at pages and pictures; elsewhere a page is empty, which is half of a small audit's time, but
in slow tests and where the mark `words` asks for it: with pictures that are composed and not drawn."""
NARROW = {"contract", "procedures"}
"""Folders whose tests all have `narrow_adv_reg`."""
_undrawn = pytest.MonkeyPatch()


def _blank(_, stream, **how):
    stream.write("<svg></svg>" if how["format"] == "svg" else b"")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Draw or leave out, before any fixture makes a page."""
    _undrawn.undo()
    drawn, marks = DRAWN & set(item.path.parts), {mark.name for mark in item.iter_markers()}
    if not drawn or "words" in marks:
        _undrawn.setattr(svg, "settle", lambda _: None)
        _undrawn.setattr(Figure, "savefig", _blank)
    if not drawn and not marks & {"words", "slow"}:
        _undrawn.setattr(_Page, "sections", lambda *_: Html(""))


def _seed():
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    torch.default_generator.manual_seed(0)  # `torch.manual_seed` also notes the stack, for a GPU: a millisecond.


def _state():
    return {
        "random": random.getstate(),
        "numpy": np.random.get_state()[1].tobytes() + bytes(str(np.random.get_state()[2]), "ascii"),  # noqa: NPY002
        "torch": torch.random.get_rng_state().numpy().tobytes(),
        "dtype": torch.get_default_dtype(),
        "threads": torch.get_num_threads(),
    }


_seed()
SEEDED = _state()


@pytest.fixture(autouse=True)
def _global_state_stays():
    """Fail a test that leaves another global random state, default type or number of threads behind."""
    _seed()
    yield
    after = _state()
    changed = [name for name in SEEDED if SEEDED[name] != after[name]]
    if changed:  # Only this test shall fail for it.
        torch.set_default_dtype(SEEDED["dtype"])
        torch.set_num_threads(SEEDED["threads"])
    assert not changed, f"the test changed global state: {changed}"


@pytest.fixture(autouse=True)
def _narrow(request):
    if NARROW & set(request.path.parts):
        request.getfixturevalue("narrow_adv_reg")


@pytest.fixture
def narrow_adv_reg(monkeypatch):
    """Make the attacker of adversarial regularisation narrow, which takes most of the time of whatever trains one."""
    monkeypatch.setattr("reticent.objectives.adv_reg.ANSWER", (16, 16, 8))
    monkeypatch.setattr("reticent.objectives.adv_reg.LABEL", (8, 8))
    monkeypatch.setattr("reticent.objectives.adv_reg.BOTH", (16, 16, 16, 8, 8, 1))


@pytest.fixture
def not_ignored():
    """Signals do what they do in a terminal, here and in processes begun here, also where the tests run behind `&`."""
    before = {signal.SIGINT: signal.default_int_handler, **dict.fromkeys(ASKED, signal.SIG_DFL)}
    before = {number: signal.signal(number, does) for number, does in before.items()}
    yield
    for number, does in before.items():
        signal.signal(number, does)
