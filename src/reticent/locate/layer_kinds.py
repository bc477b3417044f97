"""What kind of layer a weight belongs to: convolution, attention and MLP, linear, norm, embedding, or none of these.

The first four are the rows of Fang and Kim's Table 1. A norm layer inside an attention block is a norm layer; a linear
layer is one of attention and MLP if a module around it, by its class or its attribute's name, is such a block.
"""

import re

from torch import nn

from reticent.models.butterfly import ButterflyConv2d, ButterflyLinear

KINDS = ("convolution", "attention and MLP", "linear", "norm", "embedding", "other")
"""In the order of tables."""
NORMS = re.compile(r"(Batch|Layer|Group|Instance|RMS|Local\w*)Norm\d?d?$|Norm$")
BLOCK = re.compile(
    r"attn|attention|mlp(?!\w*head$)|ffn|feed_?forward|transformer\w*layer|tokenmixer|\bmixer", re.IGNORECASE
)
"""A classifier, such as the ``mlp_head`` of a Vision Transformer, is no block."""


def layer_kinds(model: nn.Module) -> dict[str, str]:
    """Tell the kind of layer of every parameter."""
    modules = dict(model.named_modules())
    return {name: _kind(name, modules) for name, _ in model.named_parameters()}


def _kind(name: str, modules: dict[str, nn.Module]) -> str:
    owner = name.rpartition(".")[0]
    module = modules[owner]
    if isinstance(module, (nn.modules.conv._ConvNd, ButterflyConv2d)):
        return "convolution"
    if NORMS.search(type(module).__name__):
        return "norm"
    if isinstance(module, (nn.Embedding, nn.EmbeddingBag)):
        return "embedding"
    if _in_block(owner, modules):
        return "attention and MLP"
    return "linear" if isinstance(module, (nn.Linear, nn.Bilinear, ButterflyLinear)) else "other"


def _in_block(owner: str, modules: dict[str, nn.Module]) -> bool:
    """Tell whether a module lies in a block of attention or MLP; the network as a whole is none."""
    parts = owner.split(".") if owner else []
    paths = [".".join(parts[:i]) for i in range(1, len(parts) + 1)]
    return any(BLOCK.search(path.rpartition(".")[2]) or BLOCK.search(type(modules[path]).__name__) for path in paths)
