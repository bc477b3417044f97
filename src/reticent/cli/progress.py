"""What a person sees while models are trained: how many are done, the time left, the accuracy so far."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

if TYPE_CHECKING:
    from reticent.population.train import Progress


class Screen(Protocol):
    """What a job tells a person."""

    def model(self, state: "Progress") -> None:
        """Show how far the population is."""

    def stage(self, name: str) -> None:
        """Show what is being done."""

    def note(self, sentence: str) -> None:
        """Show a sentence that stays."""


class _Screen:
    def __init__(self, bar: Bar, console: Console) -> None:
        self._bar, self._console = bar, console
        self._task = bar.add_task("training", total=None, facts="")
        self._shown = -1

    def model(self, state: "Progress") -> None:
        facts = [f"{state.found} found"] if state.found else []
        if state.left is not None and state.done < state.total:
            facts.append(f"{timedelta(seconds=round(state.left))} left")
        if state.accuracy is not None:
            facts.append(f"accuracy {state.accuracy:.1%} on non-members")
        self._bar.update(self._task, total=state.total, completed=state.done, facts=", ".join(facts))
        tenth = 10 * state.done // state.total
        if not self._console.is_terminal and tenth > self._shown:
            self._shown = tenth
            self._console.print(f"models {state.done}/{state.total}" + (f" ({', '.join(facts)})" if facts else ""))

    def stage(self, name: str) -> None:
        usual = name if " " in name else f"attack {name}"
        label = {"training": "training", "report": "writing the report"}.get(name, usual)
        self._bar.update(self._task, description=label)

    def note(self, sentence: str) -> None:
        self._console.print(sentence, markup=False, soft_wrap=True)


@contextmanager
def screen() -> Iterator[Screen]:
    """Show progress on standard error: a bar on a terminal, a line each tenth elsewhere.

    Yields:
        What a job may tell.
    """
    console = Console(stderr=True, highlight=False, emoji=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[facts]}"))
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield _Screen(bar, console)
