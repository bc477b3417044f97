"""How a verb runs its job: progress and warnings on standard error, then what was found and where it lies."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.progress import BarColumn, Progress, TextColumn

from reticent.cli.screen import say, show, stderr
from reticent.errors import UnwrittenError
from reticent.progress import Far, heard
from reticent.report.kinds import layout
from reticent.report.output import Form, set_aside
from reticent.report.render.markdown import markdown
from reticent.rounding import percent

if TYPE_CHECKING:
    from reticent.jobs.base import Reported
    from reticent.population.train import Progress as Trained

USUAL = "training"
"""The stage whose name is not told with its models."""
QUIET = 10.0
"""Seconds without a line after which the stage is told by itself, while it goes on, where no bar can be shown."""


Result = TypeVar("Result", bound="Reported[Any]")


class Screen:
    """Progress on standard error: a bar on a terminal; elsewhere a line each tenth of every population or long step."""

    def __init__(self, form: Form, out: Path | None = None) -> None:
        self._console, self._form, self._out = stderr(), form, out
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[facts]}"),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self.bar.add_task("training", total=None, facts="")
        self._label, self._shown, self._told = USUAL, -1, time.monotonic()
        self._waiting: threading.Timer | None = None

    def __enter__(self) -> "Screen":
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._wait(None)
        self.bar.stop()

    def model(self, state: "Trained") -> None:
        """Show how far the population is."""
        facts = [f"{state.found} found"] if state.found else []
        if state.left is not None and state.done < state.total:
            facts.append(f"{timedelta(seconds=round(state.left))} left")
        if state.accuracy is not None:
            facts.append(f"accuracy {percent(state.accuracy)} on non-members")
        far = f"{'asking ' * state.asking}models {state.done}/{state.total}"
        name = "" if state.asking and self._label == USUAL else self._label
        told = ", ".join([far, *facts])
        self.bar.update(self._task, description=name, total=state.total, completed=state.done, facts=told)
        tenth = 10 * state.done // state.total
        if tenth != self._shown:  # Fewer than before are those of another population.
            self._shown = tenth
            whose = "" if self._label == USUAL else f"{self._label}: "
            self._line(f"{whose}{far}" + (f" ({', '.join(facts)})" if facts else ""))

    def step(self, far: Far) -> None:
        """Show how far a long step of the stage is."""
        told = f"{far.step} {100 * far.done // far.total} %"
        if far.done < far.total:
            told += f", {timedelta(seconds=round(far.left))} left"
        self.bar.update(self._task, total=far.total, completed=far.done, facts=told)
        tenth = 10 * far.done // far.total
        if tenth != self._shown and time.monotonic() - self._told >= QUIET:
            self._shown = tenth
            self._line(f"{self._label}: {told}")

    def stage(self, name: str) -> None:
        """Show what is being done; the first time, since all is checked by then, warn of a report in the way."""
        if self._out is not None:
            self.checked(self._out)
            self._out = None
        label = {"report": "writing the report"}.get(name, name)
        self.bar.update(self._task, description=label, total=None, completed=0, facts="")
        self._label, self._shown = label, -1
        self._wait(label)

    def _wait(self, label: str | None) -> None:
        """Have a stage told once nothing was told for long, in place of the one before; None: no more."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = None
        if label is not None and not self._console.is_terminal:
            left = max(0.0, self._told + QUIET - time.monotonic())
            self._waiting = threading.Timer(left, self._line, (label,))
            self._waiting.daemon = True
            self._waiting.start()

    def _line(self, text: str) -> None:
        """Print a line where no bar can be shown."""
        self._wait(None)
        if not self._console.is_terminal:
            self._told = time.monotonic()
            self.note(text)

    def note(self, sentence: str) -> None:
        """Show a sentence that stays."""
        say(sentence, to=self._console)

    def checked(self, out: Path) -> None:
        """Say before anything runs that an earlier report is set aside, and will be replaced."""
        aside = set_aside(out, self._form)
        if aside is not None:
            self.note(f"{out} holds an earlier report: it lies in {aside} until this one is written, which replaces it")


def reported(form: Form, job: Callable[[Screen], Result], out: Path | str | None = None) -> Result:
    """Run a job that writes a report, and show what it found and where it lies; all of it, if that cannot be written.

    With `out`, a report in the way is told of at the job's first stage; else the job calls `checked`.
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
