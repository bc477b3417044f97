"""This process."""

from reticent.population.executors.base import Results, tried
from reticent.population.population import Population
from reticent.population.worker import Maker
from reticent.store import Store


def results(population: Population, store: Store, models: list[int], *, device: str) -> Results:
    """Make models one after the other in this process."""
    maker = Maker(population, store, device)
    for model in models:
        yield tried(maker, model)
