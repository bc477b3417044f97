"""Which channels of a network hang together: those that are added to each other go or stay as one.

Found by asking the network itself, whatever its code is: every layer answers zeros but one, which answers NaN in the
channels that a code of zeros and ones names, one sample of a batch for each digit. What lies between layers
(activations, poolings, sums, concatenations, flattening) passes NaN on, and layers tell where they see it. Cost: one
pass through what lies between layers for each layer, with a batch of twice the digits.
"""

import copy
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

Node = tuple[str, int]
"""A layer's name, and one of its output channels."""
Place = tuple[str, int]
"""A layer's name, and one of its input channels."""
INPUT = ""
"""What stands for the network's input among layers."""
LAYERS = (nn.Linear, nn.modules.conv._ConvNd)
NORMS = (nn.modules.batchnorm._NormBase,)
ENTRIES = ("weight", "bias", "running_mean", "running_var")
"""What a norm layer has of each channel."""


@dataclass(frozen=True)
class Slice:
    """A part of one parameter or buffer: places along an axis."""

    name: str
    axis: int
    places: tuple[int, ...]


@dataclass(frozen=True)
class Channel:
    """What goes or stays together.

    Attributes:
        filters: the rows of weights that make the channel.
        others: what else hangs on it: biases, norm layers' entries, the next layers' columns.
    """

    filters: tuple[Slice, ...]
    others: tuple[Slice, ...]

    @property
    def slices(self) -> tuple[Slice, ...]:
        """All of it."""
        return self.filters + self.others


Coupled = dict[tuple[str, ...], tuple[Channel, ...]]
"""By the layers that make them, one a filter: channels of which each can go."""


def channels(model: nn.Module, x: Tensor) -> Coupled:
    """Join the channels that one place sees, and leave out what must stay; one record is asked about, ``(1, ...)``.

    That is what reaches the answers, is added to the input, or passes a layer that mixes channels (LayerNorm,
    GroupNorm, attention) or a grouped convolution; and what is a layer's only channel.
    """
    network = copy.deepcopy(model).cpu().eval()
    seen = _Seen(network, x.cpu())
    joined, reached, stays = _Sets(), dict[Place, Node](), set[Node]()
    for layer in (*seen.shapes, INPUT):
        reads, mixed = seen.ask(layer)
        alone = layer == INPUT or layer in seen.grouped
        stays |= {(layer, index) for index in mixed}
        for place, index in reads:
            node = (layer, index)
            joined.join(reached.setdefault(place, node), node)
            if alone or place[0] in seen.grouped:
                stays.add(node)
    held = {joined.root(node) for node in stays}
    nodes, places = defaultdict[Node, list[Node]](list), defaultdict[Node, list[Place]](list)
    for node in ((layer, index) for layer, count in seen.channels.items() for index in range(count)):
        nodes[joined.root(node)].append(node)
    for place, node in reached.items():
        places[joined.root(node)].append(place)
    found, modules = defaultdict[tuple[str, ...], list[Channel]](list), dict(network.named_modules())
    for root in nodes.keys() - held:
        layers = tuple(layer for layer, _ in nodes[root])
        found[layers].append(_channel(modules, nodes[root], places[root]))
    several = {layers: sorted(channels, key=_place) for layers, channels in found.items() if len(channels) > 1}
    return {
        layers: tuple(several[layers]) for layers in sorted(several, key=lambda one: list(seen.shapes).index(one[0]))
    }


def _place(channel: Channel) -> int:
    return channel.filters[0].places[0]


def _channel(modules: Mapping[str, nn.Module], nodes: list[Node], places: list[Place]) -> Channel:
    filters = tuple(Slice(f"{layer}.weight", 0, (index,)) for layer, index in nodes)
    others = [Slice(f"{layer}.bias", 0, (index,)) for layer, index in nodes if modules[layer].bias is not None]
    columns = defaultdict[str, list[int]](list)
    for reader, place in places:
        columns[reader].append(place)
    for reader, there in columns.items():
        module = modules[reader]
        if isinstance(module, NORMS):
            own = [name for name in ENTRIES if getattr(module, name, None) is not None]
            others += [Slice(f"{reader}.{name}", 0, tuple(sorted(there))) for name in own]
        else:
            others.append(Slice(f"{reader}.weight", 1, tuple(sorted(there))))
    return Channel(filters, tuple(others))


class _Sets:
    """Nodes that were joined, directly or by others."""

    def __init__(self) -> None:
        self._above: dict[Node, Node] = {}

    def root(self, node: Node) -> Node:
        while node in self._above:
            node = self._above[node]
        return node

    def join(self, first: Node, second: Node) -> None:
        one, other = self.root(first), self.root(second)
        if one != other:
            self._above[other] = one


