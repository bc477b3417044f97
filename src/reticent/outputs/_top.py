"""What every output defense does last: finite answers whose largest column is the model's own, also once stored."""

import torch
from torch import Tensor

LARGEST = 1e37
"""Answers beyond this are taken for infinite by who reads them, so none is larger."""
ULP = 2.0**-23
"""Relative distance of neighbouring ``float32`` numbers, at most."""
TINY = 2.0**-126
"""The smallest ``float32`` number that has all its digits."""


def keep_top(answers: Tensor, logits: Tensor) -> Tensor:
    """Leave the largest column strictly on top where a defense ties it, loses it, or would once answers are stored.

    Signals are stored as ``float32``, and labels are read from there. Columns that share the largest logit there go
    on sharing it; every other column ends strictly below, in the order that it had. Answers that are so already come
    back as they are, bit for bit.
    """
    own = logits.float()
    top = own == own.amax(dim=1, keepdim=True)
    bounded = answers.clamp(-LARGEST, LARGEST)
    best = bounded.amax(dim=1, keepdim=True).clamp(min=-LARGEST * (1 - 8 * ULP))
    stored = best.float()
    below = stored.double() - (stored.double().abs() * ULP).clamp(min=TINY)
    tied = ((bounded.float() >= stored) & ~top).any(dim=1, keepdim=True)
    return torch.where(top, best, torch.where(tied, torch.minimum(bounded, below), bounded))
