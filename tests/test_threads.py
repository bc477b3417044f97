"""Parts of a computation side by side."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from reticent.threads import each


def test_every_part_is_done_once_and_what_one_raises_is_raised():
    done = np.zeros(20, dtype=int)

    def work(part):
        done[part] += 1

    each(work, iter(range(20)))
    assert (done == 1).all()
    with pytest.raises(ValueError, match="seven"):
        each(lambda part: (_ for _ in ()).throw(ValueError("seven")) if part == 7 else None, range(20))
    each(work, [])


def test_parts_run_at_once_on_one_thread_of_openmp_each(monkeypatch):
    """As many parts as cores meet at a barrier; in each, scikit-learn would use one thread."""
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

    monkeypatch.setattr("reticent.threads.cores", lambda: 3)
    barrier, threads = threading.Barrier(3, timeout=20), []

    def work(part):
        barrier.wait()
        threads.append(_openmp_effective_n_threads())

    each(work, range(3))
    assert threads == [1, 1, 1]


FRESH = """
from reticent import threads
threads.cores, seen = lambda: 3, []
def work(part):
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
    seen.append(_openmp_effective_n_threads())
threads.each(work, range(3))
print(*seen)
"""


def test_openmp_is_limited_where_scikit_learn_is_first_loaded_by_a_part():
    given = os.environ | {"OMP_NUM_THREADS": "4"}
    told = subprocess.run([sys.executable, "-c", FRESH], env=given, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["1"] * 3
