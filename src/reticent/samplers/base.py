"""What a sampler is: which members an epoch visits, in groups that no batch mixes, by what is known of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Self

from annotated_types import Ge, Le
from pydantic import model_validator
from torch import Tensor

from reticent.spec import Spec


class Scored(Spec):
    """Options of every sampler that ranks members by memorisation: how the scores are measured."""

    models: Annotated[int, Ge(2), Le(10_000)] = 10
    """Sub-models that the memorisation scores are measured by."""
    outside: Annotated[int, Ge(1)] = 3
    """How many of them each member is left out of; below models."""

    @model_validator(mode="after")
    def _some_inside(self) -> Self:
        if self.outside >= self.models:
            raise ValueError(f"outside below models ({self.models}), got {self.outside}")
        return self


@dataclass(frozen=True, eq=False)
class Memorisation:
    """How far a model knows a record only because it was trained on it.

    Attributes:
        scores: ``float64 (n,)`` in [-1, 1]: the mean of what models IN say, less that of those OUT; NaN for a record
            that is never IN or never OUT.
        errors: standard errors ``(n,)``; NaN where a side has fewer than two models.
    """

    scores: Tensor
    errors: Tensor


@dataclass(frozen=True, eq=False)
class Known:
    """What a sampler may know of one run of the loop.

    Attributes:
        y: labels of the members ``int64 (n,)``, on the CPU.
        epochs: that the run is planned to have.
        scores: memorisation ``float64 (n,)``, on the CPU; None for samplers that ask for none.
    """

    y: Tensor
    epochs: int
    weight_decay: float
    scores: Tensor | None = None

    @property
    def memorised(self) -> Tensor:
        """The scores, for a sampler whose entry asks for them."""
        assert self.scores is not None, "procedures measure them first"
        return self.scores


@dataclass(frozen=True, eq=False)
class Group:
    """Members that an epoch visits, each once, in an order that is drawn; none shares a batch with another group.

    Attributes:
        rows: of the members, ascending.
        weight_decay: of the steps on them.
    """

    rows: Tensor
    weight_decay: float


Epochs = Callable[[int], list[Group]]
"""From the number of an epoch to the groups that it visits one after the other; none where it visits nothing."""


@dataclass(frozen=True)
class SamplerEntry:
    """One line of the table.

    Attributes:
        build: from a spec, and what is known when training begins, to what each epoch visits.
        cost: beside plain training, in words.
        scored: it goes by memorisation scores, and its spec is a `Scored`.
    """

    spec: type[Spec]
    build: Callable[[Any, Known], Epochs]
    summary: str
    paper: str = ""
    cost: str = "none"
    scored: bool = False
    needs: tuple[()] = ()
