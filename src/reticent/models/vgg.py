"""VGG with BatchNorm: five groups of 3x3 convolutions with a max-pooling after each, then a classifier.

Paper: Simonyan and Zisserman (2015), "Very deep convolutional networks for large-scale image recognition", table 1,
configurations A, D and E; BatchNorm after each convolution (Ioffe and Szegedy 2015). The default classifier is one
linear layer, as on CIFAR: 9,231,114, 14,728,266 and 20,040,522 parameters with 10 classes. The paper's own is
``hidden=(4096, 4096), pool=7``: 132,868,840, 138,365,992 and 143,678,248 with 1,000 classes.
"""

import math
from itertools import pairwise
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Le, Lt
from pydantic import model_validator
from torch import nn

from reticent.errors import InputError
from reticent.models.base import Architecture, Input, Strides, Widths, one_a_stage
from reticent.models.stages import Layered

GROUPS = 5


class VGG(Architecture):
    """Options that every VGG has."""

    COUNTS: ClassVar[tuple[int, ...]] = ()
    """Number of convolutions of each group."""

    width: Annotated[int, Ge(1), Le(1024)] = 64
    """Channels of the first group; the next ones have 2, 4, 8 and 8 times as many."""
    widths: Widths = ()
    """Channels of each of the five groups, in place of `width` and its multiples."""
    strides: Strides = ()
    """By how much the max-pooling at the end of each group divides height and width; 2 each by default, 1 is none."""
    hidden: Widths = ()
    """Units of the hidden layers of the classifier; by default there is none."""
    pool: Annotated[int, Ge(1), Le(16)] = 1
    """Height and width to which the last feature map is averaged before the classifier."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.0
    """Share of hidden units of the classifier dropped in training."""

    @model_validator(mode="after")
    def _one_a_stage(self) -> Any:
        one_a_stage(self, ("widths", "strides"), GROUPS)
        return self


class VGG11(VGG):
    """Options of VGG-11."""

    method: ClassVar[str] = "vgg11"
    COUNTS: ClassVar[tuple[int, ...]] = (1, 1, 2, 2, 2)


class VGG16(VGG):
    """Options of VGG-16."""

    method: ClassVar[str] = "vgg16"
    COUNTS: ClassVar[tuple[int, ...]] = (2, 2, 3, 3, 3)


class VGG19(VGG):
    """Options of VGG-19."""

    method: ClassVar[str] = "vgg19"
    COUNTS: ClassVar[tuple[int, ...]] = (2, 2, 4, 4, 4)


class Network(Layered):
    """Five groups and a classifier."""

    FIRST: ClassVar[str] = ""
    BLOCKS: ClassVar[str] = "groups"
    BLOCK: ClassVar[str] = "stage"

    def __init__(self, groups: list[nn.Module], classifier: nn.Sequential) -> None:
        super().__init__()
        self.groups = nn.Sequential(*groups)
        self.head = classifier
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, 0.01)
            if isinstance(module, nn.Conv2d | nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)


def build(spec: VGG, given: Input, classes: int) -> nn.Module:
    """Build the network."""
    channels, height, width = given.shape
    widths = spec.widths or tuple(spec.width * times for times in (1, 2, 4, 8, 8))
    strides = spec.strides or (2,) * GROUPS
    if min(height, width) < math.prod(strides):
        raise InputError(
            f"{spec.method}: poolings by {' x '.join(map(str, strides))} need images of {math.prod(strides)} pixels, "
            f"got {height} x {width}: set strides, with 1 for a group without pooling"
        )
    before = (channels, *widths[:-1])
    groups = [_group(*sizes) for sizes in zip(before, widths, spec.COUNTS, strides, strict=True)]
    units = [widths[-1] * spec.pool**2, *spec.hidden]
    layers: list[nn.Module] = [nn.AdaptiveAvgPool2d(spec.pool), nn.Flatten()]
    for wide, narrow in pairwise(units):
        layers += [nn.Linear(wide, narrow), nn.ReLU(), nn.Dropout(spec.dropout)]
    return Network(groups, nn.Sequential(*layers, nn.Linear(units[-1], classes)))


def _group(before: int, width: int, count: int, stride: int) -> nn.Module:
    layers: list[nn.Module] = []
    for index in range(count):
        convolution = nn.Conv2d(before if index == 0 else width, width, 3, padding=1)
        layers += [convolution, nn.BatchNorm2d(width), nn.ReLU()]
    return nn.Sequential(*layers, nn.MaxPool2d(stride)) if stride > 1 else nn.Sequential(*layers)
