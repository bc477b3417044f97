"""Parts of a computation side by side, a core each: threads, as NumPy and scikit-learn compute without Python's lock.

Each computes on one thread: sums in another order have other last bits, and a machine may have other work.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import TypeVar

from reticent.progress import counted

Part = TypeVar("Part")
Made = TypeVar("Made")

MOST = 8
"""Parts at once: each holds blocks of its own."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread, of OpenMP and of BLAS."""
    from threadpoolctl import threadpool_limits

    import_module("sklearn")  # It brings an OpenMP of its own, and what is not loaded yet is not limited.
    with threadpool_limits(limits=1):
        yield


FEW_CELLS = 2**22
"""Numbers of which there is too little to do for threads."""


def each(work: Callable[[Part], None], parts: Iterable[Part], cells: int = FEW_CELLS, step: str = "") -> None:
    """Do the work of all parts, which share nothing that they write; what one raises, this raises.

    Parts are drawn from `parts` before any work begins. Where they are about few numbers (`cells`), it is done here.
    `step` names what is done to whoever listens (`progress`).
    """
    drawn = list(parts)
    if cells < FEW_CELLS:
        for part in counted(step, drawn, len(drawn)):
            work(part)
        return
    with one_thread(), ThreadPoolExecutor(max(1, min(cores(), MOST, len(drawn))), initializer=_openmp) as pool:
        futures = [pool.submit(work, part) for part in drawn]
        try:
            for future in counted(step, futures, len(drawn)):
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def ordered(
    work: Callable[[Part], Made], parts: Iterable[Part], cells: int = FEW_CELLS, step: str = ""
) -> Iterator[Made]:
    """Do the work of all parts as `each` does, and give what each makes in their order; few wait to be taken."""
    drawn = list(parts)
    if cells < FEW_CELLS:
        yield from map(work, counted(step, drawn, len(drawn)))
        return
    most = max(1, min(cores(), MOST, len(drawn)))
    with one_thread(), ThreadPoolExecutor(most, initializer=_openmp) as pool:
        waiting = deque(pool.submit(work, part) for part in drawn[: most + 1])
        try:
            for place in counted(step, range(len(drawn)), len(drawn)):
                made = waiting.popleft().result()
                if place + most + 1 < len(drawn):
                    waiting.append(pool.submit(work, drawn[place + most + 1]))
                yield made
        finally:
            pool.shutdown(cancel_futures=True)


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _openmp() -> None:
    """Limit OpenMP in this thread: its limit, unlike that of BLAS, is each thread's own."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="openmp")
