"""Standard output of every verb: as wide as the terminal, and wide where it is piped, so that nothing is cut in two."""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 160


def stdout() -> "Console":
    """Open standard output.

    Returns:
        A console that adds no colours to numbers.
    """
    from rich.console import Console

    narrow = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, width=None if narrow else PIPED_WIDTH)
