"""Standard output of every verb: as wide as the terminal, and wide where it is piped, so that nothing is cut in two."""

import os
import sys
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

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
    return Console(highlight=False, width=None if narrow else PIPED_WIDTH)


def visible(text: str) -> str:
    """Replace characters that would steer a terminal, such as escape sequences and changes of direction.

    Args:
        text: any text, such as a name that stands in a file.

    Returns:
        The text on one line, with U+FFFD in their place.
    """
    return "".join("\ufffd" if unicodedata.category(one) in STEERING else one for one in text)
