"""Optimizers and learning-rate schedules.

Adam, AdamW and SGD call PyTorch's fused kernels without what ``torch.optim`` wraps around them; the numbers are those
of ``torch.optim`` with ``fused=True``, bit for bit. What is saved is the import of PyTorch's compiler, which the first
``torch.optim`` object of a process causes (1.6 s), and what is done around each step, which counts where networks are
small. Where a version of PyTorch has no kernel of the known form, and where a parameter is a part of a larger tensor,
which the kernels would misread, ``torch.optim`` takes the steps.

Papers: Kingma and Ba (2015), Adam; Loshchilov and Hutter (2019), AdamW; Sutskever et al. (2013), momentum.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from reticent.training.recipe import Recipe

_ADAM = "exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps lr beta1 beta2 weight_decay eps amsgrad maximize"
_SGD = "momentum_buffer_list weight_decay momentum lr dampening nesterov maximize is_first_step"
KNOWN = {"_fused_adam_": _ADAM, "_fused_adamw_": _ADAM, "_fused_sgd_": _SGD}
"""Kernels, and what they take behind parameters and gradients; they are private, so that another version may differ."""


def usable(kernel: str) -> bool:
    """Tell whether this version of PyTorch has a kernel in the form in which it is called here."""
    found = getattr(getattr(torch.ops.aten, kernel, None), "default", None)
    names = [] if found is None else [argument.name for argument in found._schema.arguments]
    return hasattr(torch, kernel) and " ".join(names).startswith(f"self grads {KNOWN[kernel]}")


class Optimizer:
    """What the loop needs of an optimizer; a `fused` one takes its steps by a kernel."""

    def __init__(
        self, parameters: Sequence[nn.Parameter], rate: float, weight_decay: float, kernel: str, moments: int
    ) -> None:
        self.parameters, self.rate, self.weight_decay = list(parameters), rate, weight_decay
        self._dense = all(torch.empty_like(p).stride() == p.stride() for p in self.parameters)
        self.fused = usable(kernel) and self._dense
        self._kernel: Any = getattr(torch, kernel, None)
        # One object a parameter: then it does not matter which parameters have a gradient in which step.
        self._wrapped = [] if self.fused else [self._torch(p) for p in self.parameters]
        self._moments = [[by_rows(torch.zeros_like(p)) for p in self.parameters] for _ in range(moments)]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update every parameter that has a gradient."""
        for p in self.parameters:
            if p.grad is not None and p.grad.stride() != p.stride():  # Kernels take numbers in the order of memory.
                p.grad = torch.empty_like(p).copy_(p.grad)
        gradients = [p.grad for p in self.parameters]
        if self.fused:
            step_together(
                [self], [[*map(by_rows, self.parameters)]], [[g if g is None else by_rows(g) for g in gradients]]
            )
            return
        for one, gradient in zip(self._wrapped, gradients, strict=True):
            if gradient is not None:
                one.param_groups[0]["lr"] = self.rate
                one.step()

    def _torch(self, parameter: nn.Parameter) -> torch.optim.Optimizer:
        raise NotImplementedError

    def _kept(self) -> list[list[Tensor]]:
        """Give what the kernel keeps of each parameter, one list a kind."""
        return self._moments

    def _count(self, active: list[int]) -> None:
        """Count a step on some parameters."""

    def _update(self, parameters: list[Tensor], gradients: list[Tensor], *kept: list[Tensor]) -> None:
        """Call the kernel."""
        raise NotImplementedError


@torch.no_grad()
def step_together(
    optimizers: Sequence[Optimizer], parameters: Sequence[list[Tensor]], gradients: Sequence[Sequence[Tensor | None]]
) -> None:
    """Take one step of each of several fused optimizers of one recipe, those of one rate by one call of the kernel.

    Parameters and gradients are of each network, by rows; what has no gradient stays.
    """
    groups: dict[tuple[float, float], list[tuple[Optimizer, list[list[Tensor]]]]] = {}
    for one, those, their in zip(optimizers, parameters, gradients, strict=True):
        lists, known = [those, *one._kept()], [gradient for gradient in their if gradient is not None]
        active = list(range(len(their)))
        if len(known) < len(their):
            active = [i for i, gradient in enumerate(their) if gradient is not None]
            lists = [[each[i] for i in active] for each in lists]
        if known:
            one._count(active)
            groups.setdefault((one.rate, one.weight_decay), []).append((one, [lists[0], known, *lists[1:]]))
    for group in groups.values():
        kinds = zip(*(lists for _, lists in group), strict=True)
        group[0][0]._update(*([*chain.from_iterable(kind)] for kind in kinds))


