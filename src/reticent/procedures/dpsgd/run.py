"""One run of the loop with Poisson samples, clipped per-record gradients and Gaussian noise.

Paper: Abadi et al. (2016), "Deep learning with differential privacy", algorithm 1; the batch is the expected one
wherever the sum is divided by it, and a step without records still adds noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from reticent.errors import ModelError
from reticent.objectives.base import Batch, named_inplace_errors
from reticent.procedures.dpsgd.gradients import Part, PerRecord
from reticent.torch_state import evaluating
from reticent.training import optim
from reticent.training.run import Run

PER_RECORD_FLOATS = 2**27
"""How many numbers the per-record gradients of one pass may have, where `micro_batch` is not given: 512 MiB."""
LARGEST_PASS = 256
STABLE = 1e-6
"""Added to each norm before it divides, as Opacus does."""
ALIKE = {"float32": 1e-2, "bfloat16": 1e-1}
"""Largest difference, relative to the larger, between a gradient and the sum of its per-record parts."""


@dataclass(frozen=True)
class Mechanism:
    """What a step does.

    Attributes:
        rate: with which probability a record is in a step.
        noise: standard deviation, as a multiple of `max_norm`.
        max_norm: largest norm of a record's gradient.
        micro_batch: most records a pass, or None for as many as the memory allows.
    """

    rate: float
    noise: float
    max_norm: float
    micro_batch: int | None = None


def sample_rate(records: int, batch_size: int) -> float:
    """Compute with which probability a record is in a step."""
    return min(1.0, batch_size / records)


def steps_an_epoch(rate: float) -> int:
    """Compute how many steps visit each record once, expected."""
    return max(1, round(1 / rate))


def clip_factors(norms: Tensor, max_norm: float) -> Tensor:
    """Compute what each record's gradient is multiplied by, ``min(1, max_norm / (norm + 1e-6))``."""
    return (max_norm / (norms + STABLE)).clamp(max=1.0)


def clipped_sum(parts: Sequence[Part], max_norm: float) -> list[Tensor]:
    """Clip each record's gradient as one vector over all parameters, and add them up."""
    norms = torch.stack([part.squares() for part in parts]).sum(dim=0).sqrt()
    factors = clip_factors(norms, max_norm)
    return [part.weighted(factors) for part in parts]


