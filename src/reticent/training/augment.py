"""Random flips and crops of a whole batch at once, on the device, before normalisation."""

import torch
from torch import Tensor
from torch.nn import functional


def flip(x: Tensor, generator: torch.Generator) -> Tensor:
    """Mirror each image with probability one half.

    Args:
        x: ``(B, channels, H, W)``.
        generator: the augmentation stream, on the CPU.

    Returns:
        The same shape and type.
    """
    chosen = torch.rand(len(x), generator=generator) < 0.5
    return torch.where(chosen.to(x.device).view(-1, 1, 1, 1), x.flip(3), x)


def crop(x: Tensor, padding: int, generator: torch.Generator) -> Tensor:
    """Shift each image by up to `padding` pixels in both directions, borders reflected.

    Args:
        x: ``(B, channels, H, W)``.
        padding: the largest shift; smaller than H and W.
        generator: the augmentation stream, on the CPU.

    Returns:
        The same shape and type.
    """
    count, channels, height, width = x.shape
    padded = functional.pad(x.float(), (padding,) * 4, mode="reflect").to(x.dtype)
    offsets = torch.randint(2 * padding + 1, (2, count, 1), generator=generator).to(x.device)
    rows = (offsets[0] + torch.arange(height, device=x.device)).view(count, 1, height, 1)
    columns = (offsets[1] + torch.arange(width, device=x.device)).view(count, 1, 1, width)
    records = torch.arange(count, device=x.device).view(count, 1, 1, 1)
    return padded[records, torch.arange(channels, device=x.device).view(1, channels, 1, 1), rows, columns]


def augment(x: Tensor, kind: str, padding: int, generator: torch.Generator) -> Tensor:
    """Apply a recipe's augmentation.

    Args:
        x: ``(B, channels, H, W)``.
        kind: "none", "flip", "crop" or "flip-crop".
        padding: the largest shift of a crop.
        generator: the augmentation stream.

    Returns:
        The same shape and type.
    """
    if kind in {"flip", "flip-crop"}:
        x = flip(x, generator)
    return crop(x, padding, generator) if kind in {"crop", "flip-crop"} else x
