"""Privacy-aware sparsity tuning: after training, an L1 penalty, strongest where the loss gap hangs on a weight.

Paper: Hu et al. (2024), "Defending membership inference attacks via privacy-aware sparsity tuning", arXiv 2410.06814.
`released` is what the authors' code does (Fujump/MLHospital): a second run of the loop with a new SGD, in which each
batch's gradient gets a term whose factors grow with the gap and have no fixed mean. `renormalised` is the formula of
the paper as reviews give it, with factors of mean 1, in the last part of one run; what they leave open is an option.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Annotated, Any, ClassVar, Literal

import torch
from annotated_types import Ge, Gt, Le, Lt
from pydantic import model_validator
from torch import Tensor, nn
from torch.nn import functional

from reticent.errors import ModelError
from reticent.objectives._sampling import EndlessBatches, required_reference
from reticent.objectives.base import Batch, Configured, Context, Objective, ObjectiveEntry, Tuning, named_inplace_errors
from reticent.spec import Spec
from reticent.torch_state import evaluating

PENALISED = (nn.Linear, nn.Conv2d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
"""Layers whose weights the released code penalises."""
LARGEST = 1e4
"""What the released code cuts a weight's factor at."""
OF_FORM: dict[str, tuple[str, ...]] = {
    "released": ("tuning_epochs", "tuning_learning_rate", "tuning_momentum", "tuning_weight_decay"),
    "renormalised": ("after", "alpha_role", "module", "refresh", "batches", "biases_and_norms", "step"),
}
"""Options that one form has and the other does not."""
USUAL = {"released": {"weight": 1e-5, "alpha": 4.0}, "renormalised": {"weight": 1e-4, "alpha": 2.5}}
"""What options come to that both forms have, where they are left out."""


class Past(Spec):
    """Options of privacy-aware sparsity tuning."""

    method: ClassVar[str] = "past"

    form: Literal["released", "renormalised"] = "released"
    """released tunes after the recipe's epochs, as the authors' code does; renormalised in the last of them, with
    factors of mean 1."""
    weight: Annotated[float, Ge(0)] | None = None
    """What the penalty is multiplied by (lambda); by default 1e-5, and 1e-4 in the renormalised form."""
    alpha: Annotated[float, Ge(0)] | None = None
    """The power of a weight's share of the gap; by default 4, and 2.5 in the renormalised form."""
    tuning_epochs: Annotated[int, Ge(1), Le(100_000)] = 50
    """Released form: epochs of the tuning, after those of the recipe."""
    tuning_learning_rate: Annotated[float, Gt(0)] = 0.01
    """Released form: of the tuning's SGD, at its beginning; it falls by a cosine."""
    tuning_momentum: Annotated[float, Ge(0), Lt(1)] = 0.9
    """Released form: of the tuning's SGD."""
    tuning_weight_decay: Annotated[float, Ge(0)] = 0.0
    """Released form: of the tuning's SGD."""
    after: Annotated[float, Ge(0), Lt(1)] = 2 / 3
    """Renormalised form: share of the epochs that train plainly; at least the last epoch tunes."""
    alpha_role: Literal["exponent", "multiplier"] = "exponent"
    """Renormalised form: alpha is the power of a weight's sensitivity in its gamma, or a factor of the penalty."""
    module: Literal["tensor", "module"] = "tensor"
    """Renormalised form: gammas have mean 1 within a parameter tensor, or all tensors of the layer that holds it."""
    refresh: Literal["epoch", "once"] = "epoch"
    """Renormalised form: gammas are measured before every tuning epoch, or before the first one only."""
    batches: Annotated[int, Ge(10)] = 10
    """Renormalised form: over how many batches, of members and of reference records, the gap's gradient is averaged."""
    biases_and_norms: bool = False
    """Renormalised form: penalise biases and the weights of normalisation layers too."""
    step: Literal["subgradient", "proximal"] = "subgradient"
    """Renormalised form: the penalty is part of the loss, or its soft threshold follows each step, which gives exact
    zeros."""

    @model_validator(mode="after")
    def _of_one_form(self) -> Any:
        for form, options in OF_FORM.items():
            changed = [o for o in options if getattr(self, o) != type(self).model_fields[o].default]
            if form != self.form and changed:
                raise ValueError(f"{changed[0]} with form={form} only, got form={self.form}")
        return self

    def implied(self) -> Mapping[str, float]:
        """Return what weight and alpha are where they are left out."""
        return USUAL[self.form]

    def usual(self, option: str) -> float:
        """Return an option that both forms have."""
        given = getattr(self, option)
        return float(USUAL[self.form][option] if given is None else given)


