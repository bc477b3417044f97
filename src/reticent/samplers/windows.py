"""Windows over members that are ranked by memorisation, class by class.

Paper: Shang et al. (2025), WeMem. The released code clips the window's end at a small class and keeps it clipped for
the classes after it; here every class has its own end.
"""

from typing import Annotated, Literal

import torch
from annotated_types import Ge
from torch import Tensor

from reticent.samplers.base import Known, Scored

WIDTH = 4 / 9
"""The usual width, as a share of a class of mean size; the paper's are 2/3, 4/9 and 2/9."""
FEWEST = 2
"""Members that an epoch visits at least, since BatchNorm needs two."""


class Windowed(Scored):
    """Options of a window."""

    width: Annotated[int, Ge(1)] | None = None
    """Members of each class that an epoch visits. [4/9 of a class of mean size]"""
    stride: Annotated[int, Ge(0)] | None = None
    """By how many members the window moves on after each epoch. [as many as bring it to the end of a class of mean size
    in the last epoch, at least 1: of classes with fewer members than there are epochs, the last epochs visit none]"""
    order: Literal["high-to-low", "low-to-high"] = "high-to-low"
    """Whether the window begins with the members that are memorised most, or least."""


def places(scores: Tensor, y: Tensor, *, descending: bool) -> Tensor:
    """Rank the members of each class by their scores, from 0; of equal ones the first by row comes first."""
    ranked = torch.argsort(scores, descending=descending, stable=True)
    by_class = ranked[torch.argsort(y[ranked], stable=True)]
    counts = torch.bincount(y)
    found = torch.empty_like(by_class)
    found[by_class] = torch.arange(len(y)) - (counts.cumsum(0) - counts)[y[by_class]]
    return found


def sizes(spec: Windowed, known: Known) -> tuple[int, int]:
    """Tell how wide the window is, and by how much it moves on."""
    mean = len(known.y) / int((torch.bincount(known.y) > 0).sum())
    width = spec.width or max(1, round(WIDTH * mean))
    usual = max(1, round((mean - width) / max(1, known.epochs - 1)))
    return width, usual if spec.stride is None else spec.stride


class Window:
    """The rows that each epoch's window holds: of class c the places ``[stride * epoch, stride * epoch + width)``."""

    def __init__(self, spec: Windowed, known: Known) -> None:
        self._width, self._stride = sizes(spec, known)
        self._places = places(known.memorised, known.y, descending=spec.order == "high-to-low")

    def rows(self, epoch: int) -> Tensor:
        """List the rows of an epoch's window, ascending; none once it has passed every class."""
        start = self._stride * epoch
        return torch.nonzero((self._places >= start) & (self._places < start + self._width)).flatten()

    def visited(self, epoch: int) -> Tensor:
        """List the rows that an epoch visits: those of its window, if these are enough for a step."""
        rows = self.rows(epoch)
        return rows if len(rows) >= FEWEST else rows[:0]
