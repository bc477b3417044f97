"""One architecture, asked with the parameters of several networks.

A chain of usual layers is asked by batched products, any other network by `torch.func.vmap`.
Dropout and BatchNorm are each network's own, as it has them alone.
"""

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from reticent.errors import ModelError
from reticent.training.materials import forward

State = dict[str, Tensor]
"""By name the parameters and buffers of K networks, each ``(K, ...)``."""
Layer = Callable[[Tensor, State], Tensor]
"""From ``(K, B, ...)`` and the state to ``(K, B, ...)``."""
EACH_BY_ITSELF = (nn.ReLU, nn.LeakyReLU, nn.GELU, nn.SiLU, nn.ELU, nn.Tanh, nn.Sigmoid, nn.Identity)
"""Layers of numbers, whatever is beside them."""


class StackedNetwork:
    """Answers of several networks of one form, in training mode; `mixes`: each depends on its batch's others."""

    def __init__(self, network: nn.Module, classes: int) -> None:
        self._network, self._classes, self._draws = network, classes, _Draws()
        self._layers = _layers(network, self._draws)
        self._one = None if self._layers else _One(network, classes, self._draws).train()
        self.mixes = any(map(normed_alone, network.modules()))

    def ask(self, state: State, x: Tensor, generators: Sequence[torch.Generator]) -> Tensor:
        """Ask K networks, at least two, about K batches ``(K, B, ...)``: logits ``float32 (K, B, C)``.

        Statistics of BatchNorm in the state move; each network has a generator for its dropout.
        """
        self._draws.now = generators
        if self._layers is None:
            with sdpa_kernel(SDPBackend.MATH):
                logits: Tensor = vmap(self._answer, randomness="error")(state, x)
            return logits
        for layer in self._layers:
            x = layer(x, state)
        if x.shape[2:] == (1,) and self._classes == 2:
            x = torch.cat([torch.zeros_like(x), x], dim=2)
        if x.shape[2:] != (self._classes,):
            raise ModelError(f"the model answered shape {tuple(x.shape[1:])}: expected logits (B, {self._classes})")
        return x.float()

    def _answer(self, state: dict[str, Tensor], x: Tensor) -> Tensor:
        assert self._one is not None
        logits: Tensor = functional_call(self._one, {f"network.{name}": value for name, value in state.items()}, (x,))
        return logits

    def finds_mixing(self, few: Tensor) -> bool:
        """Tell whether the network, but for its dropout, answers a record by what is beside it; tried on 4 or more."""
        if self.mixes or self._layers:
            return self.mixes
        asked = _One(self._network, self._classes, self._draws).train()
        for part in asked.modules():
            if isinstance(part, _Dropout):
                part.eval()
        with torch.no_grad():
            more, fewer = (asked(few[:count]) for count in (4, 3))
        return not torch.allclose(more[:3], fewer, rtol=1e-3)


def normed_alone(part: nn.Module) -> bool:
    """Tell whether a stack normalises with a module of one network's, as that network does alone."""
    usual = type(part) is nn.BatchNorm1d and part.affine and part.track_running_stats
    return bool(usual and part.momentum is not None)


class _Draws:
    """Generators of the dropout of the networks that are asked now."""

    now: Sequence[torch.Generator] = ()

    def dropped(self, x: Tensor, rate: float) -> Tensor:
        """Drop units of ``(K, B, ...)``: each network's mask is drawn as `nn.Dropout` draws it on the CPU."""
        masks = [x.new_empty(x.shape[1:]).bernoulli_(1 - rate, generator=one) for one in self.now]
        return x * torch.stack(masks * 2 if len(masks) == 1 else masks).div_(1 - rate)


def _normed(x: Tensor, tensors: Sequence[Tensor], momentum: float, eps: float) -> Tensor:
    """Normalise ``(K, B, ...)`` network by network: of all channels at once, the bits depend on how many there are."""
    each = zip(*(tensor.unbind() for tensor in (x, *tensors)), strict=True)
    return torch.stack([
        functional.batch_norm(x, mean, var, weight, bias, training=True, momentum=momentum, eps=eps)
        for x, mean, var, weight, bias in each
    ])


