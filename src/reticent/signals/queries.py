"""Queries: a fixed list of views of a record, the same for every model, in the same order.

Papers: Carlini et al. (2022), section VI-C (image and mirror); Zarifzadeh et al. (2024), appendix (mirror x shifts).
"""

from typing import Annotated, ClassVar

import torch
from annotated_types import Ge, Le
from torch import Tensor
from torch.nn import functional

from reticent.errors import InputError
from reticent.spec import Spec


class Queries(Spec):
    """Which views of a record are asked about; the plain record always comes first."""

    method: ClassVar[str] = "queries"

    mirror: bool = False
    """For images: also the mirror image of every view."""
    shifts: Annotated[int, Ge(0), Le(16)] = 0
    """For images: every shift by -s, 0 and s pixels in both directions, s = `shifts`, borders reflected; 0 is none."""

    def views(self) -> list[tuple[int, int, bool]]:
        """List the views."""
        steps = [0, -self.shifts, self.shifts] if self.shifts else [0]
        return [(dy, dx, flip) for flip in ([False, True] if self.mirror else [False]) for dy in steps for dx in steps]

    def check(self, kind: str, shape: tuple[int, ...]) -> None:
        """Check that records can be viewed so."""
        if len(self.views()) > 1 and kind != "image":
            raise InputError(f"queries: mirror and shifts are for images, got {kind} records of shape {shape}")
        if self.shifts and self.shifts >= min(shape[1:]):
            raise InputError(f"queries: expected shifts below the image's {min(shape[1:])} pixels, got {self.shifts}")


def view(x: Tensor, down: int, right: int, flip: bool) -> Tensor:
    """Make one view of a batch of images ``(B, channels, H, W)``: mirrored first, then shifted; plain of any batch."""
    if flip:
        x = x.flip(3)
    if not (down or right):
        return x
    pad = max(abs(down), abs(right))
    padded = functional.pad(x, (pad,) * 4, mode="reflect")
    height, width = x.shape[2:]
    return padded[:, :, pad - down : pad - down + height, pad - right : pad - right + width]


def all_views(queries: Queries, x: Tensor) -> list[Tensor]:
    """Make every view of a batch, one tensor a query."""
    with torch.no_grad():
        return [view(x, *args) for args in queries.views()]
