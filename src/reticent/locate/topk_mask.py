"""The largest scores of a network, exactly: masks of k entries whatever ties there are.

Torch's quantile function would stop at 16 million entries, and take more than k where scores tie.
"""

from collections.abc import Collection, Mapping
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reticent.errors import InputError, NonFiniteError
from reticent.locate.scoring import Scores

Scope = Literal["global", "layer"]


def topk_mask(
    scores: Mapping[str, Tensor], rate: float, scope: Scope = "global", *, unused: Collection[str] | None = None
) -> dict[str, Tensor]:
    """Mark the entries with the largest scores: ``k = round(rate * d)`` of d, ties by their place.

    Cost: linear in the entries; memory of one copy of the scores beside the masks.
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
    """Set the marks of the largest entries of some parameters; of those that equal the least of them, the first."""
    kind = torch.float64 if any(value.dtype == torch.float64 for value in scores.values()) else torch.float32
    flat = {name: _numbers(name, value, kind) for name, value in scores.items()}
    entries = sum(map(len, flat.values()))
    start = max(0, entries - wanted)
    if start == entries:
        return
    whole = np.concatenate(list(flat.values()))
    whole.partition(start)
    least = whole[start]
    ties = entries - start - int(np.count_nonzero(whole[start:] > least))
    for name, value in flat.items():
        equal = np.flatnonzero(value == least)[:ties]
        ties -= len(equal)
        taken = value > least
        taken[equal] = True
        masks[name].view(-1)[:] = torch.from_numpy(taken)


def _numbers(name: str, value: Tensor, kind: torch.dtype) -> NDArray[Any]:
    """Take scores as a flat array; no copy where they are such numbers on the CPU already."""
    found: NDArray[Any] = value.detach().reshape(-1).to("cpu", kind).numpy()
    if not np.isfinite(found).all():
        raise NonFiniteError(f"scores of {name}: expected finite numbers, got NaN or infinity")
    return found
