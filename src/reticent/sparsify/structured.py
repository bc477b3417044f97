"""Filters that are pruned with all that hangs on them, and the smaller network that is left.

Paper: Li et al. (2017), "Pruning filters for efficient ConvNets". A filter goes with its bias, its entries of norm
layers, the next layers' columns, and the filters that its answers are added to.
"""

import copy
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from reticent.errors import ModelError
from reticent.sparsify.channels import Channel, Coupled, channels
from reticent.sparsify.criteria import Criterion, norms
from reticent.sparsify.exact import Scope, largest
from reticent.sparsify.masks import Masks, prunable, tied

TOLERANCE = 1e-4
INSTEAD = "prune single weights (structure=weights)"


def coupled(model: nn.Module, x: Tensor, skip: Sequence[str] = ()) -> Coupled:
    """Find the channels that can go, by some model input; layers that fit a pattern of `skip` stay whole.

    Raises:
        ModelError: no channel can go, or without one the network would answer something else than with zeros in it.
    """
    can, several = prunable(model, skip), tied(model)
    left = {
        layers: group
        for layers, group in channels(model, x[:1]).items()
        if all(part.name in can for part in group[0].filters)
        and not any(part.name in several for part in group[0].slices)
    }
    if not left:
        raise ModelError(
            "no filter can be pruned: every channel stays by skip, is held (requires_grad=False), meets a weight that "
            "two layers share, reaches the answers, or passes a layer that mixes "
            f"channels (LayerNorm, GroupNorm, attention) or groups them: {INSTEAD}"
        )
    _check(model, x, left)
    return left


def pruned_filters(
    parameters: Mapping[str, Tensor],
    found: Coupled,
    masks: Masks,
    share: float,
    scope: Scope,
    criterion: Criterion,
    generator: torch.Generator,
) -> Masks:
    """Leave so large a share of each layer's filters, or of all: those of the largest scores among those still left.

    Pruned filters count in the share, the new masks lie within the given ones, and layers whose answers are added are
    one. A whole layer never goes: that is refused.
    """
    scores = {
        str(index): _scores(group, parameters, masks, criterion, generator)
        for index, group in enumerate(found.values())
    }
    kept: Masks = {}
    for names in [[*scores]] if scope == "global" else [[name] for name in scores]:
        some = {name: scores[name] for name in names}
        kept |= largest(some, round(share * sum(map(len, some.values()))))
    gone: list[Channel] = []
    for (layers, group), name in zip(found.items(), scores, strict=True):
        stays = kept[name] & (scores[name] >= 0)
        if not stays.any():
            raise ModelError(
                f"pruning to {share:.3g} of the filters would leave none of the {len(group)} of the layer "
                f'{layers[0]!r}: prune less, or leave the layer whole (skip=["{layers[0]}"])'
            )
        gone += [one for one, stay in zip(group, stays.tolist(), strict=True) if not stay]
    taken = without(gone, parameters)
    return {
        name: masks[name] & taken.get(name, masks[name]) if name in masks else taken[name] for name in masks | taken
    }


def _scores(
    group: Sequence[Channel],
    parameters: Mapping[str, Tensor],
    masks: Masks,
    criterion: Criterion,
    generator: torch.Generator,
) -> Tensor:
    """Score channels by all their filters; below 0 where one is gone."""
    rows = [[one.filters[index] for one in group] for index in range(len(group[0].filters))]
    filters = [parameters[some[0].name][[part.places[0] for part in some]].flatten(1) for some in rows]
    stays = masks[rows[0][0].name][[part.places[0] for part in rows[0]]].flatten(1).any(1)
    return torch.where(stays, norms(torch.cat(filters, 1), criterion, generator), -1.0)


def without(gone: Sequence[Channel], parameters: Mapping[str, Tensor]) -> Masks:
    """Make masks of parameters that take channels out; of buffers, whose values do not matter then, there are none."""
    masks: Masks = {}
    for part in (part for channel in gone for part in channel.slices if part.name in parameters):
        mask = masks.setdefault(part.name, torch.ones(parameters[part.name].shape, dtype=torch.bool))
        mask.index_fill_(part.axis, torch.tensor(part.places), value=False)
    return masks


@torch.no_grad()
def shrunk(model: nn.Module, found: Coupled, masks: Masks) -> nn.Module:
    """Copy a network without the channels that masks take out: smaller layers, the same answers."""
    small, out = copy.deepcopy(model), defaultdict[tuple[str, int], set[int]](set)
    for channel in (one for group in found.values() for one in group):
        row = channel.filters[0]
        if not masks[row.name][row.places[0]].any():
            for part in channel.slices:
                out[part.name, part.axis].update(part.places)
    for (name, axis), places in out.items():
        owner, _, own = name.rpartition(".")
        module: Any = small.get_submodule(owner)
        value = getattr(module, own)
        stays = torch.tensor([index for index in range(value.shape[axis]) if index not in places], device=value.device)
        cut = value.index_select(axis, stays)
        setattr(module, own, nn.Parameter(cut, value.requires_grad) if isinstance(value, nn.Parameter) else cut)
        _resized(module)
    return small


def _resized(module: Any) -> None:
    """Tell a layer its new sizes."""
    if isinstance(module, nn.Linear):
        module.out_features, module.in_features = module.weight.shape
    elif isinstance(module, nn.modules.conv._ConvNd):
        module.out_channels, module.in_channels = module.weight.shape[:2]
    else:
        module.num_features = len(module.weight if module.weight is not None else module.running_mean)


@torch.no_grad()
def _check(model: nn.Module, x: Tensor, found: Coupled) -> None:
    """Refuse a network in which a channel of zeros is not the same as none: take the first one of each group out."""
    network, x = copy.deepcopy(model).cpu().eval(), x.cpu()
    parameters = dict(network.named_parameters())
    masks = without([group[0] for group in found.values()], parameters)
    for name, mask in masks.items():
        parameters[name].masked_fill_(~mask, 0.0)
    try:
        small = shrunk(network, found, masks)
        apart = float((network(x) - small(x)).abs().max())
    except RuntimeError as error:
        raise ModelError(f"the network does not run without some of its channels ({error}): {INSTEAD}") from error
    if not apart <= TOLERANCE:
        raise ModelError(
            f"without channels of zeros the network answers something else (by {apart:.2g}), as where it divides by "
            f"their number: {INSTEAD}"
        )
