"""Text for the terminal that breaks at plain spaces only: ``95 %``, joined by a no-break space, stays on one line."""

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

WORD = re.compile(r"[^ ]+ *| +")


class Prose:
    """Wrapped text; rich's own wrapping breaks at every white space, no-break spaces too."""

    def __init__(self, text: Text) -> None:
        """Keep the text."""
        self.text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Break it into lines, none wider than the console."""
        for line in self.text.split("\n", allow_blank=True):
            for part in line.divide(list(_breaks(line.plain, options.max_width))):
                part.rstrip()
                part.no_wrap, part.overflow = cell_len(part.plain) <= options.max_width, "fold"
                yield part


def _breaks(line: str, width: int) -> Iterator[int]:
    """Find where the lines begin, but for the first."""
    used = 0
    for word in WORD.finditer(line):
        size = cell_len(word[0].rstrip(" "))
        if used and used + size > width:
            yield word.start()
            used = 0
        used += cell_len(word[0])
