"""A small convolutional network: three 3x3 convolutions with BatchNorm and max-pooling, then one linear layer."""

from itertools import pairwise
from typing import Annotated, ClassVar

from annotated_types import Ge, Le, MinLen
from torch import nn

from reticent.errors import InputError
from reticent.models.base import Architecture, Input


class CNN(Architecture):
    """Options of the small convolutional network."""

    method: ClassVar[str] = "cnn"

    widths: Annotated[tuple[Annotated[int, Ge(1), Le(8192)], ...], MinLen(1)] = (32, 64, 128)
    """Number of channels of each convolution; each is followed by a halving of height and width."""


def build(spec: CNN, given: Input, classes: int) -> nn.Module:
    """Build the network."""
    channels, height, width = given.shape
    if min(height, width) < 2 ** len(spec.widths):
        fitting = ",".join(map(str, spec.widths[: min(height, width).bit_length() - 1]))
        fewer = f"--set recipe.architecture.widths=[{fitting}], or " if fitting else ""
        raise InputError(
            f"cnn: {len(spec.widths)} halvings need images of {2 ** len(spec.widths)} pixels, got {height} x {width}: "
            f"give {fewer}--architecture mlp"
        )
    layers: list[nn.Module] = []
    for before, after in pairwise((channels, *spec.widths)):
        layers += [
            nn.Conv2d(before, after, 3, padding=1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(spec.widths[-1], classes))
