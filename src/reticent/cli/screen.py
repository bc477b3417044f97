"""Standard output of every verb: as wide as the terminal, and wide where it is piped, so that nothing is cut in two."""

import os
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.errors import UnwrittenError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from reticent.report.blocks import Document
    from reticent.report.output import Form

PIPED_WIDTH = 160
NARROWEST = 80
"""Columns that the tables are made for."""
TERMINALS = {
    "reticent.audit": "reticent.report.kinds.audit:audit",
    "reticent.comparison": "reticent.report.kinds.comparison:comparison",
    "reticent.search": "reticent.report.kinds.search:search",
    "reticent.harden": "reticent.report.kinds.harden:harden",
    "reticent.locate.weights": "reticent.report.kinds.weights:weights",
    "reticent.locate.layers": "reticent.report.kinds.layers:layers",
    "reticent.locate.records": "reticent.report.kinds.records:records",
    "reticent.study": "reticent.report.study:terminal",
}
"""By a document's schema, without the version, what lays it out."""
TYPED = {
    "reticent.audit": "reticent.findings.audit:AuditDocument",
    "reticent.comparison": "reticent.findings.comparison:ComparisonDocument",
    "reticent.search": "reticent.findings.search:SearchDocument",
    "reticent.harden": "reticent.findings.harden:HardenDocument",
    "reticent.locate.weights": "reticent.findings.locate:WeightsDocument",
    "reticent.locate.layers": "reticent.findings.locate:LayersDocument",
    "reticent.locate.records": "reticent.findings.locate:RecordsDocument",
}
"""What that takes, where it is not plain values."""
STEERING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of characters that are not shown and may move what is."""


def stdout() -> "Console":
    """Open standard output."""
    from rich.console import Console

    narrow = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console(highlight=False, emoji=False, width=None if narrow else PIPED_WIDTH)
    console.width = max(console.width, NARROWEST)
    return console


def stderr() -> "Console":
    """Open standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)


def shown(found: "RenderableType | Document") -> None:
    """Write what was found on standard output."""
    from reticent.report.blocks import Document
    from reticent.report.render.terminal import terminal

    stdout().print(terminal(found) if isinstance(found, Document) else found)


def told(
    found: "RenderableType | Document | None", files: Sequence[Path], beside: Sequence[str] = ()
) -> Sequence[Path]:
    """Show what was found, and where it lies."""
    if found is not None:
        shown(found)
    console = stdout()
    for line in (*beside, *map(str, files)):
        console.print(line, markup=False, soft_wrap=True)
    return files


def replaced(out: Path, form: "Form", tell: Callable[[str], None] | None = None) -> None:
    """Say on standard error, before anything runs, that an earlier report will be written over."""
    from reticent.report.files import there

    if there(out / form.numbers):
        said = f"{out} holds an earlier report, which this one will replace; to keep it, stop and give another --out"
        if tell is not None:
            tell(visible(said))
        else:
            stderr().print(visible(said), markup=False, soft_wrap=True)


@contextmanager
def unlost() -> Iterator[None]:
    """Show what was found even where its report cannot be written; the error goes on.

    The report need not be of the verb's own kind: a comparison writes an audit for each row, a search compares.
    """
    try:
        yield
    except UnwrittenError as error:
        document: Any = error.document or {}
        schema = str(document.get("schema")).rpartition("/")[0]
        if schema in TYPED:
            document = _imported(TYPED[schema]).read(document, schema)
        if schema in TERMINALS:
            shown(_imported(TERMINALS[schema])(document))
        raise


def _imported(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def first(warn: Callable[[], None], then: Callable[[str], None]) -> Callable[[str], None]:
    """Warn when a job that has been checked calls back for the first time, and not before."""
    waiting = [warn]

    def calling(text: str) -> None:
        if waiting:
            waiting.pop()()
        then(text)

    return calling


def visible(text: str) -> str:
    """Replace characters that would steer a terminal, such as escape sequences and changes of direction."""
    return "".join("\ufffd" if unicodedata.category(one) in STEERING else one for one in text)
