"""What a person sees while models are trained: how many are done, the time left, the accuracy so far."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from reticent.cli.screen import stderr
from reticent.rounding import percent

if TYPE_CHECKING:
    from rich.console import Console

    from reticent.population.train import Progress


USUAL = "training"
"""The stage whose name is not told with its models."""
QUIET = 10.0
"""Seconds without a line after which the next stage is told by itself, where no bar can be shown."""


class Screen(Protocol):
    """What a job tells a person."""

    def model(self, state: "Progress") -> None:
        """Show how far the population is."""

    def stage(self, name: str) -> None:
        """Show what is being done."""

    def note(self, sentence: str) -> None:
        """Show a sentence that stays."""


class _Screen:
    def __init__(self, bar: Bar, console: "Console") -> None:
        self._bar, self._console = bar, console
        self._task = bar.add_task("training", total=None, facts="")
        self._label, self._shown, self._told = USUAL, -1, time.monotonic()

    def model(self, state: "Progress") -> None:
        facts = [f"{state.found} found"] if state.found else []
        if state.left is not None and state.done < state.total:
            facts.append(f"{timedelta(seconds=round(state.left))} left")
        if state.accuracy is not None:
            facts.append(f"accuracy {percent(state.accuracy)} on non-members")
        self._bar.update(self._task, total=state.total, completed=state.done, facts=", ".join(facts))
        tenth = 10 * state.done // state.total
        if tenth != self._shown:  # Fewer than before are those of another population.
            self._shown = tenth
            whose = "" if self._label == USUAL else f"{self._label}: "
            self._line(f"{whose}models {state.done}/{state.total}" + (f" ({', '.join(facts)})" if facts else ""))

    def stage(self, name: str) -> None:
        usual = name if " " in name else f"attack {name}"
        label = {USUAL: USUAL, "report": "writing the report"}.get(name, usual)
        self._bar.update(self._task, description=label)
        self._label, self._shown = label, -1
        if time.monotonic() - self._told > QUIET:
            self._line(label)

    def _line(self, text: str) -> None:
        """Print a line where no bar can be shown."""
        if not self._console.is_terminal:
            self._told = time.monotonic()
            self._console.print(text, markup=False, soft_wrap=True)

    def note(self, sentence: str) -> None:
        self._console.print(sentence, markup=False, soft_wrap=True)


@contextmanager
def screen() -> Iterator[Screen]:
    """Show progress on standard error: a bar on a terminal; elsewhere a line each tenth of every population."""
    console = stderr()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[facts]}"))
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield _Screen(bar, console)
