"""What one model is trained from: its records and its untrained network; and how a model is asked."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from reticent.errors import ModelError
from reticent.models import ARCHITECTURES
from reticent.models.base import build
from reticent.objectives.base import Examples, Objective
from reticent.samplers.base import Memorisation
from reticent.training.data import Preparation
from reticent.training.recipe import Recipe
from reticent.training.start import Start
from reticent.training.streams import Streams

ALONE = "Expected more than 1 value per channel"
"""How torch's error begins where BatchNorm is given one number a channel."""
HALF = {torch.float16, torch.bfloat16}


@dataclass(frozen=True)
class Materials:
    """What one model is trained from.

    Attributes:
        validation: records to choose an epoch by; may be empty.
        reference: the defender's reference non-members; may be empty.
        prepare: from stored records to model input.
        watched: records whose accuracy is noted after every epoch; they have no part in the training.
        start: where training begins, and what it must not move; by default a fresh initialisation, all of it trained.
        memorisation: how far each member is memorised, where the recipe's sampler asks for it.
        traced: note the loss of every member before training and after every epoch.
        instead: what plain training minimises in place of the recipe's objective, or None.
    """

    members: Examples
    validation: Examples
    reference: Examples
    prepare: Preparation
    classes: int
    watched: Examples | None = None
    start: Start | None = None
    traced: bool = False
    memorisation: Memorisation | None = None
    instead: Objective | None = None


def forward(model: nn.Module, x: Tensor, classes: int) -> Tensor:
    """Ask a model, and check and widen its answer: logits ``(B, C)``. Whatever asks a model does it here.

    The network is given a copy, so that one that changes its input in place changes no record. Of a binary head with
    one logit they become ``(0, z)``.

    Raises:
        ModelError: the answer is no tensor of B rows and C columns, or BatchNorm is given a single record.
    """
    wide = torch.float64 if x.is_floating_point() and _double(model) else x.dtype
    answer = _answer(model, x.to(wide, copy=True))
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
            "one column a class" + (" or one logit" if classes == 2 else "") + _unsupported(answer)
        )
    return logits


def _double(model: nn.Module) -> bool:
    """Tell whether any parameter is of float64; each step asks, and `nn.Module.parameters` takes ten times as long."""
    for parameter in model._parameters.values():
        if parameter is not None and parameter.dtype == torch.float64:
            return True
    return any(part is not None and _double(part) for part in model._modules.values())


def _answer(model: nn.Module, x: Tensor) -> object:
    """Call the network."""
    try:
        return model(x)
    except RuntimeError as error:
        half = next((n for n, p in model.named_parameters() if p.dtype in HALF), None)
        if half is None or isinstance(error, torch.OutOfMemoryError):
            raise
        raise ModelError(
            f"the model has weights in half precision ({half}), and cannot be asked in float32 ({error}): expected "
            "float32 or float64: call .float() before you return it"
        ) from error
    except ValueError as error:
        if len(x) != 1 or not str(error).startswith(ALONE):
            raise
        remedy = (
            "give a larger --batch-size (a scoring has a batch size of its own)"
            if model.training
            else "leave track_running_stats=False out, so that a finished model looks at one record at a time"
        )
        raise ModelError(
            "the model has BatchNorm, which normalises a batch by its own mean and variance: expected batches of at "
            f"least 2 records, got one of 1: {remedy}"
        ) from error


def _unsupported(answer: Tensor) -> str:
    """Name the kind of model that such answers are of, where it is one that is not supported."""
    if answer.dim() > 2:
        return "; several answers a record, such as one a token or a pixel, are not supported"
    if answer.dim() == 1 or answer.shape[1:] == (1,):
        return "; a regression is not supported"
    return ""


def untrained(recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    """Build a recipe's network with the model's own initialisation stream, on the device."""
    entry = ARCHITECTURES[recipe.architecture.method]
    with streams.lent("init"):
        model = build(entry, recipe.architecture, materials.prepare.input, materials.classes)
    return model.to(materials.prepare.device)
