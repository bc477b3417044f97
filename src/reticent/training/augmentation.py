"""Augmentation: what training draws anew of a record each time that it is visited, on records as they are stored.

Images: mirroring and shifting, and cutout (DeVries and Taylor, 2017). Features: noise that keeps the mean of every
column. Tokens: word dropout (Iyyer et al., 2015). What is known of columns is taken over all records, members or not,
as for encoders, so that it tells no membership.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from reticent.errors import InputError

KINDS: dict[str, tuple[str, ...]] = {
    "flip": ("image",),
    "crop": ("image",),
    "flip-crop": ("image",),
    "cutout": ("image",),
    "flip-crop-cutout": ("image",),
    "gaussian": ("image", "tabular"),
    "bit-flip": ("tabular",),
    "feature-dropout": ("tabular",),
    "word-dropout": ("tokens",),
}
"""Every augmentation, and the kinds of records that it is for."""
USUAL = 0.1
"""Strength of noise where the user says none."""
CUTOUT = 0.5
"""The same, of cutout: 16 of 32 pixels, as its authors cut on CIFAR-10."""
MOST_FLIPPED = 0.5
"""No 0 becomes 1 with a larger probability."""


@dataclass(frozen=True, eq=False)
class Columns:
    """What noise needs to know of the columns of features, over all records.

    Attributes:
        mean: mean of each column ``(D,)``.
        std: standard deviation of each ``(D,)``.
        bits: ``bool (D,)``, columns of zeros and ones that are no part of a group.
        groups: columns of which each record has exactly one 1, from the first to one past the last.
    """

    mean: Tensor
    std: Tensor
    bits: Tensor
    groups: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, x: NDArray[Any], device: torch.device) -> "Columns":
        """Compute them of features ``(N, D)``."""
        mean, std = (torch.from_numpy(f(x, axis=0, dtype=np.float64)).float().to(device) for f in (np.mean, np.std))
        bits = ((x == 0) | (x == 1)).all(axis=0)
        groups = _groups(x, bits)
        for first, end in groups:
            bits[first:end] = False
        return cls(mean, std, torch.from_numpy(bits).to(device), groups)


def _groups(x: NDArray[Any], bits: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Find neighbouring columns that are one category as bits: exactly one of them is 1 in every record."""
    found, first = [], 0
    while first < len(bits):
        total, end = np.zeros(len(x), dtype=np.int64), first
        while end < len(bits) and bits[end] and total.max() <= 1 and total.min() == 0:
            total += x[:, end] == 1
            end += 1
        if end > first + 1 and (total == 1).all():
            found.append((first, end))
            first = end
        else:
            first += 1
    return tuple(found)


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


def cutout(x: Tensor, share: float, fill: Tensor, generator: torch.Generator) -> Tensor:
    """Cover a square of each image ``(B, channels, height, width)`` by `fill`, one value a channel.

    Its side is that share of the shorter side, at least one pixel; it may reach over the border.
    """
    count, _, height, width = x.shape
    side = max(1, round(share * min(height, width)))
    inside = []
    for length in (height, width):
        first = torch.randint(length, (count, 1), generator=generator).to(x.device) - side // 2
        place = torch.arange(length, device=x.device)
        inside.append((place >= first) & (place < first + side))
    covered = (inside[0][:, None, :, None]) & (inside[1][:, None, None, :])
    return torch.where(covered, fill.to(x.dtype).view(1, -1, 1, 1), x)


def gaussian(x: Tensor, std: Tensor, generator: torch.Generator) -> Tensor:
    """Add normal noise of a standard deviation, which is broadcast."""
    return x + std * torch.randn(x.shape, generator=generator).to(x.device)


def bit_flip(x: Tensor, rate: float, columns: Columns, generator: torch.Generator) -> Tensor:
    """Turn ones into zeros with probability `rate`, and so many zeros into ones that every column's mean stays.

    A 0 of a column with the share p of ones becomes 1 with probability ``rate p / (1 - p)``, at most one half. The
    columns of one category are drawn anew together, with probability `rate`, from the shares of its values.
    """
    drawn = torch.rand(x.shape, generator=generator).to(x.device)
    up = (rate * columns.mean / (1 - columns.mean).clamp(min=1e-12)).clamp(max=MOST_FLIPPED)
    flipped = columns.bits & (drawn < torch.where(x == 1, rate, up))
    x = torch.where(flipped, 1 - x, x)
    for first, end in columns.groups:
        # One uniform number says whether, and a second one which.
        anew, value = drawn[:, first] < rate, drawn[:, first + 1]
        place = torch.searchsorted(columns.mean[first:end].cumsum(0), value.contiguous()).clamp(max=end - first - 1)
        x[anew, first:end] = functional.one_hot(place[anew], end - first).to(x.dtype)
    return x


def dropout(x: Tensor, rate: float, fill: Tensor, generator: torch.Generator) -> Tensor:
    """Replace each feature or token with probability `rate` by `fill`, which is broadcast."""
    return torch.where((torch.rand(x.shape, generator=generator) < rate).to(x.device), fill.to(x.dtype), x)


def usual(kind: str, x: NDArray[Any]) -> str:
    """Name the augmentation that suits records of a kind."""
    if kind == "image":
        return "crop" if x.shape[1] == 1 else "flip-crop"
    if kind == "tokens":
        return "word-dropout"
    bits = ((x == 0) | (x == 1)).all(axis=0)
    return "bit-flip" if bits.mean() > 0.5 else "gaussian"


def check(augmentation: str, padding: int, kind: str, shape: tuple[int, ...]) -> None:
    """Check that an augmentation is for such records."""
    if augmentation == "none":
        return
    if kind not in KINDS[augmentation]:
        fitting = [name for name, kinds in KINDS.items() if kind in kinds]
        raise InputError(
            f"augmentation {augmentation!r} is for {' and '.join(KINDS[augmentation])} records, got {kind} records of "
            f"shape {shape}: give one of {', '.join(fitting)}, or none"
        )
    if "crop" in augmentation and padding >= min(shape[1:]):
        raise InputError(f"padding: expected less than the image's {min(shape[1:])} pixels, got {padding}")
