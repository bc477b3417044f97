"""Adam, AdamW and SGD by PyTorch's fused kernels, without what ``torch.optim`` wraps around them.

The numbers are those of ``torch.optim`` with ``fused=True``, bit for bit (a test). What is saved is the import of
PyTorch's compiler, which the first ``torch.optim`` object of a process causes (1.6 s), and what is done around each
step, which counts where networks are small.

Papers: Kingma and Ba (2015), Adam; Loshchilov and Hutter (2019), AdamW; Sutskever et al. (2013), momentum.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class Optimizer:
    """What the loop needs of an optimizer.

    Attributes:
        rate: the learning rate of the next step.
    """

    def __init__(self, parameters: Sequence[nn.Parameter], rate: float, weight_decay: float) -> None:
        self.parameters = list(parameters)
        self.rate = rate
        self.weight_decay = weight_decay

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update every parameter that has a gradient."""
        given = [p.grad for p in self.parameters]
        active = [i for i, gradient in enumerate(given) if gradient is not None]
        if active:
            self._update(active, [g for g in given if g is not None])

    def _update(self, active: list[int], gradients: list[Tensor]) -> None:
        raise NotImplementedError


class Adam(Optimizer):
    """Adam, with weight decay in the gradient, or decoupled from it (AdamW)."""

    def __init__(
        self, parameters: Sequence[nn.Parameter], rate: float, weight_decay: float = 0.0, *, decoupled: bool = False
    ) -> None:
        super().__init__(parameters, rate, weight_decay)
        self._first = [torch.zeros_like(p, memory_format=torch.preserve_format) for p in self.parameters]
        self._second = [torch.zeros_like(p, memory_format=torch.preserve_format) for p in self.parameters]
        device = self.parameters[0].device if self.parameters else None
        self._steps = torch.zeros(len(self.parameters), dtype=torch.float32, device=device)
        self._each = list(self._steps.unbind())
        self._kernel = torch._fused_adamw_ if decoupled else torch._fused_adam_

    def _update(self, active: list[int], gradients: list[Tensor]) -> None:
        if len(active) == len(self.parameters):
            self._steps += 1
        else:
            self._steps[active] += 1
        self._kernel(
            [self.parameters[i] for i in active],
            gradients,
            [self._first[i] for i in active],
            [self._second[i] for i in active],
            [],
            [self._each[i] for i in active],
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
        super().__init__(parameters, rate, weight_decay)
        self._momentum, self._nesterov = momentum, nesterov
        self._buffers: list[Tensor | None] = [None] * len(self.parameters)

    def _update(self, active: list[int], gradients: list[Tensor]) -> None:
        by_index = dict(zip(active, gradients, strict=True))
        started = [i for i in active if self._buffers[i] is not None or not self._momentum]
        fresh = [i for i in active if self._buffers[i] is None and self._momentum]
        for i in fresh:
            self._buffers[i] = torch.empty_like(self.parameters[i], memory_format=torch.preserve_format)
        for chosen, first in ((fresh, True), (started, False)):
            if not chosen:
                continue
            torch._fused_sgd_(
                [self.parameters[i] for i in chosen],
                [by_index[i] for i in chosen],
                [b for b in (self._buffers[i] for i in chosen) if b is not None],
                weight_decay=self.weight_decay,
                momentum=self._momentum,
                lr=self.rate,
                dampening=0.0,
                nesterov=self._nesterov,
                maximize=False,
                is_first_step=first,
            )