class PrivateRun(Run):
    """The loop of DP-SGD. The noise is drawn on the device of the model, from the model's own stream "noise"."""

    def __init__(self, *given: Any, mechanism: Mechanism, hooks: PerRecord) -> None:
        self.mechanism, self.hooks = mechanism, hooks
        super().__init__(*given)
        device = self.materials.prepare.device
        self.gaussian = torch.Generator(device=device).manual_seed(self.streams.integer("noise"))
        count = max(1, sum(p.numel() for p in hooks.written))
        self.largest = mechanism.micro_batch or max(1, min(LARGEST_PASS, PER_RECORD_FLOATS // count))
        self._checked = False
        self._names = {id(p): name for name, p in self.model.named_parameters()}
        self._alone()

    def steps_an_epoch(self) -> int:
        """Return how many steps visit each record once, expected."""
        return steps_an_epoch(self.mechanism.rate)

    def sample(self, epoch: int) -> tuple[Tensor, list[int], list[float]]:
        """Draw each step's records: every member by a coin of its own."""
        count = len(self.materials.members)
        drawn = [
            torch.nonzero(torch.rand(count, generator=self.order, dtype=torch.float64) < self.mechanism.rate).view(-1)
            for _ in range(self.steps)
        ]
        return torch.cat(drawn), [len(rows) for rows in drawn], [self.recipe.weight_decay] * len(drawn)

    def take(self, x: Tensor, y: Tensor, batch: Batch) -> Tensor:
        """Take one step: clip, add up, add noise, divide by the expected number of records, update."""
        recipe, mechanism = self.recipe, self.mechanism
        if len(y):
            x = self.materials.prepare.augmented(x, recipe, self.noise)
        sums = [torch.zeros_like(p, dtype=torch.float32) for p in self.parameters]
        total = torch.zeros((), device=y.device)
        for ids, xs, ys in zip(*(torch.split(t, self.largest) for t in (batch.ids, x, y)), strict=True):
            if len(ys):
                total += self._pass(xs, ys, Batch(ids, batch.epoch), sums) * len(ys)
        self.optimizer.rate = recipe.learning_rate * optim.factor(recipe, self.step, self.steps)
        expected = mechanism.rate * len(self.materials.members)
        for parameter, value in zip(self.parameters, sums, strict=True):
            if mechanism.noise:
                drawn = torch.randn(value.shape, generator=self.gaussian, device=value.device)
                value.add_(drawn, alpha=mechanism.noise * mechanism.max_norm)
            parameter.grad = (value / expected).to(parameter.dtype)
        self.frozen.mask()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.objective.stepped()
        self.frozen.restore()
        self.step += 1
        return total / max(1, len(y))

    def update(self, loss: Tensor) -> None:
        """Refuse a step on anything but clipped and noisy gradients."""
        del loss
        raise ModelError(
            f"dpsgd: the objective {self.recipe.objective.method} takes steps of its own, which are neither clipped "
            "nor noisy: use another objective, such as cross-entropy"
        )

    def _pass(self, x: Tensor, y: Tensor, batch: Batch, sums: list[Tensor]) -> Tensor:
        """Add the clipped gradients of some records to the sums, and return their mean loss."""
        first, self._checked = not self._checked, True
        before = {name: b.clone() for name, b in self.model.named_buffers()} if first else {}
        given = self.objective.inputs(self.materials.prepare(x), y, batch)
        loss = self.objective(self._logits(given), y, batch)
        with named_inplace_errors():
            (loss * len(y)).backward()  # type: ignore[no-untyped-call]
        parts = self.hooks.parts(self.parameters, len(y))
        if first:
            self._check(parts, before)
        masks = [self.frozen.trains(parameter) for parameter in self.parameters]
        parts = [p if mask is None else p.masked(mask) for p, mask in zip(parts, masks, strict=True)]
        for value, part in zip(sums, clipped_sum(parts, self.mechanism.max_norm), strict=True):
            value.add_(part)
        self.optimizer.zero_grad()
        return loss.detach()

    def _check(self, parts: Sequence[Part], before: dict[str, Tensor]) -> None:
        """Hold the first pass against what plain gradients say, and see that it left no statistics behind."""
        for parameter, part in zip(self.parameters, parts, strict=True):
            if parameter.grad is None:
                continue
            plain, total = parameter.grad.float(), part.weighted(torch.ones(len(part), device=parameter.device))
            scale = max(float(plain.norm()), float(part.squares().max().sqrt()), 1e-6)
            if float((plain - total).norm()) > ALIKE[self.recipe.precision] * scale:
                raise ModelError(
                    f"dpsgd: {self._names[id(parameter)]}: its per-record gradients do not add up to the gradient of "
                    "the batch: the parameter is also used outside its layer, where its gradient would not be clipped"
                )
        moved = [name for name, b in self.model.named_buffers() if not torch.equal(before.get(name, b), b)]
        if moved:
            raise ModelError(
                f"dpsgd: {', '.join(moved)}: training moves these buffers, which would hold statistics of the members "
                "that no noise protects: leave them out, or keep them fixed"
            )

    @torch.no_grad()
    def _alone(self) -> None:
        """Refuse a model whose answer to a record depends on the other records of the batch."""
        x = self.materials.members.first(2).x
        with evaluating(self.model):
            together = self.ask(x)
            alone = torch.cat([self.ask(one) for one in torch.split(x, 1)])
        scale = max(1.0, float(together.abs().max()))
        if float((together - alone).abs().max()) > ALIKE[self.recipe.precision] * scale:
            raise ModelError(
                "dpsgd: the model answers a record otherwise when another record is in the batch: expected every layer "
                "to look at one record at a time, since otherwise no gradient belongs to a record"
            )
