"""What every executor gives: models made, and those that could not be."""

from collections.abc import Generator

from reticent.errors import ReticentError
from reticent.population.worker import Made, Maker

Failure = tuple[int, ReticentError]
"""A model's row, and why it could not be made; the message begins with the row."""
Results = Generator[Made | Failure, None, None]


def tried(maker: Maker, model: int) -> Made | Failure:
    """Make one model, or say why it could not be made."""
    try:
        return maker.make(model)
    except ReticentError as error:
        return model, error
