"""Train a population: what is finished is found, the rest is made inline or by a pool of spawned processes."""

import math
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing import connection, spawn
from pathlib import Path
from typing import Any

import torch

from reticent.errors import CorruptRunError, ModelError, ReticentError, StoreLockedError
from reticent.interrupts import held_back
from reticent.population.population import Population
from reticent.population.worker import Failure, Made, Maker, find
from reticent.store import Store

GIVE_UP = 3
"""So many failures without one success end the training of a population."""
VAIN = 3
"""So many passes in a row over models that another process held, without a new model, are made at most."""
SHOWN = 5
"""So many reasons are told at most."""


@dataclass(frozen=True)
class Progress:
    """How far a population is.

    Attributes:
        done: models made or found.
        total: models M.
        found: how many were finished before.
        seconds: since the start.
        left: seconds that the rest will take at the pace so far, or None before the first model.
        accuracy: mean accuracy on non-members so far, or None.
        asking: every model was trained before, and those left are only asked further questions.
    """

    done: int
    total: int
    found: int
    seconds: float
    left: float | None
    accuracy: float | None
    asking: bool = False


Callback = Callable[[Progress], None]
Results = Generator[Made | Failure, None, None]


def choose_device(wish: str) -> str:
    """Turn a wish into a device's name."""
    if wish == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if wish.partition(":")[0] not in {"cpu", "cuda"}:
        raise ModelError(f"device: expected auto, cpu, cuda or cuda:N, got {wish!r}")
    if wish.startswith("cuda") and not torch.cuda.is_available():
        raise ModelError(
            f"device {wish!r}: this machine, or this build of PyTorch ({torch.__version__}), has no CUDA device"
        )
    return wish


def train(
    population: Population, store: Store, *, workers: int = 1, device: str = "cpu", progress: Callback | None = None
) -> list[Made]:
    """Make every model of a population that is not finished yet.

    What another process holds is left for later, and tried again when the others are made: it is found if that process
    finished it, and made here if that process died.
    """
    started = time.perf_counter()
    found = {m: find(population, store, m) for m in range(population.models)}
    made = {m: one for m, one in found.items() if one is not None}
    waiting, earlier = [m for m in found if m not in made], len(made)
    asking = bool(waiting) and all(store.ended(population.training_id(m)) for m in waiting)
    maker = Maker(population, store, device) if workers == 1 and waiting else None

    def report() -> None:
        if progress is None:
            return
        seconds, total, new = time.perf_counter() - started, population.models, len(made) - earlier
        accuracies = [one.facts.accuracy_non_members for one in made.values()]
        mean = sum(accuracies) / len(accuracies) if accuracies else None
        left = seconds / new * (total - len(made)) if new else None
        progress(Progress(len(made), total, earlier, seconds, left, mean, asking))

    def gave_up(failures: list[Failure]) -> bool:
        """So many models failed that others would too; what is corrupt or locked says nothing of others."""
        real = sum(not isinstance(error, (CorruptRunError, StoreLockedError)) for _, error in failures)
        return len(made) == earlier and real >= GIVE_UP

    def attempt(models: list[int]) -> list[Failure]:
        failures: list[Failure] = []
        parts = stacks(population, models, workers)
        results = (
            (made for part in parts for made in maker.make_all(part))
            if maker
            else _pool(population, store, device, workers, parts)
        )
        with closing(results):
            for result in results:
                if isinstance(result, Made):
                    made[result.model] = result
                    report()
                else:
                    failures.append(result)
                if gave_up(failures):
                    break
        return failures

    report()
    failures, vain = attempt(waiting) if waiting else [], 0
    while vain < VAIN and not gave_up(failures) and (locked := _again(population, store, failures)):
        before = len(made)
        failures = [one for one in failures if one[0] not in locked] + attempt(locked)
        vain = 0 if len(made) > before else vain + 1
    if failures:
        raise _failure(failures, len(made), population.models)
    return [made[m] for m in range(population.models)]


def _failure(failures: list[Failure], done: int, total: int) -> ReticentError:
    """Put the failures of a population together: each reason once, with the models that it holds for."""
    real = [one for one in failures if not isinstance(one[1], StoreLockedError)] or failures
    reasons: dict[str, list[int]] = {}
    for model, error in real:
        reasons.setdefault(str(error).removeprefix(f"model {model}: "), []).append(model)
    told = []
    for reason, (model, *others) in ((reason, sorted(models)) for reason, models in reasons.items()):
        same = f"\n  model{'s' * (len(others) > 1)} {', '.join(map(str, others))}: the same" if others else ""
        told.append(f"model {model}: {reason}{same}")
    shown = "\n".join(f"  {one}" for one in told[:SHOWN]) + ("\n  ..." if len(told) > SHOWN else "")
    left = total - done - len(failures)
    untried = f"; {left} {'was' if left == 1 else 'were'} not tried after that" if left else ""
    kept = f"{done} {'is' if done == 1 else 'are'} finished and kept{untried}"
    locked = isinstance(real[0][1], StoreLockedError)
    what = f"{'is' if len(real) == 1 else 'are'} being made by another process" if locked else "could not be made"
    return real[0][1].retold(f"{len(failures)} of {total} models {what} ({kept}):\n{shown}")


def _again(population: Population, store: Store, failures: list[Failure]) -> list[int]:
    """List the models that another process held when their turn came; none if all are still being made."""
    locked = [model for model, error in failures if isinstance(error, StoreLockedError)]
    return locked if any(_free(population, store, model) for model in locked) else []


def _free(population: Population, store: Store, model: int) -> bool:
    """Tell whether no live process makes a model now: it was finished meanwhile, or its maker died."""
    try:
        return all(store.holder(run) is None for run in population.run_ids(model))
    except OSError:
        return False


def stacks(population: Population, models: Sequence[int], workers: int) -> list[list[int]]:
    """Divide models into those that are trained as one batched computation, as many as keep every process busy."""
    rounds = math.ceil(len(models) / (population.stack * workers))
    size = math.ceil(len(models) / (rounds * workers)) if rounds else 1
    return [list(models[start : start + size]) for start in range(0, len(models), size)]


_MAKER: list[Maker] = []
"""The maker of this worker process; filled by `_start`, never in the parent."""


def _start(population: Population, root: str, device: str) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    _MAKER.append(Maker(population, Store(Path(root)), device))


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


def _pool(population: Population, store: Store, device: str, workers: int, waiting: list[list[int]]) -> Results:
    context = multiprocessing.get_context("spawn")
    arguments = (population, str(store.root.resolve()), device)
    with held_back(), silent_orphans():  # The first semaphore starts a process that keeps count of them.
        pool = ProcessPoolExecutor(min(workers, len(waiting)), context, _start, arguments)
    try:
        with _without_main(), held_back(), silent_orphans():
            futures: set[Future[list[Made | Failure]]] = {pool.submit(_make, models) for models in waiting}
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
