"""Networks of one kind, trained as one batched computation.

Each network stays a module of its own, with its own run: batches, objective, optimizer, statistics and random streams.
Its parameters and buffers lie in one tensor with those of the others while it trains, so that one forward and one
backward pass serve all. Products of stacks of two and more networks have bits that do not depend on which others are
among them; one alone is computed beside itself, to have them too.
"""

import copy
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from reticent.errors import ReticentError
from reticent.objectives.base import named_inplace_errors
from reticent.training.materials import forward
from reticent.training.run import Run, Step


class _Draws:
    """Generators of the dropout of the networks that are asked now."""

    now: Sequence[torch.Generator] = ()


class _Masked(torch.autograd.Function):
    """Dropout of a stack: each network's mask is drawn by its own generator, as `nn.Dropout` draws it on the CPU."""

    generate_vmap_rule = False

    @staticmethod
    def forward(x: Tensor, rate: float, draws: _Draws) -> Tensor:
        raise NotImplementedError  # A stack alone is asked.

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep nothing: the gradient is that of what `vmap` does."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor, rate: float, draws: _Draws) -> tuple[Tensor, int]:
        """Drop units of a stack ``(K, B, ...)``."""
        x = x.movedim(in_dims[0], 0)
        masks = [x.new_empty(x.shape[1:]).bernoulli_(1 - rate, generator=one) for one in draws.now]
        return x * torch.stack(_pair(masks)).div_(1 - rate), 0


class _Dropout(nn.Module):
    def __init__(self, rate: float, draws: _Draws) -> None:
        super().__init__()
        self._rate, self._draws = rate, draws

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not self._rate:
            return x
        dropped: Tensor = _Masked.apply(x, self._rate, self._draws)  # type: ignore[no-untyped-call]
        return dropped


class _Normed(torch.autograd.Function):
    """BatchNorm of a stack, network by network: of all channels at once, its bits depend on how many there are."""

    generate_vmap_rule = False

    @staticmethod
    def forward(x: Tensor, *rest: Any) -> Tensor:
        raise NotImplementedError  # A stack alone is asked.

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep nothing: the gradient is that of what `vmap` does."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor, *rest: Any) -> tuple[Tensor, int]:
        """Normalise a stack ``(K, B, ...)``, and move its statistics."""
        *tensors, momentum, eps = rest
        each = zip(x.movedim(in_dims[0], 0).unbind(), *(tensor.unbind() for tensor in tensors), strict=True)
        normed = [
            functional.batch_norm(x, mean, var, weight, bias, training=True, momentum=momentum, eps=eps)
            for x, mean, var, weight, bias in each
        ]
        return torch.stack(normed), 0


class _BatchNorm(nn.BatchNorm1d):
    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return super().forward(x)
        assert self.num_batches_tracked is not None
        self.num_batches_tracked.add_(1)
        tensors = self.running_mean, self.running_var, self.weight, self.bias
        normed: Tensor = _Normed.apply(x, *tensors, self.momentum, self.eps)  # type: ignore[no-untyped-call]
        return normed


def normed_alone(part: nn.Module) -> bool:
    """Tell whether a stack normalises with a module of one network's, as that network does alone."""
    usual = type(part) is nn.BatchNorm1d and part.affine and part.track_running_stats
    return bool(usual and part.momentum is not None)


class _Asked(nn.Module):
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


