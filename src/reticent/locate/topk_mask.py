"""The largest scores of a network, exactly: masks of k entries whatever ties there are, by blocks.

A selection by the digits of the scores' bits takes the place of sorting: two passes over float32 scores and four over
float64, of one block of memory beside the scores. Quantile functions would stop at 16 million entries, and take more
than k where scores tie.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

import torch
from torch import Tensor

from reticent.errors import InputError, NonFiniteError
from reticent.locate.scoring import BLOCK, Scores

DIGIT = 16
"""Bits of a digit."""
Scope = Literal["global", "layer"]


def topk_mask(
    scores: Mapping[str, Tensor], rate: float, scope: Scope = "global", *, unused: Collection[str] | None = None
) -> dict[str, Tensor]:
    """Mark the entries with the largest scores: ``k = round(rate * d)`` of d, ties by their place.

    Cost: two passes over float32 scores; memory of one block beside the masks.
    """
    if not 0 <= rate <= 1:
        raise InputError(f"rate: expected a share from 0 to 1, got {rate}")
    if scope not in {"global", "layer"}:
        raise InputError(f"scope: expected 'global' or 'layer', got {scope!r}")
    if not scores:
        raise InputError("scores: expected at least one parameter, got none")
    never = (scores.unused if isinstance(scores, Scores) else ()) if unused is None else unused
    groups: dict[str, list[str]] = {}
    for name in scores:
        groups.setdefault("" if scope == "global" else name.rpartition(".")[0], []).append(name)
    masks = {name: torch.zeros(value.shape, dtype=torch.bool) for name, value in scores.items()}
    for names in groups.values():
        wanted = round(rate * sum(scores[name].numel() for name in names))
        open_to = [name for name in names if name not in never]
        _mark({name: scores[name] for name in open_to}, masks, wanted)
    return masks


def shuffled_mask(mask: Mapping[str, Tensor], generator: torch.Generator) -> dict[str, Tensor]:
    """Mark as many entries of each parameter as a mask does, by chance: the control that keeps what kind they are of.

    A mask drawn from all entries together takes few of small parameters, such as the gains of norm layers, where one
    by scores may take half of them.
    """
    drawn = {name: torch.zeros(value.shape, dtype=torch.bool) for name, value in mask.items()}
    for name, value in mask.items():
        order = torch.randperm(value.numel(), generator=generator)
        drawn[name].view(-1)[order[: int(torch.count_nonzero(value))]] = True
    return drawn


def jaccard(a: Mapping[str, Tensor], b: Mapping[str, Tensor]) -> float:
    """Compare two masks: the entries that both mark among those that either marks."""
    if {n: v.shape for n, v in a.items()} != {n: v.shape for n, v in b.items()}:
        raise InputError("expected two masks of the same parameters and shapes, got different ones")
    both = sum(int(torch.count_nonzero(a[name] & b[name])) for name in a)
    either = sum(int(torch.count_nonzero(a[name] | b[name])) for name in a)
    return both / either if either else 1.0


def _mark(scores: Mapping[str, Tensor], masks: Mapping[str, Tensor], wanted: int) -> None:
    """Set the marks of the largest entries of some parameters."""
    wanted = min(wanted, sum(value.numel() for value in scores.values()))
    if wanted == 0:
        return
    wide = any(value.dtype == torch.float64 for value in scores.values())
    least, ties = _least(scores, wanted, wide)
    for name, value in scores.items():
        marks = masks[name].view(-1)
        start = 0
        for key in ordered_keys(name, value, wide):
            taken = key > least
            equal = key == least
            many = int(torch.count_nonzero(equal))
            if ties and many:
                taken |= equal if many <= ties else equal & (torch.cumsum(equal, 0) <= ties)
                ties -= min(many, ties)
            marks[start : start + len(key)] = taken
            start += len(key)


def _least(scores: Mapping[str, Tensor], wanted: int, wide: bool) -> tuple[int, int]:
    """Find the key of the k-th largest entry, digit by digit, and how many entries with that key are among the k."""
    bits = 64 if wide else 32
    prefix, left = 0, wanted
    for shift in range(bits - DIGIT, -1, -DIGIT):
        first = shift == bits - DIGIT
        counts = torch.zeros(2**DIGIT, dtype=torch.int64)
        for name, value in scores.items():
            for key in ordered_keys(name, value, wide):
                inside = key if first else key[key >> (shift + DIGIT) == prefix]
                digit = (inside >> shift) + 2 ** (DIGIT - 1) if first else (inside >> shift) & (2**DIGIT - 1)
                counts += torch.bincount(digit, minlength=2**DIGIT)
        reached = torch.cumsum(counts.flip(0), 0)
        place = int(torch.searchsorted(reached, left))
        digit_found = 2**DIGIT - 1 - place
        left -= int(reached[place - 1]) if place else 0
        prefix = digit_found - 2 ** (DIGIT - 1) if first else (prefix << DIGIT) | digit_found
    return prefix, left


def ordered_keys(name: str, value: Tensor, wide: bool) -> Iterator[Tensor]:
    """Turn scores into whole numbers of the same order, a block at a time; both zeros are one number."""
    for block in torch.split(value.detach().reshape(-1), BLOCK):
        number = block.to("cpu", torch.float64 if wide else torch.float32) + 0.0
        if not bool(torch.isfinite(number).all()):
            raise NonFiniteError(f"scores of {name}: expected finite numbers, got NaN or infinity")
        raw = number.view(torch.int64 if wide else torch.int32).to(torch.int64)
        yield torch.where(raw < 0, raw ^ (2**63 - 1 if wide else 2**31 - 1), raw)
