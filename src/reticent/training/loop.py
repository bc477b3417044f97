"""The loop: one for every objective, with batches gathered from tensors on the device."""

import copy
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from reticent.errors import InputError, ReticentError
from reticent.objectives.base import Examples, Objective, hits
from reticent.training import augmentation
from reticent.training.materials import Materials, forward
from reticent.training.recipe import Recipe
from reticent.training.run import Run, planned
from reticent.training.stack import Stack
from reticent.training.streams import Streams

EVALUATION_BATCH = 1024


@dataclass
class History:
    """What happened in training, one number an epoch.

    Attributes:
        loss: mean training loss.
        validation_loss: mean cross-entropy of the validation records, where there are any.
        accuracy: share of the watched records that are labelled correctly, where there are any.
        kept: the epoch whose state was kept.
        visited: share of the members that a step of the last run was taken on.
        member_losses: cross-entropy of every member ``(n,)``, before training and after each epoch, where it is traced.
    """

    loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    kept: int = 0
    visited: float = 1.0
    member_losses: list[Tensor] = field(default_factory=list)

    def lines(self) -> str:
        """Write one JSON object an epoch."""
        named = {"loss": self.loss, "validation_loss": self.validation_loss, "accuracy": self.accuracy}
        each = ({key: values[at] for key, values in named.items() if at < len(values)} for at in range(len(self.loss)))
        return "".join(f"{json.dumps({'epoch': at} | values)}\n" for at, values in enumerate(each))

    @classmethod
    def of(cls, lines: str) -> "History":
        """Read what `lines` wrote; which epoch was kept is not in it."""
        read = [json.loads(line) for line in lines.splitlines()]
        loss, validation, accuracy = (
            [one[key] for one in read if key in one] for key in ("loss", "validation_loss", "accuracy")
        )
        return cls(loss, validation, accuracy)


class _Fitting:
    """The state of one call of `fit`, but for the steps."""

    def __init__(self, run: Run) -> None:
        self.run, self.history = run, History()
        self._best: tuple[float, int, dict[str, Tensor] | None] = (math.inf, 0, None)  # Loss, epoch, state.
        whole = enumerate(planned(run.recipe, run.steps, run.done))
        self.plan = [(epoch, batches) for epoch, batches in whole if batches and run.groups(epoch)]

    def begin(self) -> None:
        """Note what is known before the first step."""
        if self.run.materials.traced:
            self.history.member_losses.append(member_losses(self.run.model, self.run.materials))

    def goes_on(self, loss: float) -> bool:
        """Note what is known after an epoch, and tell whether another one follows."""
        model, materials, patience, history = self.run.model, self.run.materials, self.run.recipe.patience, self.history
        history.loss.append(loss)
        history.kept = len(history.loss) - 1
        if materials.watched is not None:
            history.accuracy.append(accuracy(model, materials, materials.watched))
        if materials.traced:
            history.member_losses.append(member_losses(model, materials))
        if patience is not None:
            validated = validation_loss(model, materials)
            history.validation_loss.append(validated)
            if validated < self._best[0]:
                self._best = (validated, history.kept, copy.deepcopy(model.state_dict()))
            if history.kept - self._best[1] >= patience:
                return False
        return len(history.loss) < len(self.plan)

    def end(self) -> History:
        """Bring the network to the state that is kept."""
        model, history = self.run.model, self.history
        _, epoch, state = self._best
        if state is not None:
            model.load_state_dict(state)
            history.kept = epoch
        model.eval()
        history.visited = float(self.run.visited.double().mean())
        self.run.objective.ended(self.plan[history.kept][0])
        return history


