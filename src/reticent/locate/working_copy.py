"""A working copy of a network that is scored and moved while its gradients come: no two layers' gradients at once.

As soon as a parameter's gradient is complete, it is added to the parameter's score and to the optimizer's moments, and
dropped. Weights move after the whole backward pass, so that every gradient is that of the weights before the step.
Numbers are those of SGD, Adam and AdamW, to rounding; what is saved is one copy of the weights.
"""

import copy
import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Self

import torch
from torch import Tensor, nn

from reticent.errors import ModelError
from reticent.locate.scoring import BLOCK, Scoring
from reticent.models.state_dicts import check_state
from reticent.objectives.base import named_inplace_errors

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
"""Adam's decays of the moments, and what is added to the root of the second."""


def copied(model: nn.Module) -> nn.Module:
    """Copy a network to work on, at least in float32."""
    try:
        working = copy.deepcopy(model)
    except (RuntimeError, TypeError) as error:
        raise ModelError(
            f"the network cannot be copied, and scoring must not change the one that is given: {error}"
        ) from None
    working.zero_grad(set_to_none=True)
    return wide(working)


def wide(model: nn.Module) -> nn.Module:
    """Bring weights of half precision to float32, since what is added up step by step would be lost in them."""
    half = any(p.dtype in {torch.float16, torch.bfloat16} for p in model.parameters())
    return model.float() if half else model


def fill(model: nn.Module, state: Mapping[str, Tensor], what: str) -> None:
    """Bring a network to a state."""
    check_state(model, state, what)
    model.load_state_dict(dict(state))


class WorkingCopy(ExitStack):
    """Scores and moves parameters; to be used as a context, outside of which their gradients are as usual."""

    def __init__(self, parameters: Mapping[str, nn.Parameter], scoring: Scoring) -> None:
        super().__init__()
        self.sums: dict[str, Tensor] = {}
        self._parameters, self._scoring = dict(parameters), scoring
        self._zero = _zeros(self._parameters)
        # Of sgd the velocity, of adam and adamw both moments.
        kinds = 1 if scoring.optimizer == "sgd" else 2
        self._moments = [_zeros(self._parameters) for _ in range(kinds)]
        self._steps = dict.fromkeys(self._parameters, 0)
        self._taken: list[str] = []
        self._last = True

    def __enter__(self) -> Self:
        for name, parameter in self._parameters.items():
            register = parameter.register_post_accumulate_grad_hook
            self.callback(register(lambda given, name=name: self._ready(name, given)).remove)  # type: ignore[no-untyped-call]
        return super().__enter__()

    def back(self, loss: Tensor, *, last: bool) -> None:
        """Send a part of a step's loss back; with the last one, every parameter that had a gradient moves."""
        self._last = last
        with named_inplace_errors():
            loss.backward()  # type: ignore[no-untyped-call]
        if last:
            for name, parameter in self._parameters.items():  # What only an earlier part reached.
                self.take(name, parameter)
            self._step()

    def _ready(self, name: str, parameter: Tensor) -> None:
        if self._last:
            self.take(name, parameter)

    @torch.no_grad()
    def take(self, name: str, parameter: Tensor) -> None:
        """Score a parameter by its gradient, take that into the moments, and drop it."""
        gradient, parameter.grad = parameter.grad, None
        if gradient is None:
            return
        self.sums.setdefault(name, self._zero[name])
        dense = gradient.to_dense() if gradient.is_sparse else gradient
        held = [moment[name] for moment in self._moments]
        for total, weight, part, *moments in _blocks(self.sums[name], parameter, dense, *held):
            product = part * weight
            total.add_(product.square_() if self._scoring.power == 2 else product.abs_())
            del product
            self._note(moments, part, weight)
        self._steps[name] += 1
        self._taken.append(name)

    @torch.no_grad()
    def _step(self) -> None:
        rate = self._scoring.learning_rate
        for name in self._taken:
            count = self._steps[name]
            for weight, *moments in _blocks(self._parameters[name], *(moment[name] for moment in self._moments)):
                if len(moments) == 1:
                    weight.add_(moments[0], alpha=-rate)
                    continue
                if self._scoring.optimizer == "adamw":
                    weight.mul_(1 - rate * self._scoring.weight_decay)
                root = moments[1].sqrt().div_(math.sqrt(1 - BETA2**count)).add_(EPSILON)
                weight.addcdiv_(moments[0], root, value=-rate / (1 - BETA1**count))
        self._taken.clear()

    def _note(self, moments: list[Tensor], gradient: Tensor, weight: Tensor) -> None:
        """Take a block of a gradient into the moments; weight decay too, where it belongs to the gradient."""
        decay = 0.0 if self._scoring.optimizer == "adamw" else self._scoring.weight_decay
        moved = gradient.add(weight, alpha=decay) if decay else gradient
        if len(moments) == 1:
            moments[0].mul_(self._scoring.momentum).add_(moved)
            return
        moments[0].lerp_(moved, 1 - BETA1)
        moments[1].mul_(BETA2).addcmul_(moved, moved, value=1 - BETA2)


def _zeros(parameters: Mapping[str, nn.Parameter]) -> dict[str, Tensor]:
    """Make a tensor of zeros for each parameter, all of a kind in one piece of memory.

    A piece that large goes back to the system when it is dropped; many small ones, between others that stay, do not.
    """
    kinds = {name: (p.dtype, p.device) for name, p in parameters.items()}
    found: dict[str, Tensor] = {}
    for kind in set(kinds.values()):
        names = [name for name in parameters if kinds[name] == kind]
        sizes = [parameters[name].numel() for name in names]
        whole = torch.zeros(sum(sizes), dtype=kind[0], device=kind[1])
        found |= {n: part.view(parameters[n].shape) for n, part in zip(names, torch.split(whole, sizes), strict=True)}
    return found


def _blocks(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Visit tensors of one shape side by side, some of their first rows at a time."""
    whole = [t.detach().reshape(1) if t.dim() == 0 else t.detach() for t in tensors]
    length = len(whole[0])
    rows = max(1, BLOCK * length // max(1, whole[0].numel()))
    for start in range(0, length, rows):
        yield tuple(t[start : start + rows] for t in whole)
