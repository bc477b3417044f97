"""Which is faster: models trained one by one, or so many of them as one batched computation. Measured once a store.

Both ways have names of their own, so what was measured is kept in the store, and holds there from then on: else the
same command would train other models whenever the clock says something else.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from reticent.errors import ModelError
from reticent.findings.training import StackingFacts
from reticent.population.population import Population
from reticent.population.worker import Maker
from reticent.procedures import entry
from reticent.procedures.costs import cut
from reticent.samplers.shuffle import Shuffle
from reticent.spec import Spec, canonical, full, identity
from reticent.store import Draft, Store
from reticent.torch_state import fixed
from reticent.training.materials import Materials
from reticent.training.memory import ran_out
from reticent.training.recipe import Recipe, Untouched
from reticent.training.run import batch_sizes

TOGETHER = (4, 8, 16)
"""So many models are tried together."""
SECONDS = 0.04
"""How long a model is trained to see how fast it is."""
LONGER = 4
"""The models of a stack take so many times as many steps in all: more comes before these, to be told apart."""
BATCHES = 16
"""Of an epoch at most."""
REPEATS = 2
SHORTEST = 1e-6
"""Seconds of one model's step at least: of what a coarse clock, or a moment's other work, makes nothing or less."""
GUESSED = 1e-5
"""The same where it is guessed how many steps fill `SECONDS`."""
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

    They are trained on a few batches for one epoch, and for more: the difference is what steps take, without what
    comes before them. On the CPU it is the process's own time, which other processes change less.
    """
    first = population.stages[-1]
    try:
        maker = Maker(first, store, device)
    except ModelError as error:
        raise error.prefixed("stack: auto measures on this machine; give a number: ") from None
    recipe = first.recipe.replace(sampler=Shuffle())
    given = [
        replace(maker.materials(row), watched=None, traced=False) for row in range(min(first.models, TOGETHER[-1]))
    ]
    probe = _Probe(first, recipe, given, cpu=maker.device.type == "cpu")
    probe.step(1, batches=2, epochs=2)  # What is loaded at the first step is loaded now.
    steps = SECONDS / max(GUESSED, probe.step(1, batches=2, epochs=2))
    found = {1: probe.step(1, *_few(steps))}
    for count in TOGETHER:
        if count > len(given):
            break
        try:
            found[count] = probe.step(count, *_few(LONGER * steps / count))
        except Exception as error:
            if not ran_out(error):
                raise
            break
        if found[count] > NEAR * min(found.values()):
            break
    return found


def _few(steps: float) -> tuple[int, int]:
    """Say of how many batches, and for how many epochs, so many steps are."""
    batches = int(min(BATCHES, max(2, steps)))
    return batches, int(max(1, steps / batches))


class _Probe:
    def __init__(self, population: Population, recipe: Recipe, given: Sequence[Materials], *, cpu: bool) -> None:
        self._population, self._recipe, self._given = population, recipe, given
        self._clock = time.process_time if cpu else time.perf_counter

    def step(self, count: int, batches: int, epochs: int) -> float:
        """Measure seconds of one model's step, where so many are trained together."""
        size = self._recipe.batch_size
        given = [replace(one, members=one.members.first(batches * size)) for one in self._given[:count]]
        steps = sum(len(batch_sizes(len(one.members), size)) for one in given)
        # The quickest of each, not the smallest difference: that would be where the short training was disturbed.
        longer, shorter = (min(self._seconds(number, given) for _ in range(REPEATS)) for number in (1 + epochs, 1))
        return max(SHORTEST, (longer - shorter) / (epochs * steps))

    def _seconds(self, epochs: int, given: Sequence[Materials]) -> float:
        recipe, procedure = cut(self._recipe, epochs), entry(self._recipe)
        streams = [self._population.streams(row) for row in range(len(given))]
        started = self._clock()
        if len(given) == 1:
            procedure.train(recipe, given[0], streams[0])
        else:
            assert procedure.together is not None, "what is measured can be trained together"
            procedure.together(recipe, given, streams)
        return self._clock() - started
