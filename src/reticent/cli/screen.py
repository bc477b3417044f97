"""Standard output and error: as wide as the terminal, and wide where piped, so that nothing is cut in two."""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from reticent.report.blocks import Block, Report

PIPED_WIDTH = 160
NARROWEST = 80
"""Columns that the tables are made for."""
BARS: "list[Console]" = []
"""Where bars are shown now, the innermost last."""


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


def working() -> "Console":
    """Open standard error, above a bar that is shown there."""
    return BARS[-1] if BARS else stderr()


def say(*lines: object, style: str = "", to: "Console | None" = None) -> None:
    """Print lines as they are, but for what would steer a terminal."""
    from reticent.report.render.text import clean

    console = to or stdout()
    for line in map(str, lines):
        console.print(clean(line, len(line)), style=style, markup=False, soft_wrap=True)


def show(*found: "Report | Block") -> None:
    """Print documents or blocks."""
    from reticent.report.render.terminal import terminal

    console = stdout()
    if console.is_terminal:
        console.print(terminal(*found))
        return
    with console.capture() as drawn:  # In a file, what fills a line up to the width would be noise.
        console.print(terminal(*found))
    console.out("\n".join(map(str.rstrip, drawn.get().splitlines())), highlight=False)
