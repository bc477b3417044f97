"""A population in a store: how many of its models are finished, and keeping them there while a job needs them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reticent.errors import StoreError
from reticent.population.population import Population
from reticent.spec import identity
from reticent.store import Store, at


@contextmanager
def using(store: str | Path, population: Population) -> Iterator[Store]:
    """Open a store, and keep others from removing what a population has there, or will have, until the block ends."""
    rows = range(population.models)
    runs = [run for model in rows for run in population.run_ids(model)]
    runs += [before.training_id(model) for before in population.stages[1:] for model in rows]
    scores = [population.memorisation_spec(model) for model in rows]
    runs += [identity(one) for one in scores if one is not None]
    opened = at(store).open()
    if opened.read_only and (there := finished(store, population)) < population.models:
        raise StoreError(
            f"the store {store} may only be read, and {there} of the {population.models} models are there: give "
            "another --store, or train them where it can be written"
        )
    with opened.using(runs):
        yield opened


def unfinished(store: str | Path, population: Population) -> int:
    """Count the models of a population that are still to make."""
    return population.models - finished(store, population)


def finished(store: str | Path, population: Population) -> int:
    """Count the models of a population that a store has; whether they are whole is not looked at."""
    place = at(store)
    return sum(
        any(map(place.ended, (population.signals_id(model), population.training_id(model))))
        for model in range(population.models)
    )