class Adam(Optimizer):
    """Adam, with weight decay in the gradient, or decoupled from it (AdamW)."""

    def __init__(
        self, parameters: Sequence[nn.Parameter], rate: float, weight_decay: float = 0.0, *, decoupled: bool = False
    ) -> None:
        self._decoupled = decoupled
        super().__init__(parameters, rate, weight_decay, "_fused_adamw_" if decoupled else "_fused_adam_", moments=2)
        device = self.parameters[0].device if self.parameters else None
        self._steps = torch.zeros(len(self.parameters), dtype=torch.float32, device=device)
        self._each = list(self._steps.unbind())

    def _torch(self, parameter: nn.Parameter) -> torch.optim.Optimizer:
        kind = torch.optim.AdamW if self._decoupled else torch.optim.Adam
        return kind([parameter], lr=self.rate, weight_decay=self.weight_decay, fused=self._dense)

    def _kept(self) -> list[list[Tensor]]:
        return [*self._moments, self._each]

    def _count(self, active: list[int]) -> None:
        if len(active) == len(self._each):
            self._steps += 1
        else:
            self._steps[active] += 1

    def _update(self, parameters: list[Tensor], gradients: list[Tensor], *kept: list[Tensor]) -> None:
        first, second, steps = kept
        self._kernel(
            parameters,
            gradients,
            first,
            second,
            [],
            steps,
            lr=self.rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=self.weight_decay,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )


class Sgd(Optimizer):
    """Stochastic gradient descent with momentum, weight decay in the gradient."""

    def __init__(
        self, parameters: Sequence[nn.Parameter], rate: float, weight_decay: float, momentum: float, *, nesterov: bool
    ) -> None:
        self._momentum, self._nesterov = momentum, nesterov
        super().__init__(parameters, rate, weight_decay, "_fused_sgd_", moments=int(momentum > 0))

    def _torch(self, parameter: nn.Parameter) -> torch.optim.Optimizer:
        return torch.optim.SGD(
            [parameter], self.rate, self._momentum, 0, self.weight_decay, nesterov=self._nesterov, fused=self._dense
        )

    def _update(self, parameters: list[Tensor], gradients: list[Tensor], *kept: list[Tensor]) -> None:
        self._kernel(
            parameters,
            gradients,
            kept[0] if kept else [],
            weight_decay=self.weight_decay,
            momentum=self._momentum,
            lr=self.rate,
            dampening=0.0,
            nesterov=self._nesterov,
            maximize=False,
            is_first_step=False,  # Momentum that begins at zero is the first gradient after one step.
        )


def by_rows(matrix: Tensor) -> Tensor:
    """Turn a matrix that is kept column by column, which the kernels would copy."""
    return matrix if matrix.is_contiguous() or matrix.dim() != 2 else matrix.t()


def optimizer(recipe: Recipe, parameters: Iterable[nn.Parameter]) -> Optimizer:
    """Make a recipe's optimizer."""
    rate, decay = recipe.learning_rate, recipe.weight_decay
    trainable = [p for p in parameters if p.requires_grad]
    if recipe.optimizer == "sgd":
        return Sgd(trainable, rate, decay, recipe.momentum, nesterov=recipe.nesterov)
    return Adam(trainable, rate, decay, decoupled=recipe.optimizer == "adamw")


def factor(recipe: Recipe, step: int, steps_an_epoch: int) -> float:
    """Compute by what the learning rate is multiplied at one step."""
    warm = recipe.warmup_epochs * steps_an_epoch
    if step < warm:
        return (step + 1) / (warm + 1)
    total = recipe.epochs * steps_an_epoch
    if recipe.schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1.0, total - warm)))
    if recipe.schedule == "linear":
        return (total - step) / max(1.0, total - warm)
    if recipe.schedule == "multistep":
        return recipe.decay ** sum(step >= part * total for part in recipe.milestones)
    return 1.0
