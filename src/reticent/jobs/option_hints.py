"""Options of a defense that were given as keys or flags of their own: whose they are, and where to write them."""

from collections.abc import Sequence
from typing import Any

from reticent.errors import ReticentError
from reticent.jobs.defenses import DEFENSES, INNER, options_of, with_option


def owners(key: str) -> list[str]:
    """List the defenses that have an option."""
    option = key.replace("-", "_")
    return [name for name in DEFENSES if option != INNER and option in options_of(name)]


def placed(key: str, value: Any, defenses: Sequence[str]) -> str | None:
    """Write an option where it belongs, behind the name of its defense."""
    for text in [*defenses, *owners(key)]:
        try:
            return with_option(text, key, value)
        except ReticentError:
            continue
    return None
