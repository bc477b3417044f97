"""What every verb has around its job: whom to tell, the clock, and the environment that its document states."""

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from reticent.arrays import Floats, Ints
from reticent.findings.audit import AuditDocument
from reticent.findings.environment import Environment
from reticent.findings.records import RecordRow
from reticent.findings.training import Stacking
from reticent.jobs.config import Job
from reticent.jobs.document import peak_memory, versions
from reticent.population import stack_timing
from reticent.population.stacking import AUTO
from reticent.population.train import Callback, Progress
from reticent.population.worker import Made
from reticent.spec import canonical
from reticent.store import Store, at


def chosen(job: Job, store: Store) -> Stacking | None:
    """Find what was measured to pick how many models are trained together, where that was left to us."""
    found = stack_timing.recorded(job.population, store) if job.config.stack == AUTO else None
    if found is None or found.stack != job.population.stack:
        return None
    return Stacking(stack=found.stack, microseconds=found.microseconds)


log = logging.getLogger(__name__)


class Told(Protocol):
    """A document whose finding is told in one sentence."""

    @property
    def sentence(self) -> str:
        """The finding."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""


Found = TypeVar("Found", bound=Told)


@dataclass(frozen=True, eq=False)
class Reported(Generic[Found]):
    """What a verb found, and the files of its report, the document last."""

    findings: Found
    files: tuple[Path, ...]

    @cached_property
    def document(self) -> dict[str, Any]:
        """The document as plain values, as its JSON file holds them."""
        return self.findings.to_json()

    @property
    def sentence(self) -> str:
        """The finding in one sentence."""
        return self.findings.sentence


@dataclass(frozen=True, eq=False)
class RecordsReported(Reported[Found]):
    """What a verb found of every record, the most exposed first."""

    records: Sequence[RecordRow]

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """What ``records.csv`` holds: one mapping a record, the most exposed first."""
        return [row.to_json() for row in self.records]


@dataclass(frozen=True, eq=False)
class AuditReported(RecordsReported[AuditDocument]):
    """An audit, and its report.

    Attributes:
        scores: by attack, ``(T, N)``, higher means member.
        ids: numbers of the N audited records among all of the data set.
        p_member: how likely a margin as high as the target's is if it was not trained on the record, ``(T, N)``; None
            where too few models are there to compare with.
    """

    scores: dict[str, Floats]
    ids: Ints
    p_member: Floats | None


class Pieces:
    """How far a work of several pieces is.

    Attributes:
        kind: what a piece is called.
        then: what follows them, whose size is not known before.
        sizes: how much there is to make of each. Of what is found that is nothing, and its seconds are not counted.
    """

    def __init__(self, kind: str, sizes: Sequence[float], then: str = "") -> None:
        """Start the clock."""
        self.kind, self.sizes, self.then = kind, sizes, then
        self._at, self._made, self._before, self._began = 0, 0.0, 0.0, time.monotonic()
        self._end: float | None = None

    def begin(self) -> str:
        """Go on to the next piece, and say which it is."""
        if self._at:
            self.made(self.sizes[self._at - 1])
        now = time.monotonic()
        if self._at and self.sizes[self._at - 1]:
            self._before += now - self._began
        self._at, self._began = self._at + 1, now
        return f"{self.kind} {self._at} of {len(self.sizes)}" + f", then {self.then}" * bool(self.then)

    def made(self, size: float) -> None:
        """Count what was made of this piece, at most all of it."""
        now = time.monotonic()
        self._made = min(self._made + size, sum(self.sizes[: self._at]))
        if size and self._made and self.sizes[self._at - 1]:
            pace = (self._before + now - self._began) / self._made
            self._end = now + pace * (sum(self.sizes) - self._made)

    def told(self, far: Progress) -> Progress:
        """Have a population tell what is left of all pieces, at the pace so far, once something was made."""
        if self._end is None:
            return far
        return replace(far, left=max(0.0, self._end - time.monotonic()), of=f"all {self.kind}s")


class Work:
    """A verb at work, or a piece of it: when it began (ISO 8601), and seconds by what they were spent on."""

    def __init__(self, stage: Callable[[str], None] | None = None, progress: Callback | None = None) -> None:
        """Start the clock."""
        self._stage, self._progress = stage, progress
        self._pieces = Pieces("", ())
        self._name, self._of, self._model = "", self._pieces, 0.0
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        self.seconds: dict[str, float] = {}

    def divide(self, kind: str, sizes: Sequence[float], then: str = "") -> None:
        """Say what pieces come now, how much there is to make of each, and what follows that cannot be counted yet."""
        self._pieces = Pieces(kind, sizes, then)

    def piece(self, name: str, model: float = 1.0) -> "Work":
        """Begin the next piece, of whose size a model is so much."""
        part = Work(self._stage, self._progress)
        place = self._pieces.begin()
        if len(self._pieces.sizes) > 1:
            part._of, part._model, name = self._pieces, model, f"{name} ({place})"
        part._name = f"{name}: "
        return part

    def tell(self, stage: str) -> None:
        """Say what begins, also to the log."""
        stage = self._name + stage
        log.info("%s", stage)
        if self._stage is not None:
            self._stage(stage)

    def progress(self, far: Progress) -> None:
        """Say how far a population is, at each tenth also to the log."""
        if self._of.sizes:
            if far.done > far.found and not far.asking:
                self._of.made(self._model)
            far = self._of.told(far)
        if far.total and 10 * far.done // far.total > 10 * (far.done - 1) // far.total:
            log.info("%s", far)
        if self._progress is not None:
            self._progress(far)

    @contextmanager
    def on(self, name: str, stage: str = "") -> Iterator[None]:
        """Count the seconds of a part of the work, which may be told."""
        if stage:
            self.tell(stage)
        before = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - before

    def trained(self, job: Job, made: Sequence[Made], **more: Any) -> Environment:
        """State it of a job whose models were trained or found."""
        found = sum(not one.fresh for one in made)
        more["seconds_models"] = round(sum(one.facts.seconds for one in made), 3)
        return self.environment(
            stacking=chosen(job, at(job.config.store)),
            device=job.executor.device,
            workers=job.executor.workers,
            models_found=found,
            config=canonical(job.config),
            **more,
        )

    def environment(self, **more: Any) -> Environment:
        """State where, when and at what cost."""
        return versions(
            started=self.started,
            **{f"seconds_{name}": round(value, 3) for name, value in self.seconds.items()},
            peak_memory_bytes=peak_memory(),
            command=tuple(sys.argv[1:]) if sys.argv and sys.argv[0].endswith("reticent") else (),
            **more,
        )
