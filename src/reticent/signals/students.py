"""Students: what a network says of the records after each epoch of its distillation from a model's soft answers.

Paper: Liu et al. (2022), "Membership inference attacks by exploiting loss trajectory". The student never sees the
records that it is asked about, and is asked in eval mode (the released code asks it as it trains).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from reticent.objectives.base import Examples
from reticent.objectives.distillation import Distillation
from reticent.outputs import Output
from reticent.signals.probes import Students
from reticent.torch_state import evaluating
from reticent.training.data import Preparation
from reticent.training.loop import EVALUATION_BATCH, fit
from reticent.training.materials import Materials, forward, untrained
from reticent.training.recipe import Recipe, Untouched
from reticent.training.streams import Streams


def losses(
    spec: Students,
    network: nn.Module,
    examples: Examples,
    others: Examples,
    prepare: Preparation,
    classes: int,
    recipe: Recipe,
    streams: Streams,
    output: Output | None = None,
) -> Tensor:
    """Distil a student and note the cross-entropy of every record after each epoch.

    In nats ``(N, epochs)``. The `others` are records that no model was trained on; the student has the model's
    architecture and optimizer, no augmentation and no sampler.
    """
    empty = Examples(others.x[:0], others.y[:0])
    materials = Materials(others, empty, empty, prepare, classes)
    told = [_soft(network, prepare(x), classes, output) for x in torch.split(others.x, EVALUATION_BATCH)]
    teaching = _Teaching(torch.cat(told), examples, prepare, classes)
    usual = Recipe()
    plain = recipe.replace(
        epochs=spec.epochs,
        warmup_epochs=min(recipe.warmup_epochs, spec.epochs),
        objective=usual.objective,
        sampler=usual.sampler,
        procedure=usual.procedure,
        output=Untouched(),
        augmentation="none",
        augmentation_strength=None,
        patience=None,
        stop_after=None,
    )
    student = untrained(plain, materials, streams)
    fit(student, plain, materials, teaching, streams)
    return torch.stack(teaching.noted, dim=1)


@torch.no_grad()
def _soft(network: nn.Module, x: Tensor, classes: int, output: Output | None) -> Tensor:
    logits = forward(network, x, classes).double()
    return (logits if output is None else output(logits, x.clone())).softmax(dim=1).float()


class _Teaching(Distillation):
    """Distillation that notes what the student says of some records after each epoch."""

    def __init__(self, targets: Tensor, examples: Examples, prepare: Preparation, classes: int) -> None:
        super().__init__(targets)
        self._examples, self._prepare, self._classes = examples, prepare, classes
        self.noted: list[Tensor] = []

    @torch.no_grad()
    def end_epoch(self, epoch: int) -> None:
        """Ask the student, in eval mode."""
        with evaluating(self.context.model):
            told = [
                forward(self.context.model, self._prepare(x), self._classes).double()
                for x in torch.split(self._examples.x, EVALUATION_BATCH)
            ]
        self.noted.append(functional.cross_entropy(torch.cat(told), self._examples.y, reduction="none").float())
