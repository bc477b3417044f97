"""Which is faster: models trained one by one, or so many of them as one batched computation. Measured once a store.

Both ways have names of their own, so what was measured is kept in the store, and holds there from then on: else the
same command would train other models whenever the clock says something else.
"""

import time
from dataclasses import replace

from reticent.errors import ModelError
from reticent.findings.training import StackingFacts
from reticent.population.population import Population
from reticent.population.worker import Maker
from reticent.procedures.costs import cut
from reticent.procedures.plain import epochs
from reticent.samplers.shuffle import Shuffle
from reticent.spec import Spec, canonical, full, identity
from reticent.store import Draft, Store
from reticent.torch_state import fixed
from reticent.training.memory import ran_out
from reticent.training.recipe import Recipe, Untouched
from reticent.training.run import batch_sizes

TOGETHER = (4, 8, 16)
"""So many models are tried together."""
SECONDS = 0.04
"""An epoch of a model alone takes about so long, if that is `BATCHES` batches or fewer."""
BATCHES = 8
EPOCHS = 4
"""Epochs that are timed, after one that is not; the quickest counts, which other work disturbed least."""
SHORTEST = 1e-6
"""Lower bound on the measured seconds of a step, for clocks too coarse to see it."""
GAIN = 1.05
"""How many times as fast models must be together."""
NEAR = 1.1
"""More are tried while they take at most so many times as long as the fastest so far."""
PATIENCE = 120.0
"""Seconds that another process has to measure the same."""


class StackingRun(Spec):
    """What a run that tells how models are trained is made from."""

    kind: str
    recipe: Recipe
    data: str


def recorded(population: Population, store: Store) -> StackingFacts | None:
    """Find what was measured of a population's first training."""
    run = store.find(identity(_spec(population)))
    return None if run is None else run.read(StackingFacts)


def picked(population: Population, store: Store, device: str) -> StackingFacts:
    """Find what was measured, or measure it, and keep it; a process that measures the same is waited for."""
    spec = _spec(population)

    def make(draft: Draft) -> None:
        found = measured(population, store, device)
        best = min(found, key=found.__getitem__)
        draft.write_json("spec.json", canonical(spec) | {"recipe": full(spec.recipe)})
        draft.facts = StackingFacts(
            data=population.records.name,
            device=device,
            stack=best if found[1] > GAIN * found[best] else 1,
            microseconds={str(count): round(1e6 * seconds, 1) for count, seconds in found.items()},
        ).to_json()

    run, _ = store.open().found_or_made(identity(spec), make, patience=PATIENCE)
    return run.read(StackingFacts)


def _spec(population: Population) -> StackingRun:
    first = population.stages[-1]
    return StackingRun(kind="stacking", recipe=first.recipe.replace(output=Untouched()), data=population.records.digest)


@fixed()
def measured(population: Population, store: Store, device: str) -> dict[int, float]:
    """Measure the seconds of one model's step, by how many models are trained together; 1 is alone.

    They are trained for a few short epochs. On the CPU it is the process's own time, which other processes change less;
    one model alone is measured before the stacks and after them.
    """
    first = population.stages[-1]
    try:
        maker = Maker(first, store, device)
    except ModelError as error:
        raise error.prefixed("stack: auto measures on this machine; give a number: ") from None
    clock = time.process_time if maker.device.type == "cpu" else time.perf_counter
    recipe = cut(first.recipe.replace(sampler=Shuffle()), 1 + EPOCHS)
    rows = range(min(first.models, TOGETHER[-1]))
    given = [replace(maker.materials(row), watched=None, traced=False) for row in rows]

    def step(count: int, batches: int) -> float:
        short = [replace(one, members=one.members.first(batches * recipe.batch_size)) for one in given[:count]]
        epoch = epochs(recipe, short, [first.streams(row) for row in rows[:count]])
        took = list[float]()
        for number in range(1 + EPOCHS):
            started = clock()
            epoch(number)
            took.append(clock() - started)
        steps = sum(len(batch_sizes(len(one.members), recipe.batch_size)) for one in short)
        return max(SHORTEST, min(took[1:]) / steps)

    with first.streams(0).lent("timing"):
        batches = int(min(BATCHES, max(1, SECONDS / step(1, 1))))
        found = {1: step(1, batches)}
        for count in TOGETHER:
            if count > len(given):
                break
            try:
                found[count] = step(count, batches)
            except Exception as error:
                if not ran_out(error):
                    raise
                break
            if found[count] > NEAR * min(found.values()):
                break
        found[1] = min(found[1], step(1, batches))
    return found
