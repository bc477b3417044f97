"""How far a long step is, told to whoever listens: from any depth, without a hand through all that lies between."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TypeVar

Part = TypeVar("Part")


class Far(NamedTuple):
    """How far a step is: parts done, of all, and about how many seconds it will take from here, at the pace so far."""

    step: str
    done: int
    total: int
    left: float


_LISTENER: ContextVar[Callable[[Far], None] | None] = ContextVar("listener", default=None)


@contextmanager
def heard(listener: Callable[[Far], None]) -> Iterator[None]:
    """Have a listener told of all steps of this thread until the block ends."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def counted(step: str, parts: Iterable[Part], total: int) -> Iterator[Part]:
    """Go through the parts of a step, and tell after each; of a step without a name nothing is told."""
    tell, begun = _LISTENER.get() if step else None, time.monotonic()
    for done, part in enumerate(parts, start=1):
        yield part
        if tell is not None:
            tell(Far(step, done, total, (time.monotonic() - begun) / done * (total - done)))
