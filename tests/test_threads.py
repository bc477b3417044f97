"""Parts of a computation side by side."""

import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

from reticent.threads import each, ordered


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


def test_filters_of_warnings_are_the_callers_own_between_parts(monkeypatch):
    monkeypatch.setattr("reticent.threads.cores", lambda: 2)
    with warnings.catch_warnings():
        made = ordered(abs, range(9))
        assert next(made) == 0
        warnings.filterwarnings("ignore", "set between two parts")
        added = warnings.filters[0]
        assert list(made) == list(range(1, 9))
        assert warnings.filters[0] == added


def test_filters_of_warnings_outlive_parts_that_clear_them_at_once(monkeypatch):
    from sklearn.utils.parallel import delayed

    monkeypatch.setattr("reticent.threads.cores", lambda: 2)
    cleared, kept, left = (threading.Event() for _ in range(3))

    def work(part):
        """Clear the filters as scikit-learn does, the second part while the first has, and leave after it."""
        if part == 1:
            assert cleared.wait(20)
        with warnings.catch_warnings():
            warnings.resetwarnings()
            (kept if part == 1 else cleared).set()
            assert (left if part == 1 else kept).wait(20)
        left.set()
        if part == 1:
            warned, (scikit_learns, given, named) = "of something else", delayed(int)("7")
            assert scikit_learns(*given, **named) == 7
            warnings.warn(warned, UserWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("ignore")
        before = list(warnings.filters)
        each(work, range(2))
        assert warnings.filters == before
    assert [str(one.message) for one in told] == ["of something else"]
