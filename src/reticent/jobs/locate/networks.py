"""The networks behind `locate layers`: who trains on what, with which streams, found in the store or trained."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass

import numpy as np
from torch import nn

from reticent import seeds
from reticent.arrays import Bools
from reticent.data.membership import Membership
from reticent.errors import InputError, ModelError
from reticent.jobs.config import Job
from reticent.locate.feature_maps import map_distances
from reticent.locate.group_split import group_split
from reticent.locate.layers import Layers, check_halves, equalised
from reticent.models.stages import stages
from reticent.population.in_store import using
from reticent.population.population import Population
from reticent.population.stored_signals import signals
from reticent.population.train import Callback, train
from reticent.population.training_run import history
from reticent.population.worker import Made, Maker
from reticent.procedures import entry
from reticent.procedures.estimator import Estimator
from reticent.signals.correctness import correct
from reticent.store import Store, at
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

ALL, HALVES = "all", ("half 1", "half 2")
"""What a network is trained on."""
Key = tuple[int, str]
"""Repetition, and what the network is trained on."""


@dataclass(frozen=True, eq=False)
class Network:
    """A network that is in the store, with its accuracy on the test records."""

    maker: Maker
    made: Made
    recipe: Recipe
    accuracy: float

    def epochs(self) -> int:
        """Count the epochs that its training began."""
        return len(history(self.maker.store.whole(self.made.training)).loss)

    def module(self) -> nn.Module:
        """Bring it back from the store."""
        network = self.maker.network(self.made)
        if isinstance(network, Estimator):
            raise ModelError(
                f"{network.name}: layers are those of a network, and this is a classifier in scikit-learn's form: "
                "expected a function that returns a torch.nn.Module"
            )
        return network


class Networks:
    """Who trains on what: one population or, where half of the records get more epochs, two.

    Attributes:
        test: ``(N,)``: audited records that no network is trained on.
        rows: of each network ``(N,)``: the audited records that it is trained on.
        groups: each population with the networks that it is made of.
    """

    def __init__(self, job: Job, options: Layers, share: float) -> None:
        """Divide the audited records into test records and the halves of each repetition."""
        self.job, self.options, self.test, self.rows = job, options, *_divided(job, options, share)
        recipe, parts = job.population.recipe, [list(self.rows)]
        more = equalised(recipe, int(self.rows[0, ALL].sum()), int(self.rows[0, HALVES[0]].sum()), options)
        if more != recipe:
            parts = [[key for key in self.rows if (key[1] == ALL) is whole] for whole in (True, False)]
            if options.seeds == 1:
                raise InputError("equalise = steps: expected seeds of at least 2, got 1: give --seeds 2")
        self.groups = [(self._population(recipe if keys[0][1] == ALL else more, keys), keys) for keys in parts]

    def _population(self, recipe: Recipe, keys: Sequence[Key]) -> Population:
        given = self.job.population
        membership = Membership(np.stack([self.rows[key] for key in keys]))
        drawing = tuple(repetition for repetition, _ in keys)
        return Population(recipe, given.records, given.roles, membership, given.seed, drawing=drawing)

    def check_stages(self) -> None:
        """Ask an untrained network about two records, so that what cannot be compared is known before training."""
        job, (population, _) = self.job, self.groups[0]
        recipe = population.recipe
        if recipe.procedure.method == "function":
            return
        maker = Maker(population, at(job.config.store), job.executor.device)
        network = entry(recipe).network(recipe, maker.materials(0), population.streams(0)).eval()
        two = maker.prepare.examples(job.records, job.population.roles.audited[:2])
        shown = stages(network, self.options.stages)
        map_distances(network, network, two.x, maker.prepare, job.records.classes, shown)

    def asking(self) -> AbstractContextManager[None]:
        """Lend a random stream to networks that draw from torch's own generator when they are asked."""
        return Streams(self.job.config.seed, 0, ("layers",)).lent("asking")

    def stores(self, held: ExitStack) -> list[Store]:
        """Open the store of each group, and keep its models there until the stack ends."""
        return [held.enter_context(using(self.job.config.store, population)) for population, _ in self.groups]

    def finished(self, stores: Sequence[Store], progress: Callback) -> dict[Key, Network]:
        """Train what is not finished."""
        job, found = self.job, dict[Key, Network]()
        for store, (population, keys) in zip(stores, self.groups, strict=True):
            each = train(population, store, executor=job.executor, progress=progress)
            seen, _ = signals(population, store, each)
            right = correct(seen, np.arange(len(keys)))[:, self.test].mean(axis=1).tolist()
            maker = Maker(population, store, job.executor.device)
            known = (Network(maker, *one) for one in zip(each, [population.recipe] * len(keys), right, strict=True))
            found |= dict(zip(keys, known, strict=True))
        return found


def _divided(job: Job, options: Layers, share: float) -> tuple[Bools, dict[Key, Bools]]:
    """Draw the test records, and who is seen by which network; exact duplicates are on one side."""
    seed, audited = job.config.seed, job.population.roles.audited
    groups = job.records.groups[audited]
    test = group_split(groups, share, seeds.rng(seed, "layers", "test"))
    left, rows = np.flatnonzero(~test), dict[Key, Bools]()
    for repetition in range(options.seeds):
        first = group_split(groups[left], 0.5, seeds.rng(seed, "layers", "halves", repetition))
        check_halves(first)
        half = np.zeros(len(audited), dtype=np.bool_)
        half[left[first]] = True
        rows |= {(repetition, ALL): ~test, (repetition, HALVES[0]): half}
        if options.swap:
            rows[repetition, HALVES[1]] = ~test & ~half
    return test, rows
