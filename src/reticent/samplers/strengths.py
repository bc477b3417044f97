"""Two strengths of regularisation: members that are memorised most are trained on with a weight decay of their own.

Paper: Shang et al. (2025), WeMem. The rule is one record's, ``L = CE + 1/2 lambda |theta|^2`` with ``lambda`` by its
score, and the mean over a mixed batch would have one lambda for all: so no batch is mixed. Each strength has an
optimizer of its own, with its own momentum and, under Adam, its own second moments, by which the decay is divided too.
"""

from typing import Annotated, Literal

import torch
from annotated_types import Ge, Le
from torch import Tensor

from reticent.samplers.base import Group, Known, Scored


class Regularised(Scored):
    """Options of two strengths."""

    strength: Annotated[float, Ge(0)] = 0.1
    """Weight decay of the steps on risky members; the steps on the others have the recipe's (the paper's lambda_r and
    lambda_g, 0.01 to 1 and 0.0005)."""
    threshold: Annotated[float, Ge(0), Le(1)] = 0.6
    """Members whose score is at least this are risky (the paper tries 0.5 to 0.75)."""
    scale: Literal["min-max", "quantile"] = "min-max"
    """What the threshold is compared with: scores scaled so that the smallest is 0 and the largest 1, or the share of
    members whose score is lower."""


def risky(spec: Regularised, scores: Tensor) -> Tensor:
    """Tell which members ``(n,)`` are risky."""
    if spec.scale == "quantile":
        lower = torch.searchsorted(scores.sort().values, scores)
        return lower / len(scores) >= spec.threshold
    low, high = scores.aminmax()
    return (scores - low) / (high - low) >= spec.threshold  # Where all are equal, that is NaN, and nobody is risky.


def groups(rows: Tensor, at_risk: Tensor, spec: Regularised, known: Known) -> list[Group]:
    """Divide what an epoch visits: risky members first, then the others. A part of one member joins the other part."""
    chosen = at_risk[rows]
    if 1 in {int(chosen.sum()), int((~chosen).sum())}:
        chosen = torch.full_like(chosen, int(chosen.sum()) > 1)
    parts = (Group(rows[chosen], spec.strength), Group(rows[~chosen], known.weight_decay))
    return [part for part in parts if len(part.rows)]
