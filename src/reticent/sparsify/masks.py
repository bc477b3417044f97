"""Masks as data: by parameter name, ``bool`` of the parameter's shape, True where a weight is left.

What can be pruned are the weights of linear layers and convolutions, as in the literature; biases, norm layers and
embeddings stay. A share is always one of these weights (`SparsityFacts` has that of all parameters beside it), and how
many weights it leaves is exact: ``round(share * weights)``, of equal ones the first by place.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import torch
from torch import Tensor, nn

from reticent.errors import ModelError, nearest
from reticent.findings.training import LayerLeft, SparsityFacts
from reticent.sparsify.exact import Scope, largest, scoped

Masks = dict[str, Tensor]
MASK = "mask/"
"""In front of a parameter's name, where masks stand among a run's artefacts."""
OWNERS = (nn.Linear, nn.modules.conv._ConvNd, nn.MultiheadAttention)
WEIGHTS = {"weight", "in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"}


def prunable(model: nn.Module, skip: Sequence[str] = ()) -> dict[str, nn.Parameter]:
    """Find the weights that can be pruned, in the order of the network, but for layers that fit a pattern of `skip`.

    Raises:
        ModelError: there are none, one is of several layers, or `skip` names no layer.
    """
    modules = dict(model.named_modules())
    found = {
        name: parameter
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
        and name.rpartition(".")[2] in WEIGHTS
        and isinstance(modules[name.rpartition(".")[0]], OWNERS)
    }
    layers = {name: name.rpartition(".")[0] for name in found}
    for pattern in skip:
        if not any(fnmatchcase(layer, pattern) for layer in layers.values()):
            raise ModelError(f"skip: {pattern!r} is no layer that can be pruned: {nearest(pattern, layers.values())}")
    left = {n: p for n, p in found.items() if not any(fnmatchcase(layers[n], pattern) for pattern in skip)}
    if not left:
        raise ModelError(
            "there is nothing to prune: expected a linear layer or a convolution, got a network with "
            f"{'none' if not found else 'none that skip leaves'}"
        )
    several = [name for name in left if name in tied(model)]
    if several:
        layer = layers[several[0]]
        raise ModelError(
            f"the layer {layer!r} shares its weight with another one, under whose name a state holds it again, "
            f'unpruned: leave it whole (skip=["{layer}"]), or give each layer a weight of its own'
        )
    return left


def tied(model: nn.Module) -> set[str]:
    """Find the parameters that have several names in a state, by all of these."""
    every = dict(model.named_parameters(remove_duplicate=False))
    uses = Counter(map(id, every.values()))
    return {name for name, parameter in every.items() if uses[id(parameter)] > 1}


def of_masks(artefacts: Mapping[str, Tensor]) -> Masks:
    """Take the masks out of a run's artefacts."""
    return {name.removeprefix(MASK): value for name, value in artefacts.items() if name.startswith(MASK)}


def whole(weights: Mapping[str, Tensor]) -> Masks:
    """Make masks that leave every weight."""
    return {name: torch.ones(value.shape, dtype=torch.bool) for name, value in weights.items()}


def pruned(scores: Mapping[str, Tensor], masks: Masks, share: float, scope: Scope) -> Masks:
    """Leave so large a share of all weights, or of each layer's: those of the largest scores among those still left.

    Pruned weights count in the share, and the new masks lie within the given ones. A whole layer never goes: that is
    refused.
    """
    left = {name: torch.where(masks[name], value.detach().cpu(), -1.0) for name, value in scores.items()}
    found: Masks = {}
    for names in scoped(left, scope):
        some = {name: left[name] for name in names}
        found |= largest(some, round(share * sum(value.numel() for value in some.values())))
    found = {name: found[name] & masks[name] for name in scores}
    gone = [name for name, mask in found.items() if not mask.any()]
    if gone:
        layer = gone[0].rpartition(".")[0]
        apart = "rank each layer by itself (scope=layer), " if scope == "global" else ""
        raise ModelError(
            f"pruning to {share:.3g} of the weights would leave none of the {found[gone[0]].numel()} weights of the "
            f"layer {layer!r}, so that nothing passes through it: prune less, {apart}or leave the layer whole "
            f'(skip=["{layer}"])'
        )
    return found


def masked(state: Mapping[str, Tensor], masks: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Set what is pruned to exactly 0, in a copy of a state."""
    return {
        name: torch.where(masks[name].to(value.device), value, torch.zeros_like(value)) if name in masks else value
        for name, value in state.items()
    }


def left(model: nn.Module, masks: Masks, rounds: int, skip: Sequence[str] = ()) -> SparsityFacts:
    """Count what masks leave of a network, with the denominators."""
    layers = {
        name: LayerLeft(weights=value.numel(), left=int(masks[name].sum()) if name in masks else value.numel())
        for name, value in prunable(model, skip).items()
    }
    parameters = sum(value.numel() for value in model.parameters())
    gone = sum(int((~mask).sum()) for mask in masks.values())
    weights, kept = (sum(getattr(one, key) for one in layers.values()) for key in ("weights", "left"))
    return SparsityFacts(
        rounds=rounds,
        weights=weights,
        weights_left=kept,
        density=kept / weights,
        parameters=parameters,
        parameters_left=parameters - gone,
        density_of_parameters=(parameters - gone) / parameters,
        layers=layers,
    )