def build(spec: Past) -> Objective:
    """Return the loss."""
    return _Released(spec) if spec.form == "released" else _Renormalised(spec)


def brief(spec: Past, share: float) -> Past:
    """Shorten the tuning as the recipe's epochs are shortened."""
    shorter = max(1, round(share * spec.tuning_epochs))
    return spec.replace(tuning_epochs=shorter) if spec.form == "released" else spec


class _Released(Configured[Past]):
    """The training before the tuning: plain."""

    def begin(self, context: Context) -> None:
        super().begin(context)
        if self.spec.usual("weight"):
            _Tuning(self.spec).begin(context)

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        return functional.cross_entropy(logits, targets)

    def then(self) -> Tuning | None:
        spec = self.spec
        if not spec.usual("weight"):
            return None
        self.acts(0)
        return Tuning(
            _Tuning(spec),
            epochs=spec.tuning_epochs,
            learning_rate=spec.tuning_learning_rate,
            momentum=spec.tuning_momentum,
            weight_decay=spec.tuning_weight_decay,
        )

    def notices(self) -> list[str]:
        if not self.spec.usual("weight"):
            return []
        return self.idle("training was ended before the tuning (stop_after)", "Leave stop_after out.")


class _Tuning(Configured[Past]):
    """The tuning as released: after each backward pass, the penalised weights' gradients get their term."""

    def begin(self, context: Context) -> None:
        super().begin(context)
        self._weight, self._alpha = self.spec.usual("weight"), self.spec.usual("alpha")
        self._penalised = list(_weights(context.model))
        if not self._penalised:
            raise ModelError(
                "past penalises the weights of Linear, Conv2d and BatchNorm layers, and the model has none that is "
                "trained: use past:form=renormalised, or another defense"
            )
        self._outside: tuple[Tensor | None, ...] = ()
        self._reference = EndlessBatches(
            required_reference(context, "past"), context.batch_size, context.generator("past/reference")
        )
        self._views = context.generator("past/views")

    def inputs(self, x: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        drawn = self._reference.deal()
        logits = self.context.ask(self.context.augment(drawn.x, self._views))
        loss = functional.cross_entropy(logits, drawn.y)
        with named_inplace_errors():
            self._outside = torch.autograd.grad(loss, self._penalised, allow_unused=True)
        return x

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        return functional.cross_entropy(logits, targets)

    @torch.no_grad()
    def graded(self) -> None:
        for parameter, outside in zip(self._penalised if self._outside else (), self._outside, strict=True):
            if parameter.grad is None:
                continue
            gap = parameter.grad if outside is None else parameter.grad - outside
            factors = _factors(gap.abs(), self._alpha, self.context.trains(parameter))
            parameter.grad.add_(self._weight * factors * parameter.sign())
        self._outside = ()


def _weights(model: nn.Module) -> Iterator[nn.Parameter]:
    """Find the weights that the released code penalises; a shared tensor counts once."""
    seen: set[nn.Parameter] = set()
    for layer in model.modules():
        weight = layer.weight if isinstance(layer, PENALISED) else None
        if isinstance(weight, nn.Parameter) and weight.requires_grad and weight not in seen:
            seen.add(weight)
            yield weight


def _factors(gap: Tensor, alpha: float, trained: Tensor | None = None) -> Tensor:
    """Compute the released factors of one tensor: a power of each gap by the mean one, cut at the largest.

    The mean is that of the entries that are trained; one of zero gives zeros, as in the released code.
    """
    mean = (gap if trained is None else gap[trained]).mean().clamp(min=torch.finfo(torch.float32).eps)
    return (gap / mean).pow(alpha).clamp(max=LARGEST)


class _Renormalised(Configured[Past]):
    """A penalty of which the factors have mean 1, in the last epochs of one run."""

    def __init__(self, spec: Past) -> None:
        super().__init__(spec)
        weight, alpha, multiplies = spec.usual("weight"), spec.usual("alpha"), spec.alpha_role == "multiplier"
        self._weight = weight * alpha if multiplies else weight
        self._exponent = 1.0 if multiplies else alpha

    def begin(self, context: Context) -> None:
        super().begin(context)
        self._gammas: list[Tensor] = []
        self._first = min(round(self.spec.after * context.epochs), context.epochs - 1)
        if not self._weight:
            return
        self._groups = list(_groups(context.model, self.spec))
        self._penalised = [parameter for group in self._groups for parameter in group]
        if not self._penalised:
            raise ModelError(
                "past penalises weights of two or more axes, and the model has none that is trained: "
                "set biases_and_norms=true, or use another defense"
            )
        reference, size = required_reference(context, "past"), context.batch_size
        self._members = EndlessBatches(context.members, size, context.generator("past/members"))
        self._reference = EndlessBatches(reference, size, context.generator("past/reference"))

    def start_epoch(self, epoch: int) -> None:
        if not self._weight or epoch < self._first or (self._gammas and self.spec.refresh == "once"):
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
        with evaluating(self.context.model):
            for _ in range(self.spec.batches):
                outside, inside = (
                    functional.cross_entropy(self.context.ask(examples.x), examples.y)
                    for examples in (self._reference.deal(), self._members.deal())
                )
                with named_inplace_errors():
                    slopes = torch.autograd.grad(outside - inside, self._penalised, allow_unused=True)
                for total, slope in zip(totals, slopes, strict=True):
                    if slope is not None:
                        total.add_(slope, alpha=1 / self.spec.batches)
        return totals

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        loss = functional.cross_entropy(logits, targets)
        if not self._gammas:
            return loss
        self.acts(batch.epoch)
        if self.spec.step == "proximal":
            return loss
        return loss + self._weight * _penalty(self._penalised, self._gammas)

    def notices(self) -> list[str]:
        if not self._weight:
            return []
        after = f"{self.spec.after:.3g}"
        return self.idle(
            f"training ended with the epochs that are plain (after={after})",
            "Give a smaller after, or train longer.",
        )

    @torch.no_grad()
    def stepped(self) -> None:
        if self.spec.step == "proximal":
            step = self.context.rate() * self._weight
            for parameter, gamma in zip(self._penalised if self._gammas else (), self._gammas, strict=True):
                parameter.copy_(parameter.sign() * (parameter.abs() - step * gamma).clamp(min=0))


def _groups(model: nn.Module, spec: Past) -> Iterator[list[nn.Parameter]]:
    """Find what is penalised; a shared tensor counts once."""
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


ENTRY = ObjectiveEntry(
    Past,
    build,
    "After training, an L1 penalty that is strongest where the loss gap hangs on a weight.",
    per_record=False,
    asks_in_training=True,
    paper="Hu et al. (2024), arXiv 2410.06814",
    cost="50 epochs more, each about twice a plain one",
    needs=("reference",),
    brief=brief,
    off=(
        Past(weight=0.0),
        Past(form="renormalised", weight=0.0),
        Past(form="renormalised", alpha=0.0, alpha_role="multiplier"),
    ),
)
