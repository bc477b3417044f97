"""The networks behind `locate layers`: who trains on what, with which streams, found in the store or trained."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import nn

from reticent import seeds
from reticent.data.membership import Membership
from reticent.errors import InputError, ModelError
from reticent.jobs.config import Job
from reticent.locate.feature_maps import map_distances
from reticent.locate.group_split import group_split
from reticent.locate.layers import Layers, check_halves, equalised
from reticent.models.stages import stages
from reticent.population.gather import signals
from reticent.population.population import Population
from reticent.population.train import Callback, train
from reticent.population.using import using
from reticent.population.worker import Made, Maker
from reticent.procedures import PROCEDURES
from reticent.procedures.estimator import Estimator
from reticent.signals.correct import correct
from reticent.store import Store
from reticent.training.streams import Streams

ALL, HALVES = "all", ("half 1", "half 2")
"""What a network is trained on."""
Key = tuple[int, str]
"""Repetition, and what the network is trained on."""


@dataclass(frozen=True, eq=False)
class Split:
    """Who is seen by which network.

    Attributes:
        test: ``(N,)``: audited records that no network is trained on.
        halves: of each repetition, ``(N,)``: the records of the first half; test records are in neither.
    """

    test: NDArray[np.bool_]
    halves: tuple[NDArray[np.bool_], ...]

    def row(self, key: Key) -> NDArray[np.bool_]:
        """Say which records a network is trained on."""
        repetition, what = key
        if what == ALL:
            return ~self.test
        half = self.halves[repetition]
        return half if what == HALVES[0] else ~self.test & ~half


def split(job: Job, options: Layers, share: float) -> Split:
    """Divide the audited records into test records and the halves of each repetition."""
    seed, audited = job.config.seed, job.population.roles.audited
    groups = job.records.groups[audited]
    test = group_split(groups, share, seeds.rng(seed, "layers", "test"))
    left, halves = np.flatnonzero(~test), []
    for repetition in range(options.seeds):
        first = group_split(groups[left], 0.5, seeds.rng(seed, "layers", "halves", repetition))
        check_halves(first)
        half = np.zeros(len(audited), dtype=np.bool_)
        half[left[first]] = True
        halves.append(half)
    return Split(test, tuple(halves))


class Networks:
    """The networks of all repetitions, as one population or, where half of the records get more epochs, as two."""

    def __init__(self, job: Job, options: Layers, share: float) -> None:
        self.job, self.options, self.split = job, options, split(job, options, share)
        halves = HALVES if options.swap else HALVES[:1]
        wholes = [(repetition, ALL) for repetition in range(options.seeds)]
        parts = [(repetition, half) for repetition in range(options.seeds) for half in halves]
        everything, half = (int(self.split.row(key).sum()) for key in (wholes[0], parts[0]))
        recipe = job.population.recipe
        more = equalised(recipe, everything, half, options)
        self.recipes = {ALL: recipe, **dict.fromkeys(HALVES, more)}
        grouped = [[(repetition, what) for repetition in range(options.seeds) for what in (ALL, *halves)]]
        if more != recipe:
            grouped = [wholes, parts]
            if options.seeds == 1:
                raise InputError("equalise = steps: expected seeds of at least 2, got 1: give --seeds 2")
        self.keys: list[Key] = [key for keys in grouped for key in keys]
        self.populations = [self._population(keys) for keys in grouped]
        self._groups = grouped
        self._made: dict[Key, tuple[Maker, Made]] = {}
        self.accuracies: dict[Key, float] = {}

    def _population(self, keys: Sequence[Key]) -> Population:
        given = self.job.population
        matrix = np.stack([self.split.row(key) for key in keys])
        return Population(
            self.recipes[keys[0][1]],
            given.records,
            given.roles,
            Membership(matrix),
            given.seed,
            drawing=tuple(repetition for repetition, _ in keys),
        )

    def check_stages(self) -> None:
        """Ask an untrained network about two records, so that what cannot be compared is known before training."""
        job, population = self.job, self.populations[0]
        recipe = population.recipe
        if recipe.procedure.method == "function":
            return
        maker = Maker(population, Store(Path(job.config.store)), job.device)
        network = PROCEDURES[recipe.procedure.method].network(recipe, maker.materials(0), population.streams(0)).eval()
        two = maker.prepare.examples(job.records, job.population.roles.audited[:2])
        shown = stages(network, self.options.stages)
        map_distances(network, network, two.x, maker.prepare, job.records.classes, shown)

    def asking(self) -> AbstractContextManager[None]:
        """Lend a random stream to networks that draw from torch's own generator when they are asked."""
        return Streams(self.job.config.seed, 0, ("layers",)).lent("asking")

    @contextmanager
    def finished(self, progress: Callback | None) -> Iterator["Networks"]:
        """Train what is not finished, and keep it in the store until the block ends."""
        job = self.job
        store = Store(Path(job.config.store)).open()
        with ExitStack() as held:
            for population in self.populations:
                held.enter_context(using(job.config.store, population))
            for population, keys in zip(self.populations, self._groups, strict=True):
                found = train(population, store, workers=job.workers, device=job.device, progress=progress)
                maker = Maker(population, store, job.device)
                self._made |= {key: (maker, made) for key, made in zip(keys, found, strict=True)}
            self.accuracies = self._accuracies(store)
            yield self

    def made(self, key: Key) -> Made:
        """Say what was measured of a network."""
        return self._made[key][1]

    def maker(self, key: Key) -> Maker:
        """Return what made a network."""
        return self._made[key][0]

    def network(self, key: Key) -> nn.Module:
        """Bring a network back from the store."""
        maker, made = self._made[key]
        network = maker.network(made)
        if isinstance(network, Estimator):
            raise ModelError(
                f"{network.name}: layers are those of a network, and this is a classifier in scikit-learn's form: "
                "expected a function that returns a torch.nn.Module"
            )
        return network

    def _accuracies(self, store: Store) -> dict[Key, float]:
        """Compute each network's accuracy on the test records."""
        shares: dict[Key, float] = {}
        for population, keys in zip(self.populations, self._groups, strict=True):
            seen, _ = signals(population, store, [self.made(key) for key in keys])
            right = correct(seen, np.arange(len(keys)))[:, self.split.test].mean(axis=1)
            shares |= dict(zip(keys, right.tolist(), strict=True))
        return shares