def _layers(network: nn.Module, draws: _Draws) -> list[Layer] | None:
    """Give the layers of a chain of usual ones; None for any other network."""
    parameters = dict(network.named_parameters())
    if type(network) is not nn.Sequential or {p.dtype for p in parameters.values()} != {torch.float32}:
        return None
    found = list[Layer]()
    for name, part in network.named_modules(remove_duplicate=False):
        if type(part) is nn.Sequential:
            continue
        if not all(f"{name}.{own}" in parameters for own, _ in part.named_parameters()):
            return None  # It shares a parameter with another.
        if type(part) is nn.Linear:
            found.append(partial(_linear, f"{name}.weight", f"{name}.bias" if part.bias is not None else None))
        elif type(part) is nn.Flatten and (part.start_dim, part.end_dim) == (1, -1):
            found.append(_flattened)
        elif type(part) is nn.Dropout:
            found.append(partial(_dropout, draws, part.p))
        elif normed_alone(part):
            found.append(partial(_batch_norm, name, part))
        elif type(part) in EACH_BY_ITSELF:
            found.append(partial(_applied, part))
        else:
            return None
    return found


def _flattened(x: Tensor, state: State) -> Tensor:
    return x.flatten(2)


def _applied(part: nn.Module, x: Tensor, state: State) -> Tensor:
    applied: Tensor = part(x)
    return applied


def _dropout(draws: _Draws, rate: float, x: Tensor, state: State) -> Tensor:
    return draws.dropped(x, rate) if rate else x


def _linear(weight: str, bias: str | None, x: Tensor, state: State) -> Tensor:
    rows, turned = x.flatten(1, -2), state[weight].mT
    product = torch.bmm(rows, turned) if bias is None else torch.baddbmm(state[bias].unsqueeze(1), rows, turned)
    return product.view(*x.shape[:-1], -1)


def _batch_norm(name: str, part: Any, x: Tensor, state: State) -> Tensor:
    state[f"{name}.num_batches_tracked"].add_(1)
    own = [state[f"{name}.{key}"] for key in ("running_mean", "running_var", "weight", "bias")]
    return _normed(x, own, part.momentum, part.eps)


class _StackAlone(torch.autograd.Function):
    """What is computed of a stack alone: `vmap` asks for it, and its gradient is that of what it does."""

    generate_vmap_rule = False

    @staticmethod
    def forward(x: Tensor, *rest: Any) -> Tensor:
        raise NotImplementedError  # A stack alone is asked.

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep nothing."""


class _Dropped(_StackAlone):
    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor, rate: float, draws: _Draws) -> tuple[Tensor, int]:
        return draws.dropped(x.movedim(in_dims[0], 0), rate), 0


class _Normed(_StackAlone):
    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor, *rest: Any) -> tuple[Tensor, int]:
        *tensors, momentum, eps = rest
        return _normed(x.movedim(in_dims[0], 0), tensors, momentum, eps), 0


class _Dropout(nn.Module):
    def __init__(self, rate: float, draws: _Draws) -> None:
        super().__init__()
        self._rate, self._draws = rate, draws

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not self._rate:
            return x
        dropped: Tensor = _Dropped.apply(x, self._rate, self._draws)  # type: ignore[no-untyped-call]
        return dropped


class _BatchNorm(nn.BatchNorm1d):
    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return super().forward(x)
        assert self.num_batches_tracked is not None
        self.num_batches_tracked.add_(1)
        tensors = self.running_mean, self.running_var, self.weight, self.bias
        normed: Tensor = _Normed.apply(x, *tensors, self.momentum, self.eps)  # type: ignore[no-untyped-call]
        return normed


class _One(nn.Module):
    """A network as the loop asks it, with dropout and BatchNorm of each network's own."""

    def __init__(self, network: nn.Module, classes: int, draws: _Draws) -> None:
        super().__init__()
        self.network, self._classes = copy.deepcopy(network), classes
        for parent in list(self.network.modules()):
            for name, child in parent.named_children():
                if type(child) is nn.Dropout:
                    setattr(parent, name, _Dropout(child.p, draws))
                elif normed_alone(child):
                    child.__class__ = _BatchNorm

    def forward(self, x: Tensor) -> Tensor:
        return forward(self.network, x, self._classes).float()
