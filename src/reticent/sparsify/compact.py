"""A sparse state as tensors of one file: of pruned ones the values that are left, and a bit for each place."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from reticent.sparsify.masks import Masks

LEFT, WHERE, SHAPE = "left/", "where/", "shape/"
"""In front of a pruned tensor's name: its values that are left, the bits of where they stand, its shape."""


def packed(state: Mapping[str, Tensor], masks: Masks) -> dict[str, Tensor]:
    """Leave out what is pruned of a state, in which it is 0; tensors that are whole stay as they are."""
    tensors = {name: value for name, value in state.items() if name not in masks or bool(masks[name].all())}
    for name in (name for name in state if name not in tensors):
        tensors[LEFT + name] = state[name][masks[name]]
        tensors[WHERE + name] = torch.from_numpy(np.packbits(masks[name].reshape(-1).numpy()))
        tensors[SHAPE + name] = torch.tensor(state[name].shape)
    return tensors


def unpacked(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Bring back what `packed` made, bit for bit; a state that is not packed stays as it is.

    A `ValueError` says that a part of a tensor is missing or does not fit the others.
    """
    pruned = [name.removeprefix(LEFT) for name in tensors if name.startswith(LEFT)]
    parts = {part + name for name in pruned for part in (LEFT, WHERE, SHAPE)}
    if not parts <= tensors.keys():
        raise ValueError(f"{min(parts - tensors.keys())} is missing")
    state = {name: value for name, value in tensors.items() if name not in parts}
    for name in pruned:
        values, where, shape = (tensors[part + name] for part in (LEFT, WHERE, SHAPE))
        whole = torch.zeros(tuple(shape.tolist()), dtype=values.dtype)
        mask = torch.from_numpy(np.unpackbits(where.numpy())[: whole.numel()].astype(bool))
        if (len(mask), int(mask.sum())) != (whole.numel(), len(values)):
            raise ValueError(f"{name} has {len(values)} values for other places")
        whole.view(-1)[mask] = values
        state[name] = whole
    return state
