"""What every verb has around its job: whom to tell, the clock, and the environment that its document states."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from reticent.findings.environment import Environment
from reticent.jobs.document import peak_memory, versions
from reticent.population.train import Callback


class Work:
    """A verb at work.

    Attributes:
        progress: called after every model.
        started: when it began, ISO 8601.
        seconds: by what they were spent on.
    """

    def __init__(self, stage: Callable[[str], None] | None = None, progress: Callback | None = None) -> None:
        """Start the clock."""
        self._stage, self.progress = stage, progress
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        self.seconds: dict[str, float] = {}

    def tell(self, stage: str) -> None:
        """Say what begins."""
        if self._stage is not None:
            self._stage(stage)

    @contextmanager
    def on(self, name: str, stage: str = "") -> Iterator[None]:
        """Count the seconds of a part of the work, which may be told."""
        if stage:
            self.tell(stage)
        before = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - before

    def environment(self, **more: Any) -> Environment:
        """State where, when and at what cost."""
        return versions(
            started=self.started,
            **{f"seconds_{name}": round(value, 3) for name, value in self.seconds.items()},
            peak_memory_bytes=peak_memory(),
            command=tuple(sys.argv[1:]) if sys.argv and sys.argv[0].endswith("reticent") else (),
            **more,
        )
