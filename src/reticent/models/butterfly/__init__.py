"""Butterfly layers: weights that are products of sparse factors with fixed supports, in any network.

Papers: "Sparsity in neural networks can improve their privacy" (arXiv 2304.10553), which trains a ResNet-20 of them;
Dao et al. (2019), "Learning fast algorithms for linear transforms using butterfly factorizations"; Lin et al. (2021),
"Deformable butterfly: a highly structured and sparse linear transform". The first does not print which layers, how many
factors and which chains: here layers are named, and the chain is the monotone one of fewest weights. Deviation: initial
factors are scaled so that the product has the variance of the layer that it replaces; DeBut's code draws N(0, 1/2).
"""

from collections import Counter
from fnmatch import fnmatchcase
from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt, MinLen
from torch import nn

from reticent.errors import ModelError, nearest
from reticent.models.butterfly.chains import Chain, minimal, weights, within
from reticent.models.butterfly.layers import ButterflyConv2d, ButterflyLinear, Factored
from reticent.spec import Names, Spec

__all__ = ["Butterfly", "ButterflyConv2d", "ButterflyLinear", "Factored", "factored"]

Dense = nn.Linear | nn.Conv2d
SHOWN = 5
"""How many layers an error lists before it counts the rest."""


class Butterfly(Spec):
    """Options of butterfly layers."""

    layers: Annotated[Names, MinLen(1)]
    """Shell-style patterns of names of modules, such as stages.2.*: every nn.Linear and nn.Conv2d that one matches is
    replaced."""
    factors: Annotated[int, Ge(2), Le(8)] = 2
    """Factors of each weight."""
    budget: Annotated[float, Gt(0), Lt(1)] | None = None
    """Largest share of a layer's weights that its factors may have; the largest rank that keeps to it is taken. [rank
    1, which has the fewest]"""


def factored(model: nn.Module, spec: Butterfly) -> nn.Module:
    """Put butterfly layers in place of linear layers and convolutions of a network, which is altered.

    Returns: the network, or the layer that replaces it where it is one itself. What stands in several places is
    replaced in all. Parameters of the replaced layers are left out, so that ``sum(p.numel() for p in
    model.parameters())`` counts the entries that are not zero. Draws from torch's global generator.

    Raises: ModelError: a pattern matches no such layer; a matched layer cannot be replaced (grouped, other padding than
    zeros, a weight that another module uses or that is zero), or no chain of so many factors is small enough.
    """
    everywhere = [*model.named_modules(remove_duplicate=False)]
    dense = {name: part for name, part in everywhere if type(part) in {nn.Linear, nn.Conv2d}}
    for pattern in spec.layers:
        if not any(fnmatchcase(name, pattern) for name in dense):
            raise ModelError(
                f"butterfly: {pattern!r} matches no nn.Linear or nn.Conv2d of the network: {nearest(pattern, dense)}"
            )
    chosen = {name: part for name, part in dense.items() if any(fnmatchcase(name, p) for p in spec.layers)}
    uses = Counter(id(p) for module in model.modules() for p in module.parameters(recurse=False))
    refused = {name: why for name, part in chosen.items() if (why := _unfit(part, uses) or _large(part, spec))}
    if refused:
        told = [f"{name or 'the network'} {why}" for name, why in refused.items()]
        more = f"; and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
        raise ModelError(
            f"butterfly: layers that cannot be replaced: {'; '.join(told[:SHOWN])}{more}: leave them out of layers, or "
            "give fewer factors, or a larger budget"
        )
    made: dict[nn.Module, nn.Module] = {part: _replaced(part, spec) for part in dict.fromkeys(chosen.values())}
    for name, part in everywhere:
        if name and part in made:
            owner, _, place = name.rpartition(".")
            setattr(model.get_submodule(owner), place, made[part])
    return made.get(model, model)


def _unfit(layer: Dense, uses: Counter[int]) -> str:
    """Tell why a layer cannot be replaced, whatever the chain; nothing if it can."""
    if isinstance(layer, nn.Conv2d) and layer.groups != 1:
        return f"has groups ({layer.groups})"
    if isinstance(layer, nn.Conv2d) and layer.padding_mode != "zeros":
        return f"pads with {layer.padding_mode}"
    if uses[id(layer.weight)] > 1:
        return "shares its weight with another module"
    if not layer.weight.any():
        return "begins with zeros, from which no product of factors can be trained"
    return ""


def _large(layer: Dense, spec: Butterfly) -> str:
    """Tell why no chain will do; nothing if one does."""
    least = minimal(*_sizes(layer), spec.factors)
    if least is None:
        return f"({_shown(layer)}) has no chain of {spec.factors} factors"
    share = weights(least) / layer.weight.numel()
    if share >= 1 or _chain(layer, spec) is None:
        return f"({_shown(layer)}) has at least {share:.3f} of its weights in {spec.factors} factors"
    return ""


def _chain(layer: Dense, spec: Butterfly) -> Chain | None:
    if spec.budget is None:
        return minimal(*_sizes(layer), spec.factors)
    return within(*_sizes(layer), spec.factors, spec.budget)


def _sizes(layer: Dense) -> tuple[int, int]:
    return len(layer.weight), layer.weight[0].numel()


def _shown(layer: Dense) -> str:
    return " x ".join(map(str, _sizes(layer)))


def _replaced(layer: Dense, spec: Butterfly) -> Factored:
    chain = _chain(layer, spec)
    assert chain is not None
    return ButterflyConv2d(chain, layer) if isinstance(layer, nn.Conv2d) else ButterflyLinear(chain, layer)
