"""When two defenses cannot be joined."""

from typing import NamedTuple


class Clash(NamedTuple):
    """Two defenses that are refused together, always or with some options.

    Attributes:
        defaults: whether they go together at the defaults.
        options: which options turn that around, as ``name:option=value or value``; empty where none does.
    """

    defaults: bool = False
    options: str = ""
