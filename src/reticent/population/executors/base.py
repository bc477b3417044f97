"""What every executor gives: models made, and those that could not be."""

import math
from collections.abc import Generator, Sequence

from reticent.errors import ReticentError
from reticent.population.population import Population
from reticent.population.worker import Failure, Made, Maker

__all__ = ["Failure", "Results", "stacks", "tried"]

Results = Generator[Made | Failure, None, None]


def tried(maker: Maker, model: int) -> Made | Failure:
    """Make one model, or say why it could not be made."""
    try:
        return maker.make(model)
    except ReticentError as error:
        return model, error


def stacks(population: Population, models: Sequence[int], workers: int) -> list[list[int]]:
    """Divide models into those that are trained as one batched computation, as many as keep every process busy."""
    rounds = math.ceil(len(models) / (population.stack * workers))
    size = math.ceil(len(models) / (rounds * workers)) if rounds else 1
    return [list(models[start : start + size]) for start in range(0, len(models), size)]
