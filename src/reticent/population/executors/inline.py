"""This process."""

from reticent.population.executors.base import Results, stacks
from reticent.population.population import Population
from reticent.population.worker import Maker
from reticent.store import Store


def results(population: Population, store: Store, models: list[int], *, device: str) -> Results:
    """Make models, or stacks of them, one after the other in this process."""
    maker = Maker(population, store, device)
    for part in stacks(population, models, 1):
        yield from maker.make_all(part)
