"""A multilayer perceptron with ReLU; images are flattened. `fc` is one of given sizes.

Papers of `fc`: Yuan and Zhang (2022), "Membership inference attacks and defenses in neural network pruning", whose
released code has 256 and 128 hidden units with dropout 0.1 for Texas100, Purchase100 and Location30, and Shang et al.
(2025), "Defending against membership inference attacks for iteratively pruned deep neural networks", who take it over.
"""

import math
from itertools import pairwise
from typing import Annotated, ClassVar

from annotated_types import Ge, Le, Lt
from torch import nn

from reticent.models.base import Architecture, Input


class MLP(Architecture):
    """Options of the multilayer perceptron."""

    method: ClassVar[str] = "mlp"

    widths: tuple[Annotated[int, Ge(1), Le(2**20)], ...] = (256, 256)
    """Number of units of each hidden layer."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.0
    """Share of hidden units dropped in training."""


class FC(MLP):
    """Options of the papers' fully connected network for Texas100, Purchase100 and Location30."""

    method: ClassVar[str] = "fc"

    widths: tuple[Annotated[int, Ge(1), Le(2**20)], ...] = (256, 128)
    """Number of units of each hidden layer."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    """Share of hidden units dropped in training."""


def build(spec: MLP, given: Input, classes: int) -> nn.Module:
    """Build the network."""
    layers: list[nn.Module] = [nn.Flatten()] if len(given.shape) > 1 else []
    widths = [math.prod(given.shape), *spec.widths]
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
        if spec.dropout:
            layers.append(nn.Dropout(spec.dropout))
    return nn.Sequential(*layers, nn.Linear(widths[-1], classes))
