"""How words of the command line become values: as cyclopts does it, but without rounding, and ~ is the home folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import cyclopts

from reticent import opening


def converted(type_: Any, tokens: Sequence[cyclopts.Token]) -> Any:
    """Convert the words that were given for one flag."""
    if {*get_args(type_), type_} & {int}:  # A flag of a group of flags comes as "int | None".
        for token in tokens:
            _check(token.value)
    value = cyclopts.convert(type_, tokens)
    return opening.path(value) if isinstance(value, Path) else value


def _check(word: str) -> None:
    try:
        int(word, 0 if word.lower().lstrip("+-")[:2] in {"0x", "0o", "0b"} else 10)
    except ValueError:
        raise ValueError(f"expected a whole number, got {word or 'nothing'}") from None
