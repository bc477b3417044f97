"""Parts of a computation side by side, a core each: threads, as NumPy and scikit-learn compute without Python's lock.

Each computes on one thread: sums in another order have other last bits, and a machine may have other work.
"""

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

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


CLEARED = "`sklearn.utils.parallel.delayed` should be used with"
"""How scikit-learn's warning begins that finds no filters."""


@contextmanager
def _filters_kept() -> Iterator[None]:
    """Keep the filters of warnings, which are the whole process's.

    scikit-learn clears and sets them back in every fit. Of two at once, the later one sets back what the first had
    cleared, and from then on scikit-learn warns of that (`CLEARED`).
    """
    with warnings.catch_warnings():
        show = warnings.showwarning

        def shown(message: Warning | str, *about: Any) -> None:
            if CLEARED not in str(message):
                show(message, *about)

        warnings.showwarning = shown  # type: ignore[assignment]
        yield


FEW_CELLS = 2**22
"""Below so many numbers, threads cost more than they save."""


def each(work: Callable[[Part], None], parts: Iterable[Part], cells: int = FEW_CELLS, step: str = "") -> None:
    """Do the work of all parts as `ordered` does; they share nothing that they write, and may fit by scikit-learn."""
    with _filters_kept():
        for _ in ordered(work, parts, cells, step):
            pass


def ordered(
    work: Callable[[Part], Made], parts: Iterable[Part], cells: int = FEW_CELLS, step: str = ""
) -> Iterator[Made]:
    """Do the work of all parts, and give what each makes in their order; few wait to be taken.

    What one raises, this raises. Parts are drawn from `parts` before any work begins. Where they are about few numbers
    (`cells`), it is done here. `step` names what is done to whoever listens (`progress`).
    """
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
