"""The records of one model on its device, flips and crops, and the one place where they become model input."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from reticent.data.records import Records
from reticent.models.base import Input
from reticent.objectives.base import Examples

__all__ = ["Examples", "Preparation"]


class Preparation:
    """From stored records to model input: images become ``(x / 255 - mean) / std``, features and tokens stay."""

    def __init__(self, records: Records, device: torch.device) -> None:
        self.device = device
        self.input = Input(records.kind, tuple(records.x.shape[1:]), records.vocabulary)
        self._scale: Tensor | None = None
        self._shift = torch.zeros(0)
        if records.kind == "image":
            mean, std = (torch.tensor(v, dtype=torch.float64).view(-1, 1, 1) for v in (records.mean, records.std))
            self._scale = (1 / (255 * std)).float().to(device)
            self._shift = (-mean / std).float().to(device)

    def examples(self, records: Records, ids: NDArray[np.int64]) -> Examples:
        """Bring some records to the device."""
        x, y = np.ascontiguousarray(records.x[ids]), records.y[ids]
        return Examples(torch.from_numpy(x).to(self.device), torch.from_numpy(y).to(self.device))

    def __call__(self, x: Tensor) -> Tensor:
        """Turn stored records into model input."""
        return x if self._scale is None else torch.addcmul(self._shift, x.float(), self._scale)


def flip(x: Tensor, generator: torch.Generator) -> Tensor:
    """Mirror each image with probability one half."""
    chosen = torch.rand(len(x), generator=generator) < 0.5
    return torch.where(chosen.to(x.device).view(-1, 1, 1, 1), x.flip(3), x)


def crop(x: Tensor, padding: int, generator: torch.Generator) -> Tensor:
    """Shift each image by up to `padding` pixels in both directions, borders reflected."""
    count, channels, height, width = x.shape
    padded = functional.pad(x.float(), (padding,) * 4, mode="reflect").to(x.dtype)
    offsets = torch.randint(2 * padding + 1, (2, count, 1), generator=generator).to(x.device)
    rows = (offsets[0] + torch.arange(height, device=x.device)).view(count, 1, height, 1)
    columns = (offsets[1] + torch.arange(width, device=x.device)).view(count, 1, 1, width)
    records = torch.arange(count, device=x.device).view(count, 1, 1, 1)
    return padded[records, torch.arange(channels, device=x.device).view(1, channels, 1, 1), rows, columns]


def augment(x: Tensor, kind: str, padding: int, generator: torch.Generator) -> Tensor:
    """Apply a recipe's augmentation."""
    if kind in {"flip", "flip-crop"}:
        x = flip(x, generator)
    return crop(x, padding, generator) if kind in {"crop", "flip-crop"} else x