class _Seen:
    """Asks a network which channels of a layer are seen where.

    Attributes:
        shapes: of what each layer answers about one record, at each of its calls.
        channels: how many channels each layer that can be pruned has.
        grouped: layers that read or make channels in groups.
    """

    def __init__(self, network: nn.Module, x: Tensor) -> None:
        self._network, self._x = network, x
        self._readers = {
            name: module for name, module in network.named_modules() if isinstance(module, (*LAYERS, *NORMS))
        }
        answering = (*LAYERS, nn.Embedding)
        self._layers = {name: m for name, m in network.named_modules() if isinstance(m, answering)}
        self.grouped = {
            name for name, m in self._layers.items() if isinstance(m, nn.Embedding) or getattr(m, "groups", 1) > 1
        }
        self.shapes: dict[str, list[torch.Size]] = {}
        hooks = [module.register_forward_hook(self._noted(name)) for name, module in self._layers.items()]
        with torch.no_grad():
            network(x)
        for hook in hooks:
            hook.remove()
        self.channels = {name: _width(self._layers[name], shapes[0]) for name, shapes in self.shapes.items() if shapes}

    def _noted(self, name: str) -> Callable[..., None]:
        return lambda module, given, answer: self.shapes.setdefault(name, []).append(answer.shape)

    def ask(self, layer: str) -> tuple[list[tuple[Place, int]], set[int]]:
        """Find what sees single channels of a layer, and those that are mixed with others or reach the answers."""
        count = 1 if layer == INPUT else self.channels[layer]
        numbers = torch.arange(count)
        ones = torch.stack([(numbers >> digit) & 1 for digit in range(max(1, math.ceil(math.log2(count))))]).bool()
        code = torch.cat([ones, ~ones])
        seen: list[tuple[str, Tensor]] = []
        with self._patched(layer, code, seen), torch.no_grad():
            x = self._x.expand(len(code), *self._x.shape[1:]).clone()
            if layer == INPUT and x.is_floating_point():
                x.fill_(math.nan)
            answer = _nan(self._network(x), 1)
        reads, mixed = [], _named(answer, ones).any(1)
        for reader, pattern in seen:
            there = pattern.any(0).nonzero().view(-1)
            fits = _named(pattern[:, there], ones)
            mixed |= fits[:, fits.sum(0) > 1].any(1)
            some = fits.int().argmax(0) if len(there) else there  # Of several that are mixed, one will do.
            reads += [((reader, to), of) for to, of in zip(there.tolist(), some.tolist(), strict=True)]
        return reads, set(mixed.nonzero().view(-1).tolist())

    @contextmanager
    def _patched(self, layer: str, code: Tensor, seen: list[tuple[str, Tensor]]) -> Iterator[None]:
        for name in {**self._layers, **self._readers}:
            module: Any = self._network.get_submodule(name)
            module.forward = self._stand_in(name, layer, code, seen)
        try:
            yield
        finally:
            for name in {**self._layers, **self._readers}:
                del vars(self._network.get_submodule(name))["forward"]

    def _stand_in(
        self, name: str, layer: str, code: Tensor, seen: list[tuple[str, Tensor]]
    ) -> Callable[[Tensor], Tensor]:
        """Tell what a layer sees, and answer zeros, or NaN by the code; a norm layer answers as it is asked."""
        module, calls = self._network.get_submodule(name), iter(self.shapes.get(name, ()))

        def forward(x: Tensor) -> Tensor:
            if name in self._readers:
                seen.append((name, _nan(x, _axis(module, x.dim()))))
            if name not in self._layers:
                return x
            shape = next(calls)
            answer = torch.zeros((len(code) if shape[0] == 1 else len(code) * shape[0], *shape[1:]))
            if name == layer:
                axis = _axis(module, answer.dim())
                wide = code.view(len(code), *(code.shape[1] if i == axis else 1 for i in range(1, answer.dim())))
                answer.masked_fill_(wide, math.nan)
            return answer

        return forward


def _axis(module: nn.Module, dims: int) -> int:
    """Tell which axis of an input or an answer holds the channels."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        return dims - 1
    return 1


def _width(module: nn.Module, shape: torch.Size) -> int:
    return shape[_axis(module, len(shape))]


def _nan(x: Tensor, axis: int) -> Tensor:
    """Tell which channels hold NaN ``(B, C)``."""
    return (x.movedim(axis, 1).flatten(2).sum(2) if x.dim() > 2 else x).isnan()


def _named(pattern: Tensor, ones: Tensor) -> Tensor:
    """Read a code at each place: which channels may be seen there ``(channels, places)``; one if none are mixed."""
    digits = len(ones)
    misses = ones.T.float() @ (~pattern[:digits]).float() + (~ones).T.float() @ (~pattern[digits:]).float()
    return misses == 0
