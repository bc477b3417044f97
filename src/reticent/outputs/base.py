"""What an output defense is: a function of a model's logits to other logits, before anyone sees them.

The label that a model predicts never changes: whoever asks for labels only learns as much as before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from reticent.objectives.base import Examples, Need
from reticent.spec import Spec
from reticent.training.data import Preparation


@dataclass(frozen=True, eq=False)
class Context:
    """What an output defense may know of the model that it serves.

    Attributes:
        ask: stored records ``(B, ...)`` to the model's own logits ``float64 (B, C)``, in eval mode.
        prepare: what a record looks like, and how it becomes model input.
        members: the model's training records.
        reference: the defender's reference non-members; may be empty.
        generator: a random stream of the model's own by name, on the CPU.
    """

    ask: Callable[[Tensor], Tensor]
    classes: int
    prepare: Preparation
    members: Examples
    reference: Examples
    generator: Callable[[str], torch.Generator]


Output = Callable[[Tensor, Tensor], Tensor]
"""``(logits float64 (B, C), model input (B, ...)) -> float64 (B, C)`` with the same largest column in every row."""


@dataclass(frozen=True)
class OutputEntry:
    """One line of the table.

    Attributes:
        build: from a spec and a model's context to the function that its answers go through.
        cost: a query, in words.
        more: what some of its options need besides.
        reads_members: whether answers depend on the members otherwise than through the model, given the options.
        check: raises a `SpecError` for options that have no meaning with so many classes.
        instead: what to use where that must not be.
    """

    spec: type[Spec]
    build: Callable[[Any, Context], Output]
    summary: str
    paper: str = ""
    cost: str = "none"
    needs: tuple[Need, ...] = ()
    more: Callable[[Any], tuple[Need, ...]] = lambda spec: ()
    reads_members: Callable[[Any], bool] = lambda spec: False
    instead: str = ""
    check: Callable[[Any, int], None] = lambda spec, classes: None

    def needed(self, spec: Spec) -> tuple[Need, ...]:
        """List what a spec must be given."""
        return (*self.needs, *(need for need in self.more(spec) if need not in self.needs))
