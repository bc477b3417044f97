"""Mixup: training on blends of two records, against the blend of their labels.

Paper: Zhang et al. (2018), "mixup: beyond empirical risk minimization", ICLR; one share a batch, as in its code.
"""

from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from annotated_types import Ge
from torch import Tensor
from torch.nn import functional

from reticent.errors import InputError
from reticent.objectives.base import Batch, Configured, Context, ObjectiveEntry
from reticent.spec import Spec


class Mixup(Spec):
    """Options of mixup."""

    method: ClassVar[str] = "mixup"

    alpha: Annotated[float, Ge(0)] = 1.0
    """Shares are drawn from Beta(alpha, alpha); 1 is uniform, smaller values blend less, and 0 not at all."""


def mixable(spec: Any, kind: str) -> None:
    """Refuse to mix records that cannot be mixed."""
    if spec.alpha and kind == "tokens":
        raise InputError(
            f"{spec.method} blends the inputs of two records, and the numbers of tokens have no blend: use a defense "
            "that changes the loss alone, such as label-smoothing or relaxloss"
        )


class Mixing(Configured[Any]):
    """One Beta(alpha, alpha) share a batch; the loss is the blend of the losses against both labels."""

    def begin(self, context: Context) -> None:
        """Prepare the streams."""
        super().begin(context)
        self._alpha = float(self.spec.alpha)
        stored = context.members.first(1).x.dtype
        if not (stored.is_floating_point or stored == torch.uint8):
            mixable(self.spec, "tokens")
        if self._alpha:
            self._shares = np.random.default_rng(context.generator(f"{self.spec.method}/share").initial_seed())
            self._pairs = context.generator(f"{self.spec.method}/pairs")

    def inputs(self, x: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Blend each input with another one of the batch."""
        if not self._alpha:
            return x
        self._share = float(self._shares.beta(self._alpha, self._alpha))
        partners = torch.randperm(len(x), generator=self._pairs).to(x.device)
        self._others = targets[partners]
        return self._share * x + (1 - self._share) * x[partners]

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Blend the cross-entropies against both labels."""
        own = functional.cross_entropy(logits, targets)
        if not self._alpha:
            return own
        return self._share * own + (1 - self._share) * functional.cross_entropy(logits, self._others)


ENTRY = ObjectiveEntry(
    Mixup,
    Mixing,
    "Training on blends of two records, against the blend of their labels.",
    check_kind=mixable,
    per_record=False,
    paper="Zhang et al. (2018), ICLR",
    cost="one blend of the inputs a step",
    off=(Mixup(alpha=0.0),),
)
