"""The largest of many scores, exactly: k entries whatever ties there are.

Torch's quantile function would stop at 16 million entries, and take more than k where scores tie.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reticent.errors import NonFiniteError

Scope = Literal["global", "layer"]


def scoped(names: Mapping[str, Tensor], scope: Scope) -> list[list[str]]:
    """Group parameters by what is ranked together: all of them, or those of one layer."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault("" if scope == "global" else name.rpartition(".")[0], []).append(name)
    return list(groups.values())


def largest(scores: Mapping[str, Tensor], count: int) -> dict[str, Tensor]:
    """Mark the `count` largest entries of some tensors, all if there are fewer; of equal ones the first by place.

    Cost: linear in the entries; memory of one copy of the scores beside the masks.
    """
    kind = torch.float64 if any(value.dtype == torch.float64 for value in scores.values()) else torch.float32
    flat = {name: _numbers(name, value, kind) for name, value in scores.items()}
    masks = {name: torch.zeros(value.shape, dtype=torch.bool) for name, value in scores.items()}
    entries = sum(map(len, flat.values()))
    start = max(0, entries - count)
    if start == entries:
        return masks
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
    return masks


def _numbers(name: str, value: Tensor, kind: torch.dtype) -> NDArray[Any]:
    """Take scores as a flat array; no copy where they are such numbers on the CPU already."""
    found: NDArray[Any] = value.detach().reshape(-1).to("cpu", kind).numpy()
    if not np.isfinite(found).all():
        raise NonFiniteError(f"scores of {name}: expected finite numbers, got NaN or infinity")
    return found
