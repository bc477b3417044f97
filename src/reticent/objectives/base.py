"""What an objective is: a function of logits and labels to a scalar, a few hooks of the loop, and facts about it."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, Protocol, TypeVar

import torch
from torch import Tensor, nn

from reticent.errors import ModelError
from reticent.spec import Spec

INPLACE = "modified by an inplace operation"
"""What torch's error says where a tensor that a gradient needs was changed."""
Need = Literal["reference"]
"""What a method must be given beside members: the defender's reference non-members."""


class Examples:
    """Records as tensors; images stay ``uint8`` until a batch is taken.

    Some of a table's records are rows of it until one looks at them, so that many models hold one table.

    Attributes:
        table: the records ``(N, ...)`` and labels ``(N,)`` that these are of.
        rows: which of them these are ``(n,)``; None for all.
        y: labels, ``int64 (n,)``.
    """

    def __init__(self, x: Tensor, y: Tensor, rows: Tensor | None = None) -> None:
        self.table, self.rows = (x, y), rows
        self.y = y if rows is None else y[rows]

    @cached_property
    def x(self) -> Tensor:
        """The records, ``(n, ...)``."""
        return self.table[0] if self.rows is None else self.table[0][self.rows]

    def __len__(self) -> int:
        return len(self.y)

    def take(self, ids: Tensor) -> "Examples":
        """Take some of the records."""
        rows = ids.to(self.y.device)
        return Examples(*self.table, rows if self.rows is None else self.rows[rows])

    def first(self, count: int) -> "Examples":
        """Take the first records, so many at most."""
        return self.take(torch.arange(min(count, len(self))))


@dataclass(frozen=True)
class Batch:
    """What an objective may know of a step besides logits and labels.

    Attributes:
        ids: rows of the batch's records among the members, ``int64 (B,)``.
        epoch: from 0 in each run of the loop, so that it starts again in a fine-tuning stage.
    """

    ids: Tensor
    epoch: int


class Stepper(Protocol):
    """What an objective may ask of an optimizer."""

    def zero_grad(self) -> None:
        """Forget the gradients."""

    def step(self) -> None:
        """Update every parameter that has a gradient."""


@dataclass(frozen=True, eq=False)
class Context:
    """What an objective may know of a run of the loop, and do in it.

    Attributes:
        epochs: that the run is planned to have.
        members: the training records, not augmented; ``Batch.ids`` are its rows.
        reference: the defender's reference non-members; may be empty.
        ask: stored records ``(B, ...)`` to ``float32`` logits ``(B, C)``, by the model in the mode that it is in, under
            the recipe's precision; gradients flow.
        update: one more step of the optimizer on a scalar, at the present learning rate, with the recipe's clipping.
        generator: a random stream of its own by name, on the CPU; switching a method off moves no other stream.
        augment: stored records ``(B, ...)`` to a view of them such as the recipe trains on, drawn from a generator.
        adam: an optimizer of a network of the objective's own, at a learning rate.
        trains: which entries of a parameter are trained, booleans of its shape; None where all are.
    """

    model: nn.Module
    classes: int
    epochs: int
    batch_size: int
    members: Examples
    reference: Examples
    device: torch.device
    ask: Callable[[Tensor], Tensor]
    update: Callable[[Tensor], None]
    generator: Callable[[str], torch.Generator]
    rate: Callable[[], float]
    augment: Callable[[Tensor, torch.Generator], Tensor]
    adam: Callable[[Sequence[nn.Parameter], float], Stepper]
    trains: Callable[[Tensor], Tensor | None] = lambda parameter: None