class Stack:
    """Runs of networks of one kind, whose gradients are computed together."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._draws, self._runs = _Draws(), list[Run]()
        self._asked = _Asked(runs[0].model, runs[0].materials.classes, self._draws)
        self._pads = _asked_apart(runs[0])
        device = runs[0].materials.prepare.device
        self._generators = {
            run: torch.Generator(device=device).manual_seed(run.streams.integer("dropout")) for run in runs
        }

    def hold(self, runs: Sequence[Run]) -> None:
        """Train these from now on: bring their states together, where they are not."""
        if self._runs == runs:
            return
        self.let_go()
        self._runs = list(runs)
        for run in runs:
            run.training_mode()
        models = [run.model for run in runs]
        self._parts = {name: [one.get_parameter(name) for one in models] for name, _ in models[0].named_parameters()}
        buffers = {name: [one.get_buffer(name) for one in models] for name, _ in models[0].named_buffers()}
        self._parameters, self._buffers = (
            {name: _brought_together(each) for name, each in parts.items()} for parts in (self._parts, buffers)
        )

    def let_go(self) -> None:
        """Give each network a state of its own again."""
        for run in self._runs:
            for tensor in (*run.model.parameters(), *run.model.buffers()):
                tensor.data = tensor.data.clone()
        self._runs = []

    def epoch(self, plans: Sequence[tuple[int, int]]) -> list[float | ReticentError]:
        """Visit the batches of one epoch of each run: the mean loss, or why it failed.

        Each network sees its own batches in its own order. Smaller ones, such as the last of an epoch, are filled up
        with records that no loss looks at; where the network mixes the records of a batch, equal ones are taken
        together.

        Args:
            plans: for each run the epoch and how many batches of it, as for `Run.epoch`.
        """
        self._asked.train()
        steps = [run.steps_of(*plan) for run, plan in zip(self._runs, plans, strict=True)]
        losses = [list[Tensor]() for _ in steps]
        least = self._runs[0].recipe.batch_size if self._pads else 0
        for turn in zip_longest(*steps):
            sizes = dict[int, list[tuple[int, Step]]]()
            for k, step in enumerate(turn):
                if step is not None:
                    sizes.setdefault(max(least, len(step.y)), []).append((k, step))
            for size, taken in sizes.items():
                for (k, _), loss in zip(taken, self._take(taken, size), strict=True):
                    losses[k].append(loss)
        return [_mean(*each) for each in zip(self._runs, plans, steps, losses, strict=True)]

    def _take(self, taken: list[tuple[int, Step]], size: int) -> list[Tensor]:
        """Take one step of some of the runs, on batches that are filled up to one size."""
        rows, runs = [k for k, _ in taken], [self._runs[k] for k, _ in taken]
        given = []
        for run, (_, step) in zip(runs, taken, strict=True):
            run.turn_to(step)
            run.optimizer.zero_grad()
            given.append(_filled(run.given(step.x, step.y, step.batch), size))
        everyone = len(rows) == len(self._runs) > 1
        at = slice(None) if everyone else torch.tensor(_pair(rows), device=given[0].device)
        leaves = {
            name: stacked[at].requires_grad_(self._parts[name][0].requires_grad)
            for name, stacked in self._parameters.items()
        }
        buffers = {name: t[at] for name, t in self._buffers.items()}
        self._draws.now = [self._generators[run] for run in runs]
        with runs[0].cast(), sdpa_kernel(SDPBackend.MATH):
            logits = vmap(self._answer, randomness="error")(leaves, buffers, torch.stack(_pair(given)))
        losses = [
            run.objective(each if len(step.y) == size else each[: len(step.y)], step.y, step.batch)
            for run, each, (_, step) in zip(runs, logits.unbind(), taken, strict=False)
        ]
        with named_inplace_errors():
            torch.stack(losses).sum().backward()  # type: ignore[no-untyped-call]
        for name, leaf in leaves.items():
            for k, gradient in zip(rows, () if leaf.grad is None else leaf.grad.unbind(), strict=False):
                parameter = self._parts[name][k]
                parameter.grad = gradient if parameter.grad is None else parameter.grad.add_(gradient)
        if not everyone:
            for name, value in buffers.items():
                self._buffers[name][rows] = value[: len(rows)]
        for run in runs:
            run.move()
            run.step += 1
        return [loss.detach() for loss in losses]

    def _answer(self, parameters: dict[str, Tensor], buffers: dict[str, Tensor], x: Tensor) -> Tensor:
        state = {f"network.{name}": value for name, value in (parameters | buffers).items()}
        logits: Tensor = functional_call(self._asked, state, (x,))
        return logits


def laid_out(network: nn.Module) -> nn.Module:
    """Keep the weights of linear layers column by column, as the gradients of a stack come; before optimizers are made.

    Else each gradient of a stack would be transposed, which takes as long as computing it.
    """
    for part in network.modules():
        if isinstance(part, nn.Linear):
            part.weight.data = part.weight.data.t().contiguous().t()
    return network


def _brought_together(each: Sequence[Tensor]) -> Tensor:
    """Put tensors of one shape and layout into one ``(K, ...)``, of which they are parts from now on."""
    first = each[0]
    order = sorted(range(first.dim()), key=first.stride, reverse=True)
    stacked = torch.stack([tensor.detach().permute(order) for tensor in each])
    stacked = stacked.permute(0, *(1 + order.index(axis) for axis in range(first.dim())))
    for tensor, part in zip(each, stacked.unbind(), strict=True):
        tensor.data = part
    return stacked


def _asked_apart(run: Run) -> bool:
    """Tell whether a network in training mode, but for its dropout, answers each record whatever is beside it."""
    members, prepare = run.materials.members, run.materials.prepare
    asked = _Asked(run.model, run.materials.classes, _Draws()).train()
    for part in asked.modules():
        if isinstance(part, _BatchNorm):
            return False
        if isinstance(part, _Dropout):
            part.eval()
    with torch.no_grad():
        more, fewer = (asked(prepare(members.x[:count])) for count in (4, 3))
    return torch.allclose(more[:3], fewer, rtol=1e-3)


def _filled(x: Tensor, size: int) -> Tensor:
    return x if len(x) == size else torch.cat([x, x[:1].expand(size - len(x), *x.shape[1:])])


def _pair(each: list[Any]) -> list[Any]:
    """Put a single one beside itself."""
    return each * 2 if len(each) == 1 else each


def _mean(run: Run, plan: tuple[int, int], steps: list[Step], losses: list[Tensor]) -> float | ReticentError:
    try:
        return run.mean(plan[0], steps, losses)
    except ReticentError as error:
        return error
