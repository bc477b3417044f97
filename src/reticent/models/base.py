"""What an architecture is: a spec, and a function from the spec, the input and the number of classes to a module."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from annotated_types import Ge, Le
from pydantic import field_validator
from torch import nn

from reticent.errors import InputError, about
from reticent.models.butterfly import Butterfly, factored
from reticent.spec import Spec

Widths = tuple[Annotated[int, Ge(1), Le(8192)], ...]
"""Channels of each stage."""
Strides = tuple[Annotated[int, Ge(1), Le(16)], ...]
"""By how much each stage divides height and width."""
Stem = Literal["cifar", "tiny", "imagenet"]
"""3x3; 3x3 with stride 2; 7x7 with stride 2 and a max-pooling with stride 2."""


@dataclass(frozen=True)
class Input:
    """What one record looks like to a model: image, tabular or tokens, its shape, and how many tokens there are."""

    kind: str
    shape: tuple[int, ...]
    vocabulary: int = 0


class Architecture(Spec):
    """Options that every architecture has."""

    butterfly: Butterfly | None = None
    """Which linear layers and convolutions have butterfly factors in place of their weights: a table of its options.
    [none]"""
    layout: Literal["channels-last"] | None = None
    """How weights of convolutions lie in memory: channels-last (NHWC) is faster on the CPU (`benchmarks/layout.py`),
    and sums in another order, so that the last bits differ. [channels first]"""

    @field_validator("butterfly", mode="before")
    @classmethod
    def _named(cls, table: Any) -> Any:
        with about("butterfly"):
            return Butterfly(**table) if isinstance(table, dict) else table


@dataclass(frozen=True)
class ArchitectureEntry:
    """One line of the table: `build` makes a network of some `kinds` of records, which answers logits ``(B, C)``."""

    spec: type[Architecture]
    build: Callable[[Any, Input, int], nn.Module]
    summary: str
    kinds: tuple[str, ...]


def build(entry: ArchitectureEntry, spec: Spec, given: Input, classes: int) -> nn.Module:
    """Build a module as its options say, after checking that it takes such records."""
    if given.kind not in entry.kinds:
        raise InputError(
            f"architecture {spec.method!r} takes {' or '.join(entry.kinds)} records, "
            f"got {given.kind} of shape {given.shape}"
        )
    model = entry.build(spec, given, classes)
    if not isinstance(spec, Architecture):
        return model
    model = factored(model, spec.butterfly) if spec.butterfly else model
    return model.to(memory_format=torch.channels_last) if spec.layout else model  # type: ignore[call-overload]


def one_a_stage(spec: Any, names: Sequence[str], count: int) -> None:
    """Check that options hold one number for each stage, or none; for the validators of specs."""
    for name in names:
        got = len(getattr(spec, name))
        if got not in {0, count}:
            raise ValueError(f"{name} to have {count} numbers, one for each stage, or none; it has {got}")
