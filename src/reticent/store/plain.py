"""Files of plain values, read with suspicion: whatever stands in them, the reader gets few, shallow, finite values."""

import json
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from reticent.store.disk import reading

LARGEST = 16_000_000
"""Bytes; what reticent writes has some thousand."""
DEEPEST = 50
"""Objects inside objects; what reticent writes has some five."""


def read_plain(path: Path) -> dict[str, Any]:
    """Read a JSON object."""
    with reading(path) as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} bytes")
    try:
        value: Any = json.loads(content.decode("utf-8"), parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 (one kind for all that may stand in a file)
    _check(value)
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}")


def _check(tree: dict[str, Any]) -> None:
    """Look at every value, without recursion."""
    left: list[tuple[Any, int]] = [(tree, 1)]
    while left:
        value, depth = left.pop()
        if depth > DEEPEST:
            raise ValueError("it is nested too deeply")
        if isinstance(value, dict):
            left += [(part, depth + 1) for pair in value.items() for part in pair]
        elif isinstance(value, list):
            left += [(item, depth + 1) for item in value]
        elif isinstance(value, float) and not isfinite(value):
            raise ValueError("it holds a number that is too large")
        elif isinstance(value, str) and not value.isascii():
            _encode(value)


def _encode(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("it holds half a character") from None
