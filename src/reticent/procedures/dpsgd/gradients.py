"""Gradients of single records; those of linear layers are not written down: norms and sums follow from two factors.

Papers: Goodfellow (2015), "Efficient per-example gradient computations"; Li et al. (2022), "Large language models can
be strong differentially private learners", section 4 (ghost clipping). The gradient of a record with respect to a
weight is the outer product of what came in and what flows back, so its norm is the product of theirs. Beside Opacus'
hooks, which write every gradient down, this takes a tenth of the time in a multilayer perceptron.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from reticent.errors import ModelError
from reticent.procedures.dpsgd import opacus_import

AT_ONCE = 2**27
"""How many numbers may be written down at once to take norms: 512 MiB."""


@dataclass(frozen=True, eq=False)
class Written:
    """Gradients that are written down, ``float32 (B, ...)``."""

    each: Tensor

    def __len__(self) -> int:
        return len(self.each)

    def squares(self) -> Tensor:
        """Return the squared norms of the records' gradients."""
        norms: Tensor = torch.linalg.vector_norm(self.each.flatten(1), dim=1)
        return norms.square()

    def weighted(self, factors: Tensor) -> Tensor:
        """Return the sum of the records' gradients, each times its factor."""
        total: Tensor = torch.tensordot(factors, self.each, dims=1)
        return total

    def masked(self, trains: Tensor) -> "Written":
        """Return the gradients with zeros where the parameter is not trained; these are altered, not copied."""
        return Written(self.each.masked_fill_(~trains, 0.0))


@dataclass(frozen=True, eq=False)
class Outer:
    """Gradients that are outer products.

    Attributes:
        back: ``float32 (B, out)``, the loss' gradient with respect to the layer's output.
        given: ``float32 (B, in)``, the layer's input.
        trains: where the weight is trained, ``bool (out, in)``; None for all of it.
    """

    back: Tensor
    given: Tensor
    trains: Tensor | None = None

    def __len__(self) -> int:
        return len(self.back)

    def squares(self) -> Tensor:
        """Return the squared norms of the records' gradients."""
        if self.trains is None:
            return self.back.square().sum(dim=1) * self.given.square().sum(dim=1)
        return ((self.back.square() @ self.trains.float()) * self.given.square()).sum(dim=1)

    def weighted(self, factors: Tensor) -> Tensor:
        """Return the sum of the records' gradients, each times its factor."""
        return _only(self.trains, (factors[:, None] * self.back).T @ self.given)

    def masked(self, trains: Tensor) -> Self:
        """Return the gradients with zeros where the weight is not trained."""
        return type(self)(self.back, self.given, trains)


