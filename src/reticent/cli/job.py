"""How a verb runs its job: progress and warnings on standard error, then what was found and where it lies."""

import threading
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import RenderableType
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from reticent.cli.screen import BARS, say, show, stderr
from reticent.errors import UnwrittenError
from reticent.progress import Far, heard
from reticent.report.kinds import layout
from reticent.report.output import Form, replacing
from reticent.report.render.markdown import markdown

if TYPE_CHECKING:
    from reticent.jobs.base import Reported
    from reticent.population.train import Progress as Trained

USUAL = "training"
"""The stage whose name is not told with its models."""
QUIET = 30.0
"""Seconds between two lines, where no bar can be shown; of another population they may be fewer."""


Result = TypeVar("Result", bound="Reported[Any]")


class Bar(Progress):
    """A bar behind what is done, and below it how far that is."""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Draw both lines."""
        yield self.make_tasks_table(self.tasks)
        yield from (Text(task.fields["facts"], no_wrap=True, overflow="ellipsis") for task in self.tasks)


class Screen:
    """Progress on standard error: a bar on a terminal, else lines as populations begin and end, and now and then."""

    def __init__(self, form: Form, out: Path | None = None) -> None:
        self._console, self._form, self._out = stderr(), form, out
        self.bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self.bar.add_task("training", total=None, facts="")
        self._label, self._text, self._told = USUAL, "", time.monotonic()
        self._waiting: threading.Timer | None = None

    def __enter__(self) -> "Screen":
        BARS.append(self._console)
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._cancel()
        self.bar.stop()
        BARS.remove(self._console)
        self._tell_earlier()

    def model(self, state: "Trained") -> None:
        """Show how far the population is."""
        name = "" if state.asking and self._label == USUAL else self._label
        self.bar.update(self._task, description=name, total=state.total, completed=state.done, facts=str(state))
        whose = "" if self._label == USUAL else f"{self._label}: "
        self._line(f"{whose}{state}", at_once=state.done in {state.found, state.total})

    def step(self, far: Far) -> None:
        """Show how far a long step of the stage is."""
        told = f"{far.step} {100 * far.done // far.total} %"
        if far.done < far.total:
            told += f", {timedelta(seconds=round(far.left))} left"
        self.bar.update(self._task, total=far.total, completed=far.done, facts=told)
        self._line(f"{self._label}: {told}")

    def stage(self, name: str) -> None:
        """Show what is being done."""
        self._tell_earlier()
        self._label = {"report": "writing the report"}.get(name, name)
        self.bar.update(self._task, description=self._label, total=None, completed=0, facts="")
        self._line(self._label)

    def _line(self, text: str, *, at_once: bool = False) -> None:
        """Where no bar can be shown, print a line: once nothing was told for long, and if no other comes before."""
        if self._console.is_terminal:
            return
        self._text, wait = text, self._told + QUIET - time.monotonic()
        if at_once or wait <= 0:
            self._print()
        elif self._waiting is None:
            self._waiting = threading.Timer(wait, self._print)
            self._waiting.daemon = True
            self._waiting.start()

    def _print(self) -> None:
        self._cancel()
        self._told = time.monotonic()
        self.note(self._text)

    def _cancel(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = None

    def note(self, sentence: str) -> None:
        """Show a sentence that stays."""
        say(sentence, to=self._console)

    def _tell_earlier(self) -> None:
        """Say once, when the job has checked everything or has failed, that an earlier report is set aside."""
        if self._out is not None and (told := replacing(self._out, self._form)):
            self.note(told)
        self._out = None


def reported(form: Form, job: Callable[[Screen], Result], out: Path | str | None = None) -> Result:
    """Run a job that writes a report, and show what it found and where it lies; all of it, if that cannot be written.

    A report that is in the way in `out` is told of.
    """
    screen = Screen(form, None if out is None else Path(out))
    try:
        with screen, heard(screen.step):
            done = job(screen)
    except UnwrittenError as error:
        # It may be of another kind than the verb's. The terminal's form leaves to the files what they would hold.
        say(*markdown(layout(error.findings.schema_)(error.findings)).splitlines())
        raise
    show(layout(done.findings.schema_)(done.findings))
    say(*done.files)
    return done
