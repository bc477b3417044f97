"""A pool of spawned processes on this machine."""

import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection, spawn
from typing import Any

from reticent.errors import ModelError
from reticent.interrupts import held_back
from reticent.population.executors.base import Failure, Results, stacks
from reticent.population.population import Population
from reticent.population.worker import Made, Maker
from reticent.store import Store, at

_MAKER: list[Maker] = []
"""The maker of this worker process; filled by `_start`, never in the parent."""


def _start(population: Population, root: str, device: str) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    _MAKER.append(Maker(population, at(root), device))


def _end_with(sentinel: int) -> None:
    """End this process at once when the parent has died, so that its claims are dropped."""
    connection.wait([sentinel])
    os._exit(1)


def _make(models: Sequence[int]) -> list[Made | Failure]:
    return list(_MAKER[0].make_all(models))


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep spawned workers from importing the caller's script: they need nothing of it, and it may lack a guard."""
    main = sys.modules["__main__"]
    kept = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
    for name in kept:
        setattr(main, name, None)
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(main, name, value)


ORPHANED = """
import os, pickle
try:
    {program}
except (EOFError, pickle.UnpicklingError):
    if os.getppid() == {parent}:
        raise
    os._exit(1)
"""
"""What a worker begins with: it says nothing if its parent died before all was told of what to do."""
UNCOUNTED = "ignore:resource_tracker:UserWarning"
"""The process that keeps count of semaphores says nothing either of those that it removes then."""


@contextmanager
def silent_orphans() -> Iterator[None]:
    """Have processes that begin now end without a word if this one is killed meanwhile."""
    usual = spawn.get_command_line

    def command(**given: Any) -> list[str]:
        words = usual(**given)
        if "-c" in words:
            at = words.index("-c") + 1
            words[at] = ORPHANED.format(program=words[at], parent=os.getpid())
        return words

    spawn.get_command_line = command
    sys.warnoptions.append(UNCOUNTED)
    try:
        yield
    finally:
        sys.warnoptions.remove(UNCOUNTED)
        spawn.get_command_line = usual


def results(population: Population, store: Store, models: list[int], *, device: str, workers: int) -> Results:
    """Make models in so many processes of this machine, on one device."""
    context, parts = multiprocessing.get_context("spawn"), stacks(population, models, workers)
    arguments = (population, store.address, device)
    with held_back(), silent_orphans():  # The first semaphore starts a process that keeps count of them.
        pool = ProcessPoolExecutor(min(workers, len(parts)), context, _start, arguments)
    try:
        with _without_main(), held_back(), silent_orphans():
            futures: set[Future[list[Made | Failure]]] = {pool.submit(_make, part) for part in parts}
        while futures:
            done, futures = wait(futures, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()
    except BrokenProcessPool:
        raise ModelError(
            "a worker process ended without an answer (killed, or out of memory): finished models are kept; "
            "run the same command again, with fewer --workers if memory is short"
        ) from None
    finally:
        with held_back():
            _stop(pool)


def _stop(pool: ProcessPoolExecutor) -> None:
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.join(timeout=0.2)
        if process.is_alive():
            process.kill()
    for process in processes:
        process.join(timeout=5)