def fit(
    model: nn.Module,
    recipe: Recipe,
    materials: Materials,
    objective: Objective,
    streams: Streams,
    *,
    make: Callable[[nn.Module, Recipe, Materials, Objective, Streams], Run] = Run,
) -> History:
    """Train a model in place, from the state that it has."""
    given = materials.prepare.input
    check_recipe(recipe, given.kind, given.shape, len(materials.validation))
    one = _Fitting(make(model, recipe, materials, objective, streams))
    with streams.lent("dropout"):
        one.begin()
        for epoch, batches in one.plan:
            if not one.goes_on(one.run.epoch(epoch, batches)):
                break
    history = one.end()
    then = None if recipe.stop_after is not None else objective.then()
    one.run.let_go()
    del one
    if then is None:
        return history
    following = recipe.replace(
        epochs=then.epochs,
        optimizer="sgd",
        learning_rate=then.learning_rate,
        momentum=then.momentum,
        nesterov=False,
        weight_decay=then.weight_decay,
        schedule="cosine",
        warmup_epochs=0.0,
        patience=None,
    )
    anew = replace(materials, start=None if materials.start is None else replace(materials.start, epochs=0.0))
    return joined(history, fit(model, following, anew, then.objective, streams.child("then"), make=make))


def fit_together(runs: Sequence[Run]) -> list[History | ReticentError]:
    """Train networks of one kind in place, as one batched computation: what `fit` does of each, but for rounding.

    They are of one recipe, from fresh initialisations, with members of one table, and their objectives ask the network
    nothing in training mode and have no second run. A training that fails gives why, and ends none of the others.
    """
    given = runs[0].materials.prepare.input
    check_recipe(runs[0].recipe, given.kind, given.shape, len(runs[0].materials.validation))
    fits = [_Fitting(run) for run in runs]
    found: dict[_Fitting, History | ReticentError] = {}
    for one in fits:
        one.begin()
    stack = Stack(runs)
    while going := [one for one in fits if one not in found]:
        stack.hold([one.run for one in going])
        plans = [one.plan[len(one.history.loss)] for one in going]
        for one, loss in zip(going, stack.epoch(plans), strict=True):
            if isinstance(loss, ReticentError):
                found[one] = loss
            elif not one.goes_on(loss):
                found[one] = one.end()
    stack.let_go()
    for run in runs:
        run.let_go()
    return [found[one] for one in fits]


def joined(first: History, then: History) -> History:
    """Put the histories of two trainings of one network together."""
    if not then.loss:
        return first
    return History(
        first.loss + then.loss,
        first.validation_loss + then.validation_loss,
        first.accuracy + then.accuracy,
        len(first.loss) + then.kept,
        then.visited,
        first.member_losses + then.member_losses[1:],  # The first one is of the state that the first training kept.
    )


def check_recipe(recipe: Recipe, kind: str, shape: tuple[int, ...], validation: int) -> None:
    """Check what can be known of a recipe and its records before training."""
    if recipe.patience is not None and not validation:
        raise InputError("patience (early stopping) needs validation records: give --validation N")
    augmentation.check(recipe.augmentation, recipe.padding, kind, shape)


@torch.no_grad()
def accuracy(model: nn.Module, materials: Materials, records: Examples, batch: int = EVALUATION_BATCH) -> float:
    """Compute the share of records that a model labels correctly, in eval mode."""
    return sum(int(hits(logits, y).sum()) for logits, y in _asked(model, materials, records, batch)) / len(records)


@torch.no_grad()
def validation_loss(model: nn.Module, materials: Materials) -> float:
    """Compute the mean cross-entropy of the validation records, in eval mode."""
    records, total = materials.validation, 0.0
    for logits, y in _asked(model, materials, records):
        total += float(nn.functional.cross_entropy(logits.double(), y, reduction="sum"))
    return total / len(records)


@torch.no_grad()
def member_losses(model: nn.Module, materials: Materials) -> Tensor:
    """Compute the cross-entropy of every member ``(n,)``, un-augmented and in eval mode, on the CPU."""
    asked = _asked(model, materials, materials.members)
    losses = [nn.functional.cross_entropy(logits.double(), y, reduction="none") for logits, y in asked]
    return torch.cat(losses).float().cpu()


def _asked(
    model: nn.Module, materials: Materials, records: Examples, batch: int = EVALUATION_BATCH
) -> Iterator[tuple[Tensor, Tensor]]:
    """Ask a model about some records, in eval mode: logits and labels, batch by batch."""
    model.eval()
    for x, y in zip(*(torch.split(t, batch) for t in (records.x, records.y)), strict=True):
        yield forward(model, materials.prepare(x), materials.classes), y
