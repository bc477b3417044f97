"""Standard output and error: as wide as the terminal, and wide where piped, so that nothing is cut in two."""

import os
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

PIPED_WIDTH = 160
NARROWEST = 80
"""Columns that the tables are made for."""
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


def visible(text: str) -> str:
    """Replace characters that would steer a terminal, such as escape sequences and changes of direction."""
    return "".join("\ufffd" if unicodedata.category(one) in STEERING else one for one in text)


def say(*lines: str, style: str = "", error: bool = False) -> None:
    """Print lines as they are, but for what would steer a terminal."""
    console = stderr() if error else stdout()
    for line in lines:
        console.print(visible(line), style=style, markup=False, soft_wrap=True)


def listed(files: Sequence[Path]) -> Sequence[Path]:
    """Say where files lie."""
    say(*map(str, files))
    return files


def table(
    titles: Sequence[str],
    rows: Iterable[Sequence["str | Text"]],
    *,
    right: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> "Table":
    """Lay out a table: texts of some columns stand to the right, and those of some are never cut in two."""
    from rich.table import Table

    found = Table(box=None, pad_edge=False)
    for title in titles:
        found.add_column(title, overflow="fold", no_wrap=title in whole, justify="right" if title in right else "left")
    for row in rows:
        found.add_row(*map(_cell, row))
    return found


def facts(rows: "Mapping[str, str] | Iterable[tuple[str, str]]") -> "Table":
    """Lay out names, and what stands for each."""
    from rich.table import Table

    found = Table(box=None, show_header=False, pad_edge=False)
    found.add_column(style="bold", no_wrap=True)
    found.add_column(overflow="fold")
    for key, value in rows.items() if isinstance(rows, Mapping) else rows:
        found.add_row(key, _cell(value))
    return found


def _cell(cell: "str | Text") -> "Text":
    from rich.text import Text

    return Text(visible(cell)) if isinstance(cell, str) else cell
