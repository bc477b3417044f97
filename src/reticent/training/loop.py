"""The loop: one for every objective, with batches gathered from tensors on the device."""

import copy
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from reticent.errors import InputError, ModelError, TrainingDivergedError
from reticent.objectives.base import Batch, Objective
from reticent.training import augment, optim
from reticent.training.data import Examples, Preparation
from reticent.training.recipe import Recipe
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
    """

    loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    kept: int = 0


@dataclass(frozen=True)
class Materials:
    """What one model is trained from.

    Attributes:
        members: its training records.
        validation: records to choose an epoch by; may be empty.
        reference: the defender's reference non-members; may be empty.
        prepare: from stored records to model input.
        classes: number of classes C.
        watched: records whose accuracy is noted after every epoch; they have no part in the training.
    """

    members: Examples
    validation: Examples
    reference: Examples
    prepare: Preparation
    classes: int
    watched: Examples | None = None


def forward(model: nn.Module, x: Tensor, classes: int) -> Tensor:
    """Ask a model, and check and widen its answer.

    Args:
        model: the network.
        x: model input ``(B, ...)``.
        classes: number of classes C.

    Returns:
        Logits ``(B, C)``; those of a binary head with one logit become ``(0, z)``.

    Raises:
        ModelError: the answer is no tensor of B rows and C columns.
    """
    wide = next((p.dtype for p in model.parameters() if p.dtype == torch.float64), None)
    answer = model(x.to(wide) if wide is not None and x.is_floating_point() else x)
    if not isinstance(answer, Tensor):
        raise ModelError(
            f"the model must answer a tensor of logits, got {type(answer).__name__}: "
            "wrap it in a module that returns the logits alone"
        )
    logits = answer.view(len(x), -1) if answer.dim() == 1 and len(answer) == len(x) else answer
    if logits.shape == (len(x), 1) and classes == 2:
        return torch.cat([torch.zeros_like(logits), logits], dim=1)
    if logits.shape != (len(x), classes):
        raise ModelError(
            f"the model answered shape {tuple(answer.shape)} for {len(x)} records: "
            f"expected logits ({len(x)}, {classes}), "
            "one column a class" + (" or one logit" if classes == 2 else "")
        )
    return logits


def fit(model: nn.Module, recipe: Recipe, materials: Materials, objective: Objective, streams: Streams) -> History:
    """Train a model in place, from the state that it has.

    Args:
        model: the network, on the device of the materials.
        recipe: optimizer, schedule, epochs, batches, augmentation, precision.
        materials: the records.
        objective: the loss.
        streams: the model's random streams.

    Returns:
        The history; the model is left in eval mode with the kept epoch's state.

    Raises:
        InputError: early stopping without validation records, or augmentation of records that are no images.
        TrainingDivergedError: the loss became NaN or infinite.
    """
    given = materials.prepare.input
    check_recipe(recipe, given.kind, given.shape, len(materials.validation))
    run = _Run(model, recipe, materials, objective, streams)
    best: tuple[float, dict[str, Tensor] | None] = (math.inf, None)
    history = History()
    with streams.lent("dropout"):
        for epoch, batches in enumerate(planned(recipe, len(run.sizes))):
            history.loss.append(run.epoch(epoch, batches))
            history.kept = epoch
            if materials.watched is not None:
                history.accuracy.append(accuracy(model, materials, materials.watched))
            if recipe.patience is None:
                continue
            loss = validation_loss(model, materials)
            history.validation_loss.append(loss)
            if loss < best[0]:
                best = (loss, copy.deepcopy(model.state_dict()))
            waited = epoch - history.validation_loss.index(min(history.validation_loss))
            if waited >= recipe.patience:
                break
    if best[1] is not None:
        model.load_state_dict(best[1])
        history.kept = history.validation_loss.index(min(history.validation_loss))
    model.eval()
    return history


def batch_sizes(records: int, size: int) -> list[int]:
    """Divide an epoch into batches; a last one of a single record joins the one before, since BatchNorm needs two.

    Args:
        records: number of records.
        size: of a batch.

    Returns:
        Sizes that add up to the records.
    """
    sizes = [min(size, records - start) for start in range(0, records, size)]
    if size > 1 and len(sizes) > 1 and sizes[-1] == 1:
        sizes[-2:] = [sizes[-2] + 1]
    return sizes


def planned(recipe: Recipe, batches: int) -> list[int]:
    """Plan how many batches each epoch has: all, but for the last one where training stops in the middle of it.

    Args:
        recipe: says when training stops.
        batches: of a whole epoch.

    Returns:
        One number an epoch, at least 1.
    """
    if recipe.stop_after is None:
        return [batches] * recipe.epochs
    whole = int(recipe.stop_after)
    rest = round((recipe.stop_after - whole) * batches)
    return [batches] * whole + [rest] * (rest > 0) or [1]


class _Run:
    """The state of one call of `fit`."""

    def __init__(
        self, model: nn.Module, recipe: Recipe, materials: Materials, objective: Objective, streams: Streams
    ) -> None:
        self.model, self.recipe, self.materials, self.objective = model, recipe, materials, objective
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = optim.optimizer(recipe, self.parameters)
        self.order, self.noise = streams.generator("order"), streams.generator("augmentation")
        self.sizes = batch_sizes(len(materials.members), recipe.batch_size)
        self.step = 0
        device = materials.prepare.device.type
        self.cast: Callable[[], AbstractContextManager[object]] = (
            (lambda: torch.autocast(device, dtype=torch.bfloat16)) if recipe.precision == "bfloat16" else nullcontext
        )

    def epoch(self, epoch: int, batches: int) -> float:
        """Visit every member once, or those of the first batches.

        Args:
            epoch: from 0.
            batches: how many to take.

        Returns:
            Mean loss over the records visited.

        Raises:
            TrainingDivergedError: the loss is NaN or infinite.
        """
        self.model.train()
        members = self.materials.members
        order = torch.randperm(len(members), generator=self.order).to(members.y.device)
        x, y = members.x[order], members.y[order]
        total = torch.zeros((), dtype=torch.float64, device=y.device)
        parts = list(zip(*(torch.split(t, self.sizes) for t in (order, x, y)), strict=True))[:batches]
        for ids, xs, ys in parts:
            total += self._step(xs, ys, Batch(ids, epoch)).double() * len(ys)
        loss = float(total) / sum(self.sizes[:batches])
        if not math.isfinite(loss):
            raise TrainingDivergedError(
                f"the training loss became {loss} in epoch {epoch + 1} of {self.recipe.epochs}: "
                f"lower the learning rate ({self.recipe.learning_rate:g}), warm it up, or clip the gradient (clip_norm)"
            )
        return loss

    def _step(self, x: Tensor, y: Tensor, batch: Batch) -> Tensor:
        recipe = self.recipe
        if recipe.augmentation != "none":
            x = augment.augment(x, recipe.augmentation, recipe.padding, self.noise)
        self.optimizer.rate = recipe.learning_rate * optim.factor(recipe, self.step, len(self.sizes))
        with self.cast():
            logits = forward(self.model, self.materials.prepare(x), self.materials.classes)
        loss = self.objective(logits.float(), y, batch)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if recipe.clip_norm is not None:
            nn.utils.clip_grad_norm_(self.parameters, recipe.clip_norm)
        self.optimizer.step()
        self.step += 1
        return loss.detach()


def check_recipe(recipe: Recipe, kind: str, shape: tuple[int, ...], validation: int) -> None:
    """Check what can be known of a recipe and its records before training.

    Args:
        recipe: how the model is to be made.
        kind: of the records.
        shape: of one record.
        validation: how many validation records there are.

    Raises:
        InputError: early stopping without validation records, or augmentation of records that cannot be augmented so.
    """
    if recipe.patience is not None and not validation:
        raise InputError("patience (early stopping) needs validation records: give --validation N")
    if recipe.augmentation != "none" and kind != "image":
        raise InputError(f"augmentation {recipe.augmentation!r} is for images, got records of shape {shape}")
    if "crop" in recipe.augmentation and recipe.padding >= min(shape[1:]):
        raise InputError(f"padding: expected less than the image's {min(shape[1:])} pixels, got {recipe.padding}")


@torch.no_grad()
def accuracy(model: nn.Module, materials: Materials, records: Examples) -> float:
    """Compute the share of records that a model labels correctly, in eval mode.

    Args:
        model: the network.
        materials: says how records become model input.
        records: whom to ask about.

    Returns:
        The share.
    """
    model.eval()
    right = 0
    for x, y in zip(*(torch.split(t, EVALUATION_BATCH) for t in (records.x, records.y)), strict=True):
        right += int((forward(model, materials.prepare(x), materials.classes).argmax(dim=1) == y).sum())
    return right / len(records)


@torch.no_grad()
def validation_loss(model: nn.Module, materials: Materials) -> float:
    """Compute the mean cross-entropy of the validation records, in eval mode.

    Args:
        model: the network.
        materials: holds the records.

    Returns:
        The mean, in nats.
    """
    model.eval()
    records = materials.validation
    total = 0.0
    for x, y in zip(*(torch.split(t, EVALUATION_BATCH) for t in (records.x, records.y)), strict=True):
        logits = forward(model, materials.prepare(x), materials.classes)
        total += float(nn.functional.cross_entropy(logits.double(), y, reduction="sum"))
    return total / len(records)
