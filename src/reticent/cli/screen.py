"""Standard output of every verb: as wide as the terminal, and wide where it is piped, so that nothing is cut in two."""

import os
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.errors import UnwrittenError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from reticent.report.place import Form

PIPED_WIDTH = 160
STEERING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of characters that are not shown and may move what is."""


def stdout() -> "Console":
    """Open standard output.

    Returns:
        A console that adds no colours to numbers.
    """
    from rich.console import Console

    narrow = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, emoji=False, width=None if narrow else PIPED_WIDTH)


def replaced(out: Path, form: "Form", tell: Callable[[str], None] | None = None) -> None:
    """Say on standard error, before anything runs, that an earlier report will be written over.

    Args:
        out: the folder of the report that is to come.
        form: of the report.
        tell: shows the sentence, where something else is on the screen; by default it is printed.
    """
    from rich.console import Console

    if (out / form.numbers).is_file():
        told = f"{out} holds an earlier report, which this one will replace; to keep it, stop and give another --out"
        if tell is not None:
            tell(visible(told))
        else:
            Console(stderr=True, highlight=False, emoji=False, soft_wrap=True).print(visible(told), markup=False)


@contextmanager
def unlost(form: "Form", terminal: "Callable[[Mapping[str, Any]], RenderableType]") -> Iterator[None]:
    """Show what a job found even where its report cannot be written; the error goes on.

    Args:
        form: of the report.
        terminal: lays its document out.

    Yields:
        Nothing.

    Raises:
        UnwrittenError: the report cannot be written.
    """
    try:
        yield
    except UnwrittenError as error:
        document = error.document or {}
        if str(document.get("schema")).startswith(form.schema):
            stdout().print(terminal(document))
        raise


def first(warn: Callable[[], None], then: Callable[[str], None]) -> Callable[[str], None]:
    """Warn when a job that has been checked calls back for the first time, and not before.

    Args:
        warn: what to do then.
        then: the callback itself.

    Returns:
        The callback to give to the job.
    """
    waiting = [warn]

    def told(text: str) -> None:
        if waiting:
            waiting.pop()()
        then(text)

    return told


def visible(text: str) -> str:
    """Replace characters that would steer a terminal, such as escape sequences and changes of direction.

    Args:
        text: any text, such as a name that stands in a file.

    Returns:
        The text on one line, with U+FFFD in their place.
    """
    return "".join("\ufffd" if unicodedata.category(one) in STEERING else one for one in text)
