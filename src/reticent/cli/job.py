"""How a verb runs its job: progress and warnings on standard error, then what was found and where it lies."""

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from reticent.cli.screen import stderr, stdout, visible
from reticent.errors import UnwrittenError
from reticent.findings.schema import DOCUMENTS
from reticent.findings.schema import document as typed
from reticent.report.blocks import Document
from reticent.report.files import there
from reticent.report.output import Form
from reticent.report.render.terminal import terminal
from reticent.rounding import percent

if TYPE_CHECKING:
    from reticent.population.train import Progress as Trained

TERMINALS = {
    "reticent.audit": "reticent.report.kinds.audit:audit",
    "reticent.comparison": "reticent.report.kinds.comparison:comparison",
    "reticent.search": "reticent.report.kinds.search:search",
    "reticent.harden": "reticent.report.kinds.harden:harden",
    "reticent.locate.weights": "reticent.report.kinds.weights:weights",
    "reticent.locate.layers": "reticent.report.kinds.layers:layers",
    "reticent.locate.records": "reticent.report.kinds.records:records",
    "reticent.study": "reticent.report.kinds.study:study",
}
"""By a document's schema, without the version, what lays it out."""
USUAL = "training"
"""The stage whose name is not told with its models."""
QUIET = 10.0
"""Seconds without a line after which the next stage is told by itself, where no bar can be shown."""


class Done(Protocol):
    """What a job returns."""

    @property
    def document(self) -> Mapping[str, Any]:
        """What was found."""


Result = TypeVar("Result", bound=Done)


class Screen:
    """Progress on standard error: a bar on a terminal; elsewhere a line each tenth of every population."""

    def __init__(self, form: Form, out: Path | None = None) -> None:
        self._console, self._form, self._out = stderr(), form, out
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self.bar.add_task("training", total=None, facts="")
        self._label, self._shown, self._told = USUAL, -1, time.monotonic()

    def model(self, state: "Trained") -> None:
        """Show how far the population is."""
        facts = [f"{state.found} found"] if state.found else []
        if state.left is not None and state.done < state.total:
            facts.append(f"{timedelta(seconds=round(state.left))} left")
        if state.accuracy is not None:
            facts.append(f"accuracy {percent(state.accuracy)} on non-members")
        self.bar.update(self._task, total=state.total, completed=state.done, facts=", ".join(facts))
        tenth = 10 * state.done // state.total
        if tenth != self._shown:  # Fewer than before are those of another population.
            self._shown = tenth
            whose = "" if self._label == USUAL else f"{self._label}: "
            self._line(f"{whose}models {state.done}/{state.total}" + (f" ({', '.join(facts)})" if facts else ""))

    def stage(self, name: str) -> None:
        """Show what is being done; the first time, since all is checked by then, warn of a report in the way."""
        if self._out is not None:
            self.checked(self._out)
            self._out = None
        usual = name if " " in name else f"attack {name}"
        label = {USUAL: USUAL, "report": "writing the report"}.get(name, usual)
        self.bar.update(self._task, description=label)
        self._label, self._shown = label, -1
        if time.monotonic() - self._told > QUIET:
            self._line(label)

    def _line(self, text: str) -> None:
        """Print a line where no bar can be shown."""
        if not self._console.is_terminal:
            self._told = time.monotonic()
            self.note(text)

    def note(self, sentence: str) -> None:
        """Show a sentence that stays."""
        self._console.print(visible(sentence), markup=False, soft_wrap=True)

    def checked(self, out: Path) -> None:
        """Say before anything runs that an earlier report will be written over."""
        if there(out / self._form.numbers):
            said = (
                f"{out} holds an earlier report, which this one will replace; to keep it, stop and give another --out"
            )
            self.note(said)


def reported(form: Form, job: Callable[[Screen], Result], out: Path | str | None = None) -> Result:
    """Run a job that writes a report, and show what it found, even where that cannot be written.

    With `out`, a report in the way is told of at the job's first stage; else the job calls `checked`.
    """
    screen = Screen(form, None if out is None else Path(out))
    try:
        with screen.bar:
            done = job(screen)
    except UnwrittenError as error:
        _show(error.document or {})
        raise
    _show(done.document)
    return done


def _show(document: Mapping[str, Any]) -> None:
    """Lay out what was found; where it is not written, it may be of another kind than the verb's, such as one row."""
    kind = str(document.get("schema")).rpartition("/")[0]
    module, _, function = TERMINALS.get(kind, "").partition(":")
    if function:
        laid = getattr(import_module(module), function)
        name = kind.removeprefix("reticent.")
        found = laid(typed(name).read(document, kind) if name in DOCUMENTS else document)
        stdout().print(terminal(found) if isinstance(found, Document) else found)
