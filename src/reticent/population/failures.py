"""Models that could not be made."""

from collections.abc import Iterator
from contextlib import contextmanager

from reticent.errors import ModelError, ReticentError
from reticent.usercode import told

Failure = tuple[int, ReticentError]
"""A model's row, and why it could not be made; the message begins with the row."""


@contextmanager
def about(model: int) -> Iterator[None]:
    """Say in an error, a user's own too, which model it is about."""
    try:
        yield
    except ReticentError as error:
        raise error.prefixed(f"model {model}: ") from error
    except (Exception, SystemExit) as error:
        raise ModelError(f"model {model}: {told(error)}") from error
