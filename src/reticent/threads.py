"""Parts of a computation side by side, a core each: threads, as NumPy and scikit-learn compute without Python's lock.

Each computes on one thread: sums in another order have other last bits, and a machine may have other work.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import TypeVar

Part = TypeVar("Part")

MOST = 8
"""Parts at once: each holds blocks of its own."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread, of OpenMP and of BLAS."""
    from threadpoolctl import threadpool_limits

    import_module("sklearn")  # It brings an OpenMP of its own, and what is not loaded yet is not limited.
    with threadpool_limits(limits=1):
        yield


def each(work: Callable[[Part], None], parts: Iterable[Part]) -> None:
    """Do the work of all parts, which share nothing that they write; what one raises, this raises.

    Parts are drawn from `parts` before any work begins.
    """
    drawn = list(parts)
    with one_thread(), ThreadPoolExecutor(max(1, min(cores(), MOST, len(drawn))), initializer=_openmp) as pool:
        futures = [pool.submit(work, part) for part in drawn]
        try:
            for future in futures:
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _openmp() -> None:
    """Limit OpenMP in this thread: its limit, unlike that of BLAS, is each thread's own."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="openmp")
