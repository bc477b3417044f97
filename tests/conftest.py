"""Shared by all tests: one torch thread, and no test may change the global state of a random generator."""

import os
import random

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np
import pytest
import rich.console  # noqa: F401 (its first import draws from `random`: not in the middle of a test)
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _global_state_stays():
    """Fail a test that leaves another global random state, default type or number of threads behind."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    torch.manual_seed(0)
    before = _state()
    yield
    after = _state()
    changed = [name for name in before if before[name] != after[name]]
    assert not changed, f"the test changed global state: {changed}"


def _state():
    return {
        "random": random.getstate(),
        "numpy": np.random.get_state()[1].tobytes() + bytes(str(np.random.get_state()[2]), "ascii"),  # noqa: NPY002
        "torch": torch.random.get_rng_state().numpy().tobytes(),
        "dtype": torch.get_default_dtype(),
        "threads": torch.get_num_threads(),
    }
