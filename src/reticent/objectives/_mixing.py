"""Mixed records: each input is a blend of two, and the loss is the blend of the losses against both labels."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from reticent.errors import InputError
from reticent.objectives.base import Batch, Context, Objective


def mixable(spec: Any, kind: str) -> None:
    """Refuse to mix records that cannot be mixed."""
    if spec.alpha and kind == "tokens":
        raise InputError(
            f"{spec.method} blends the inputs of two records, and the numbers of tokens have no blend: use a defense "
            "that changes the loss alone, such as label-smoothing or relaxloss"
        )


class Mixing(Objective):
    """Mixup, with one Beta(alpha, alpha) share a batch; an alpha of zero mixes nothing."""

    def __init__(self, spec: Any) -> None:
        """Take the options."""
        self._options, self._method, self._alpha = spec, spec.method, float(spec.alpha)

    def begin(self, context: Context) -> None:
        """Prepare the streams."""
        super().begin(context)
        stored = context.members.x.dtype
        if not (stored.is_floating_point or stored == torch.uint8):
            mixable(self._options, "tokens")
        if self._alpha:
            self._shares = np.random.default_rng(context.generator(f"{self._method}/share").initial_seed())
            self._pairs = context.generator(f"{self._method}/pairs")

    def inputs(self, x: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Blend each input with another one of the batch.

        Args:
            x: model input ``(B, ...)``.
            targets: ``int64 (B,)``.
            batch: what else is known of the step.

        Returns:
            The blended input.
        """
        del batch
        if not self._alpha:
            return x
        self._share = float(self._shares.beta(self._alpha, self._alpha))
        partners = torch.randperm(len(x), generator=self._pairs).to(x.device)
        self._others = targets[partners]
        return self._share * x + (1 - self._share) * x[partners]

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        """Blend the cross-entropies against both labels."""
        del batch
        own = functional.cross_entropy(logits, targets)
        if not self._alpha:
            return own
        return self._share * own + (1 - self._share) * functional.cross_entropy(logits, self._others)