class Positions(Outer):
    """Gradients that are sums of outer products over the positions of a record, such as the tokens of a text.

    Norms come from the inner products of positions where these are fewer than the weight's entries, and else from
    gradients that are written down for a few records at a time.

    Attributes:
        back: ``float32 (B, T, out)``, the loss' gradient with respect to the layer's output.
        given: ``float32 (B, T, in)``, the layer's input.
        trains: where the weight is trained, ``bool (out, in)``; None for all of it.
    """

    def squares(self) -> Tensor:
        """Return the squared norms of the records' gradients."""
        positions, entries = self.back.shape[1], self.back.shape[2] * self.given.shape[2]
        few = max(1, AT_ONCE // min(entries, 2 * positions**2 if self.trains is None else entries))
        parts = zip(torch.split(self.back, few), torch.split(self.given, few), strict=True)
        if self.trains is None and 2 * positions**2 <= entries:
            inner = [((b @ b.mT) * (x @ x.mT)).sum(dim=(1, 2)).clamp(min=0) for b, x in parts]
            return torch.cat(inner)
        return torch.cat([_only(self.trains, b.mT @ x).square().sum(dim=(1, 2)) for b, x in parts])

    def weighted(self, factors: Tensor) -> Tensor:
        """Return the sum of the records' gradients, each times its factor."""
        back = (factors[:, None, None] * self.back).flatten(0, 1)
        return _only(self.trains, back.T @ self.given.flatten(0, 1))


def _only(trains: Tensor | None, values: Tensor) -> Tensor:
    return values if trains is None else values.masked_fill(~trains, 0.0)


Part = Written | Outer
"""The gradients of B records with respect to one parameter."""


class PerRecord:
    """Hooks that leave the gradients of single records: those of linear layers as two factors, others by Opacus.

    Parameters that are frozen when it is made have none.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._names = {parameter: name for name, parameter in model.named_parameters()}
        self._calls: dict[nn.Module, list[tuple[Tensor, Tensor]]] = {layer: [] for layer in _apart(model)}
        apart = {p for layer in self._calls for p in layer.parameters() if p.requires_grad}
        self.written = [p for p in model.parameters() if p.requires_grad and p not in apart]
        # Opacus unfolds what a convolution is given as if its rows lay one after the other in memory.
        convolutions = [module for module in model.modules() if isinstance(module, _ConvNd)]
        self._handles = [
            *(layer.register_forward_hook(self._note) for layer in self._calls),
            *(module.register_forward_pre_hook(_contiguous) for module in convolutions),
        ]
        self._hooked: Any = None
        if self.written:
            for parameter in apart:  # Opacus gives hooks only to layers that are trained.
                parameter.requires_grad_(False)
            try:
                self._hooked = _hooked(model)
            finally:
                for parameter in apart:
                    parameter.requires_grad_(True)

    def _note(self, layer: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> None:
        if not (layer.training and output.requires_grad):
            return
        calls, x = self._calls[layer], given[0].detach()

        def keep(back: Tensor) -> None:
            calls.append((back.detach().float(), x.float()))

        output.register_hook(keep)  # type: ignore[no-untyped-call]

    def parts(self, parameters: Sequence[nn.Parameter], count: int) -> list[Part]:
        """Take the gradients of the last pass, and forget them."""
        found: dict[object, Part] = {}
        for layer, calls in self._calls.items():
            if calls and layer.weight.requires_grad:
                found[layer.weight] = _of_weight(calls)
            if calls and isinstance(layer.bias, Tensor) and layer.bias.requires_grad:
                found[layer.bias] = Written(torch.stack([_summed(back) for back, _ in calls]).sum(dim=0))
            calls.clear()
        for parameter in self.written:
            each = parameter.grad_sample  # type: ignore[attr-defined]
            parameter.grad_sample = None  # type: ignore[attr-defined]
            if isinstance(each, list):
                raise ModelError(
                    "dpsgd: the loss asks the model twice in a step: expected once, as per-record losses do"
                )
            if each is not None:
                found[parameter] = Written(each.float())
        return [self._whole(parameter, found.get(parameter), count) for parameter in parameters]

    def _whole(self, parameter: nn.Parameter, part: Part | None, count: int) -> Part:
        """See that a part has one gradient a record."""
        if part is None and parameter.grad is None:
            return Written(torch.zeros(count, *parameter.shape, device=parameter.device))
        if part is None or len(part) != count:
            got = "none" if part is None else f"{len(part)} for {count} records"
            raise ModelError(
                f"dpsgd: {self._names[parameter]}: expected one gradient a record, got {got}: the parameter is used "
                "outside its layer, or the layer folds records into another axis"
            )
        return part

    def close(self) -> None:
        """Take the hooks off."""
        for handle in self._handles:
            handle.remove()
        if self._hooked is not None:
            self._hooked.set_grad_sample_to_none()
            self._hooked.to_standard_module()
            for parameter in self._names:
                vars(parameter).pop("grad_sample", None)
            for module in self._model.modules():
                for left in ("activations", "max_batch_len"):
                    vars(module).pop(left, None)


def _of_weight(calls: list[tuple[Tensor, Tensor]]) -> Part:
    """Leave the two factors as they are where the layer was asked once, about one vector a record."""
    if len(calls) == 1 and calls[0][0].dim() == 2:
        return Outer(*calls[0])
    backs, givens = ([_flat(t) for t in tensors] for tensors in zip(*calls, strict=True))
    return Positions(torch.cat(backs, dim=1), torch.cat(givens, dim=1))


def _flat(values: Tensor) -> Tensor:
    """Bring ``(B, ..., width)`` to ``(B, T, width)``, one position where there is no axis of them."""
    return values[:, None] if values.dim() == 2 else values.flatten(1, -2)


def _summed(back: Tensor) -> Tensor:
    """Add up what flows back over all positions of a record ``(B, ..., out)``."""
    return back if back.dim() == 2 else back.flatten(1, -2).sum(dim=1)


def _apart(model: nn.Module) -> list[nn.Linear]:
    """Find the linear layers that share no parameter, and are no part of a module with parameters of its own."""
    uses: dict[int, int] = {}
    inside: set[nn.Module] = set()
    for module in model.modules():
        own = list(module.parameters(recurse=False))
        for parameter in own:
            uses[id(parameter)] = uses.get(id(parameter), 0) + 1
        if own:
            inside.update(child for child in module.modules() if child is not module)
    return [
        module
        for module in model.modules()
        if type(module) is nn.Linear
        and module not in inside
        and all(uses[id(parameter)] == 1 for parameter in module.parameters())
    ]


def _contiguous(_: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Lay the inputs of a layer out row by row; pictures may come with their channels last, one channel too."""
    return tuple(one.contiguous() if isinstance(one, Tensor) else one for one in inputs)


def _hooked(model: nn.Module) -> Any:
    """Attach Opacus' hooks."""
    try:
        return opacus_import.module("grad_sample").GradSampleModule(model, loss_reduction="sum", strict=True)
    except (NotImplementedError, ValueError) as error:
        raise ModelError(f"dpsgd: Opacus cannot give per-record gradients of this model: {error}") from None


@contextmanager
def per_record(model: nn.Module) -> Iterator[PerRecord]:
    """Attach hooks for as long as the model is trained."""
    hooks = PerRecord(model)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Full backward hook is firing")
        try:
            yield hooks
        finally:
            hooks.close()
