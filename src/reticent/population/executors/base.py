"""What every executor gives: models made, and those that could not be."""

import math
from collections.abc import Generator, Sequence

from reticent.population.failures import Failure
from reticent.population.population import Population
from reticent.population.worker import Made

__all__ = ["Failure", "Results", "stacks"]

Results = Generator[Made | Failure, None, None]


def stacks(population: Population, models: Sequence[int], workers: int) -> list[list[int]]:
    """Divide models into those that are trained as one batched computation, as many as keep every process busy."""
    rounds = math.ceil(len(models) / (population.stack * workers))
    size = math.ceil(len(models) / (rounds * workers)) if rounds else 1
    return [list(models[start : start + size]) for start in range(0, len(models), size)]
