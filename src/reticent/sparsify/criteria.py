"""By what weights and filters are ranked: their absolute values, or by chance, which is the control.

Papers: Han et al. (2015), "Learning both weights and connections for efficient neural networks"; Li et al. (2017),
"Pruning filters for efficient ConvNets", for norms of filters.
"""

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor

Criterion = Literal["l1", "l2", "random"]


def scores(weights: Mapping[str, Tensor], criterion: Criterion, generator: torch.Generator) -> dict[str, Tensor]:
    """Score every weight, at least 0; of a single one l1 and l2 are both the absolute value."""
    if criterion == "random":
        return {
            name: torch.rand(value.shape, generator=generator, dtype=torch.float64) for name, value in weights.items()
        }
    return {name: value.detach().abs().cpu() for name, value in weights.items()}


def norms(filters: Tensor, criterion: Criterion, generator: torch.Generator) -> Tensor:
    """Score filters ``(F, weights)``, each by all its weights: their mean absolute value, or their root mean square.

    Means rank filters of one size as norms do, and those of several sizes on one scale.
    """
    if criterion == "random":
        return torch.rand(len(filters), generator=generator, dtype=torch.float64)
    wide = filters.detach().cpu().double()
    return wide.abs().mean(1) if criterion == "l1" else wide.square().mean(1).sqrt()
