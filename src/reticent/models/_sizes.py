"""Numbers that an architecture has one of for each stage, as options."""

from collections.abc import Sequence
from typing import Annotated, Any

from annotated_types import Ge, Le

Widths = tuple[Annotated[int, Ge(1), Le(8192)], ...]
"""Channels of each stage."""
Strides = tuple[Annotated[int, Ge(1), Le(16)], ...]
"""By how much each stage divides height and width."""


def one_a_stage(spec: Any, names: Sequence[str], count: int) -> None:
    """Check that options hold one number for each stage, or none."""
    for name in names:
        got = len(getattr(spec, name))
        if got not in {0, count}:
            raise ValueError(f"{name} to have {count} numbers, one for each stage, or none; it has {got}")
