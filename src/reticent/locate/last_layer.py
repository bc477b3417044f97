"""What a network's last layer sees of each record, and what the network answers: what leverage is computed from."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.special import log_softmax
from torch import Tensor, nn

from reticent.arrays import Floats
from reticent.objectives.base import Examples
from reticent.training.data import Preparation
from reticent.training.loop import EVALUATION_BATCH
from reticent.training.materials import forward


@dataclass(frozen=True, eq=False)
class Answers:
    """What one network says of n records.

    Attributes:
        logits: ``(n, C)``.
        features: ``(n, d)``, the input of the last layer, with a column of ones for its bias; None for a network whose
            answers are not those of one ``nn.Linear``.
    """

    logits: Floats
    features: Floats | None

    @property
    def log_probabilities(self) -> Floats:
        """Logarithms of the probabilities, ``(n, C)``."""
        return np.asarray(log_softmax(self.logits, axis=1))


@torch.no_grad()
def answers(model: nn.Module, examples: Examples, prepare: Preparation, classes: int) -> Answers:
    """Ask a network in eval mode about records."""
    model.eval()
    features, answered = list[Tensor](), list[Tensor]()
    with _linear(model) as called:
        for x in torch.split(examples.x, EVALUATION_BATCH):
            called.clear()
            logits = forward(model, prepare(x), classes)
            answered.append(logits.double().cpu())
            features += [seen.double().cpu() for seen in _last(called, logits)]
    known = sum(map(len, features)) == len(examples)
    return Answers(torch.cat(answered).numpy(), torch.cat(features).numpy() if known else None)


Call = tuple[nn.Linear, Tensor, Tensor]


def _last(called: list[Call], logits: Tensor) -> Iterator[Tensor]:
    """Yield what the last linear layer saw ``(B, d)``, if what it made of it is the answer."""
    for layer, seen, made in called[-1:]:
        if seen.dim() == 2 and len(seen) == len(logits) and torch.equal(made, logits[:, -made.shape[1] :].to(made)):
            ones = seen.new_ones(len(seen), 1)
            yield seen if layer.bias is None else torch.cat([seen, ones], dim=1)


@contextmanager
def _linear(model: nn.Module) -> Iterator[list[Call]]:
    """Note what the linear layers of a network see and make."""
    called: list[Call] = []

    def note(layer: Any, inputs: tuple[Tensor], made: Tensor) -> None:
        called.append((layer, inputs[0].detach(), made.detach()))

    hooks = [part.register_forward_hook(note) for part in model.modules() if isinstance(part, nn.Linear)]
    try:
        yield called
    finally:
        for hook in hooks:
            hook.remove()
