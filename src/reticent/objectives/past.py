"""Privacy-aware sparsity tuning: late in training, an L1 penalty, strongest where the loss gap hangs on a weight.

Paper: Hu et al. (2024), "Defending membership inference attacks via privacy-aware sparsity tuning", arXiv 2410.06814.
There is no public code, and the formula is known from reviews only: absolute values, one tensor as the module, gammas
measured anew every epoch, the meaning of alpha, and what is penalised are judgements, each an option or named on the
card. The weight of the penalty is ours.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Annotated, ClassVar, Literal

import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn
from torch.nn import functional

from reticent.errors import ModelError
from reticent.objectives._drawing import Deck, needed_reference
from reticent.objectives.base import Batch, Context, Objective
from reticent.spec import Spec


class Past(Spec):
    """Options of privacy-aware sparsity tuning."""

    method: ClassVar[str] = "past"

    weight: Annotated[float, Ge(0)] = 1e-4
    """What the penalty is multiplied by (lambda)."""
    after: Annotated[float, Ge(0), Lt(1)] = 2 / 3
    """Share of the epochs that train plainly; at least the last epoch tunes."""
    alpha: Annotated[float, Ge(0)] = 2.5
    """The paper's alpha, of which only values are known."""
    alpha_role: Literal["exponent", "multiplier"] = "exponent"
    """What alpha does: the power of a weight's sensitivity in its gamma, or a factor of the penalty."""
    module: Literal["tensor", "module"] = "tensor"
    """Within what gammas have mean 1: a parameter tensor, or all tensors of the layer that holds it."""
    refresh: Literal["epoch", "once"] = "epoch"
    """Gammas are measured before every tuning epoch, or before the first one only."""
    batches: Annotated[int, Ge(10)] = 10
    """Over how many batches, of members and of reference non-members, the gap's gradient is averaged."""
    biases_and_norms: bool = False
    """Penalise biases and the weights of normalisation layers too."""
    step: Literal["subgradient", "proximal"] = "subgradient"
    """The penalty is part of the loss, or its soft threshold follows each step, which gives exact zeros."""


def build(spec: Past) -> Objective:
    """Return the loss.

    Args:
        spec: its options.

    Returns:
        The objective that the loop calls.
    """
    return _Past(spec)


class _Past(Objective):
    def __init__(self, spec: Past) -> None:
        self._spec = spec
        multiplies = spec.alpha_role == "multiplier"
        self._weight = spec.weight * spec.alpha if multiplies else spec.weight
        self._exponent = 1.0 if multiplies else spec.alpha

    def begin(self, context: Context) -> None:
        super().begin(context)
        self._gammas: list[Tensor] = []
        self._first = min(round(self._spec.after * context.epochs), context.epochs - 1)
        if not self._weight:
            return
        self._groups = list(_groups(context.model, self._spec))
        self._penalised = [parameter for group in self._groups for parameter in group]
        if not self._penalised:
            raise ModelError(
                "past penalises weights of two or more axes, and the model has none that is trained: "
                "set biases_and_norms=true, or use another defense"
            )
        reference, size = needed_reference(context, "past"), context.batch_size
        self._members = Deck(context.members, size, context.generator("past/members"))
        self._reference = Deck(reference, size, context.generator("past/reference"))

    def start_epoch(self, epoch: int) -> None:
        if not self._weight or epoch < self._first or (self._gammas and self._spec.refresh == "once"):
            return
        slopes = iter(self._slopes())
        self._gammas = [
            gamma
            for group in self._groups
            for gamma in _relative(
                [next(slopes) for _ in group], self._exponent, [self.context.trains(p) for p in group]
            )
        ]

    def _slopes(self) -> list[Tensor]:
        """Average the gradient of the loss gap over batches, in eval mode; zeros where the loss does not depend."""
        totals = [torch.zeros_like(parameter) for parameter in self._penalised]
        with self.context.evaluating():
            for _ in range(self._spec.batches):
                outside, inside = (
                    functional.cross_entropy(self.context.ask(examples.x), examples.y)
                    for examples in (self._reference.deal(), self._members.deal())
                )
                slopes = torch.autograd.grad(outside - inside, self._penalised, allow_unused=True)
                for total, slope in zip(totals, slopes, strict=True):
                    if slope is not None:
                        total.add_(slope, alpha=1 / self._spec.batches)
        return totals

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        loss = functional.cross_entropy(logits, targets)
        if not self._gammas:
            return loss
        self.acts(batch.epoch)
        if self._spec.step == "proximal":
            return loss
        return loss + self._weight * _penalty(self._penalised, self._gammas)

    def notices(self) -> list[str]:
        if not self._weight:
            return []
        after = f"{self._spec.after:.3g}"
        return self.idle(
            "past",
            f"training ended with the epochs that are plain (after={after})",
            "Give a smaller after, or train longer.",
        )

    @torch.no_grad()
    def stepped(self) -> None:
        if self._spec.step == "proximal":
            step = self.context.rate() * self._weight
            for parameter, gamma in zip(self._penalised if self._gammas else (), self._gammas, strict=True):
                parameter.copy_(parameter.sign() * (parameter.abs() - step * gamma).clamp(min=0))


def _groups(model: nn.Module, spec: Past) -> Iterator[list[nn.Parameter]]:
    """Find what is penalised; a shared tensor counts once.

    Yields:
        Groups within which gammas have mean 1.
    """
    seen: set[nn.Parameter] = set()
    for owner in model.modules():
        found = [
            parameter
            for parameter in owner.parameters(recurse=False)
            if parameter.requires_grad
            and parameter not in seen
            and (spec.biases_and_norms or (parameter.dim() > 1 and not isinstance(owner, nn.LayerNorm)))
        ]
        seen.update(found)
        if found and spec.module == "module":
            yield found
        elif found:
            yield from ([parameter] for parameter in found)


def _relative(slopes: list[Tensor], exponent: float, trained: Sequence[Tensor | None] = ()) -> list[Tensor]:
    """Turn gradients of one group into gammas of mean 1: proportional to a power of their size, or 1 if all are 0.

    Entries that are not trained have no part in it, and a gamma of 0.
    """
    masks = [torch.ones_like(s, dtype=torch.bool) if m is None else m for s, m in zip_longest(slopes, trained)]
    slopes = [slope * mask for slope, mask in zip(slopes, masks, strict=True)]
    largest = torch.stack([slope.abs().max() for slope in slopes]).max()
    if largest == 0:
        return [mask.to(slope.dtype) for slope, mask in zip(slopes, masks, strict=True)]
    powers = [mask * (slope.abs() / largest) ** exponent for slope, mask in zip(slopes, masks, strict=True)]
    count = torch.stack([mask.sum() for mask in masks]).sum()
    total = torch.stack([power.sum() for power in powers]).sum()
    return [count * power / total for power in powers]


def _penalty(parameters: list[nn.Parameter], gammas: list[Tensor]) -> Tensor:
    """Sum ``gamma |theta|`` over all weights."""
    parts = [(gamma * parameter.abs()).sum() for parameter, gamma in zip(parameters, gammas, strict=True)]
    return torch.stack(parts).sum()