class Objective:
    """A loss with the hooks that the loop calls, in the order below. Most losses are no more than ``__call__``.

    An objective with its coefficient at zero draws no random number, asks the model nothing and moves no bit of plain
    training.

    Attributes:
        context: of the run, until that ends.
        terms: the losses ``(B,)`` of records, from logits and labels, where the method is their mean and does nothing
            else in a step: then those of several models are computed at once, where these are trained together.
    """

    context: Context
    terms: Callable[[Tensor, Tensor], Tensor] | None = None
    _began: float | Tensor = math.inf
    _kept: int | None = None

    def begin(self, context: Context) -> None:
        """Prepare for one run of the loop; state of an earlier run is forgotten."""
        self.context = context
        self._began, self._kept = math.inf, None

    def start_epoch(self, epoch: int) -> None:
        """Do what comes before an epoch."""

    def inputs(self, x: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Change the input of a step ``(B, ...)``, augmented and normalised, or do what comes before the step."""
        return x

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Compute the loss: differentiable, a mean over the batch unless the entry says otherwise."""
        raise NotImplementedError

    def graded(self) -> None:
        """Do what comes after the backward pass, and before gradients are masked and clipped."""

    def stepped(self) -> None:
        """Do what comes after the optimizer's step."""

    def end_epoch(self, epoch: int) -> None:
        """Do what comes after an epoch."""

    def ended(self, kept: int) -> None:
        """Learn that the run is over."""
        self._kept = kept

    def then(self) -> "Tuning | None":
        """Tell what a second run of the loop is, which follows at once unless training was ended early."""
        return None

    def acts(self, epoch: int, where: Tensor | None = None) -> None:
        """Note that what the method adds has a part in an epoch; for methods that may never come to it."""
        if where is None:
            self._began = min(float(self._began), epoch)
            return
        now = torch.where(where, float(epoch), math.inf)
        self._began = torch.minimum(self._began, now) if isinstance(self._began, Tensor) else now

    def notices(self) -> list[str]:
        """Say what a reader of the report must know of the run that ended, such as that the method hardly acted."""
        return []


@dataclass(frozen=True, eq=False)
class Tuning:
    """A second run of the loop: a new SGD, whose rate falls by a cosine."""

    objective: Objective
    epochs: int
    learning_rate: float
    momentum: float
    weight_decay: float


S = TypeVar("S", bound=Spec)


class Configured(Objective, Generic[S]):
    """An objective of the table: what its entry builds from a spec."""

    def __init__(self, spec: S) -> None:
        self.spec = spec

    def idle(self, why: str, instead: str, left: str = "cross-entropy") -> list[str]:
        """Say so if what the method adds, as `acts` noted, had no part in the state that training kept."""
        began = float(self._began)
        if math.isfinite(began):
            if self._kept is None or began <= self._kept:
                return []
            why = "early stopping kept an epoch from before it began"
            instead = "Let it begin earlier, or give more patience."
        return [f"{self.spec.method} never acted, since {why}: what was minimised is {left} alone. {instead}"]


@contextmanager
def named_inplace_errors() -> Iterator[None]:
    """Compute gradients, and say in plain words why a network has none."""
    try:
        yield
    except RuntimeError as error:
        if INPLACE not in str(error):
            raise
        raise ModelError(
            "the network changes a tensor in place that its gradient needs: write x = x * 0 instead of x.mul_(0) in "
            "its forward"
        ) from error


def label_margin(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the log-odds ``(B,)`` of the label: ``ln p = logsigmoid(it)`` and ``ln(1 - p) = logsigmoid(-it)``."""
    at = labels[:, None]
    others = logits.scatter(1, at, -math.inf).logsumexp(dim=1)
    return logits.gather(1, at)[:, 0] - others


def hits(logits: Tensor, labels: Tensor) -> Tensor:
    """Tell which records ``(B,)`` have the strictly largest logit at their label, as `signals.correctness` does."""
    at = labels[:, None]
    return logits.gather(1, at)[:, 0] > logits.scatter(1, at, -math.inf).amax(dim=1)


@dataclass(frozen=True)
class ObjectiveEntry:
    """One line of the table.

    Attributes:
        build: from a spec to the objective that the loop calls.
        cost: beside plain training, in words.
        per_record: the loss is a mean of terms of single records; DP-SGD refuses others.
        off: options under which it is plain training to the bit.
        check: raises a `SpecError` for options that have no meaning with so many classes.
        check_kind: raises an `InputError` for a kind of records (image, tabular, tokens) that it cannot be used with.
        between_epochs: what it adds comes between two epochs of one run of the loop, so that one epoch lacks it.
        published: options that the authors give for a data set, by its name, for a network on it, by
            ``"dataset/architecture"``, or beside an option, by ``"dataset/key=value"``; a recipe for it has them where
            the user says nothing else.
        level: the option that is the mean loss, in nats, that training is held at; empty where there is none.
        asks_in_training: it asks the model in training mode besides the loop, so that models cannot be trained as one
            batched computation, and BatchNorm sees more batches.
        brief: from its options, and the share of the epochs that a shorter training has, to those of that training.
    """

    spec: type[Spec]
    build: Callable[[Any], Objective]
    summary: str
    per_record: bool
    off: tuple[Spec, ...]
    paper: str = ""
    cost: str = "none"
    needs: tuple[Need, ...] = ()
    check: Callable[[Any, int], None] = lambda spec, classes: None
    check_kind: Callable[[Any, str], None] = lambda spec, kind: None
    between_epochs: bool = False
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    level: str = ""
    asks_in_training: bool = False
    brief: Callable[[Any, float], Any] = lambda spec, share: spec
