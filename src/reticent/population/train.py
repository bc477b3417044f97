"""Train a population: what is finished is found, the rest is made by an executor."""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta

from reticent.errors import CorruptRunError, FullStoreError, ReticentError, StoreLockedError
from reticent.population.current import Check, checker
from reticent.population.executors import AUTO, Executor, Failure
from reticent.population.population import Population
from reticent.population.worker import Made, find
from reticent.rounding import percent
from reticent.store import Store

GIVE_UP = 3
"""So many failures without one success end the training of a population."""
VAIN = 3
"""So many passes in a row over models that another process held, without a new model, are made at most."""
LOOKS = 12
"""So often at most is it looked whether what another process held is free: each look may be requests to a server."""
SHOWN = 5
"""So many reasons are told at most."""


@dataclass(frozen=True)
class Progress:
    """How far a population is.

    Attributes:
        seconds: since the start.
        left: seconds that the rest will take at the pace so far, or None before the first model.
        accuracy: mean accuracy on non-members so far, or None.
        asking: every model was trained before, and those left are only asked further questions.
        of: what `left` is of, where the population is a piece of more.
    """

    done: int
    total: int
    found: int
    seconds: float
    left: float | None
    accuracy: float | None
    asking: bool = False
    of: str = ""

    def __str__(self) -> str:
        told = [f"{'asking ' * self.asking}models {self.done}/{self.total}"]
        if self.found:
            told.append(f"{self.found} found")
        if self.left:
            told.append(f"{timedelta(seconds=round(self.left))} left" + f" for {self.of}" * bool(self.of))
        if self.accuracy is not None:
            told.append(f"accuracy {percent(self.accuracy)} on non-members")
        return ", ".join(told)


Callback = Callable[[Progress], None]


def train(
    population: Population,
    store: Store,
    *,
    executor: Executor = AUTO,
    progress: Callback | None = None,
) -> list[Made]:
    """Make every model of a population that is not finished yet.

    What another process holds is left for later, and tried again when the others are made: it is found if that process
    finished it, and made here if that process died.
    """
    started = time.perf_counter()
    check = checker(population)
    made = found(population, store, check)
    waiting, earlier = [m for m in range(population.models) if m not in made], len(made)
    asking = bool(waiting) and all(store.ended(population.training_id(m)) for m in waiting)

    def report() -> None:
        seconds, total, new = time.perf_counter() - started, population.models, len(made) - earlier
        accuracies = [one.facts.accuracy_non_members for one in made.values()]
        mean = sum(accuracies) / len(accuracies) if accuracies else None
        left = seconds / new * (total - len(made)) if new else None
        if progress is not None:
            progress(Progress(len(made), total, earlier, seconds, left, mean, asking))

    def gave_up(failures: list[Failure]) -> bool:
        """So many models failed that others would too, or the store is full."""
        full = any(isinstance(error, FullStoreError) for _, error in failures)
        # What is corrupt or locked says nothing of others.
        real = sum(not isinstance(error, (CorruptRunError, StoreLockedError)) for _, error in failures)
        return full or (len(made) == earlier and real >= GIVE_UP)

    def attempt(models: list[int]) -> list[Failure]:
        failures: list[Failure] = []
        with closing(executor.results(population, store, models)) as results:
            for result in results:
                if isinstance(result, Made):
                    check(result)
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


def found(population: Population, store: Store, check: Check) -> dict[int, Made]:
    """Find the models that are finished, by row."""
    rows = ((model, find(population, store, model)) for model in range(population.models))
    whole = {model: one for model, one in rows if one is not None}
    for one in whole.values():
        check(one)
    return whole


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
    """List the models that another process held when their turn came; none if all are still being made.

    Where the claim of a process that died holds for a while, that is waited for.
    """
    locked = [model for model, error in failures if isinstance(error, StoreLockedError)]
    end = time.monotonic() + store.lingers
    while locked and not any(_free(population, store, model) for model in locked):
        if time.monotonic() >= end:
            return []
        time.sleep(store.lingers / LOOKS)
    return locked


def _free(population: Population, store: Store, model: int) -> bool:
    """Tell whether no live process makes a model now: it was finished meanwhile, or its maker died."""
    try:
        return all(store.holder(run) is None for run in population.run_ids(model))
    except OSError:
        return False
