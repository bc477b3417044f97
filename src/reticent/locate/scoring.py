"""What weights are scored by, and scores: the spec and the result of `weights.score`."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt
from torch import Tensor

from reticent.spec import Spec

BLOCK = 2**21
"""Entries of a network that are looked at together."""


class Scoring(Spec):
    """How weights are scored; the defaults are the judgements that the docs state."""

    steps: Annotated[int, Ge(1), Le(1_000_000)] = 50
    """Steps T over which importance is summed."""
    batch_size: Annotated[int, Ge(1)] = 128
    """Records a step, of the members and of the reference non-members each."""
    unlearning: Annotated[float, Ge(0), Le(1)] = 0.5
    """The part of the divergence in the loss (the paper's lambda); at 0 the score is learnability."""
    power: Literal[1, 2] = 1
    """1 sums ``|g w|``; 2 sums ``(g w)**2``, as the code of Molchanov et al. does."""
    divergence: Literal["vanilla-first", "updated-first"] = "vanilla-first"
    """vanilla-first is KL(initial || updated), updated-first the reverse."""
    statistics: Literal["frozen", "own", "joint"] = "frozen"
    """How non-members are asked: frozen asks in eval mode, by the running statistics that members make; own normalises
    the batch by itself, in training mode; joint puts members and non-members into one forward pass."""
    initial_statistics: Literal["running", "batch"] = "running"
    """How BatchNorm of the initial model is asked: running takes its statistics, which are still empty, batch those of
    the non-members that it is asked about."""
    optimizer: Literal["adam", "adamw", "sgd"] = "adam"
    """By what the working copy moves between the steps."""
    learning_rate: Annotated[float, Gt(0)] = 1e-3
    """Of the working copy, constant."""
    momentum: Annotated[float, Ge(0), Lt(1)] = 0.9
    """For sgd."""
    weight_decay: Annotated[float, Ge(0)] = 5e-4
    """Moves the working copy; it is no part of the gradient that scores."""
    augmentation: Literal["none", "recipe"] = "none"
    """recipe augments the members' batches as training did; non-members are asked about as they are."""


class Scores(dict[str, Tensor]):
    """Scores by parameter name, one an entry, and what is known of how they came to be.

    Attributes:
        unused: names of parameters that never had a gradient: their scores are zero, and no mask ever takes them.
        member_loss: mean cross-entropy of each step's members, in nats.
        divergence: mean divergence of each step's non-members from the initial model, in nats; empty if none was asked.
        entropy: mean entropy of the initial model's answers, as a share of that of guessing; None if none was asked.
        accuracy: of the working copy after the last step, of ``members`` and ``reference``; empty if none was asked.
    """

    def __init__(
        self,
        scores: Mapping[str, Tensor],
        *,
        unused: Collection[str] = (),
        member_loss: Sequence[float] = (),
        divergence: Sequence[float] = (),
        entropy: float | None = None,
    ) -> None:
        super().__init__(scores)
        self.unused = frozenset(unused)
        self.member_loss, self.divergence, self.entropy = tuple(member_loss), tuple(divergence), entropy
        self.accuracy: dict[str, float] = {}
