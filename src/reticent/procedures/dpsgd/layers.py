"""Networks for DP-SGD: layers that mix records are replaced or refused by name, and per-record gradients are attached.

Paper: Wu and He (2018), "Group normalization". Deviation: their 32 groups are a maximum, with 4 channels a group at
least, since a group of one channel of one number would be normalised to zero.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd

from reticent.errors import ModelError
from reticent.procedures.dpsgd import extra, ghost
from reticent.procedures.dpsgd.ghost import Part, Written

GROUPS, CHANNELS = 32, 4
"""Most groups, and fewest channels a group, of a GroupNorm that replaces a BatchNorm."""


def groups(channels: int) -> int:
    """Choose the number of groups for so many channels."""
    fitting = [count for count in range(1, GROUPS + 1) if channels % count == 0 and channels // count >= CHANNELS]
    return max(fitting, default=1)


def without_batchnorm(model: nn.Module) -> tuple[nn.Module, list[str]]:
    """Replace every BatchNorm by a GroupNorm with its weights, in place; no random number is drawn."""
    if isinstance(model, _BatchNorm):
        return _group_norm(model), [type(model).__name__]
    replaced = []
    for path, parent in list(model.named_modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, _BatchNorm):
                setattr(parent, name, _group_norm(child))
                replaced.append(f"{path}.{name}" if path else name)
    return model, replaced


def _group_norm(old: _BatchNorm) -> nn.GroupNorm:
    count = old.num_features
    new = nn.GroupNorm(groups(count), count, eps=old.eps, affine=old.affine)
    for name, parameter in old.named_parameters(recurse=False):
        setattr(new, name, nn.Parameter(parameter.detach().clone(), requires_grad=parameter.requires_grad))
    return new.train(old.training)


def out_of_place(model: nn.Module) -> None:
    """Let activations write into memory of their own, which hooks on the backward pass need; values stay the same."""
    for module in model.modules():
        if getattr(module, "inplace", False) is True:
            module.inplace = False  # type: ignore[assignment]


def check(model: nn.Module) -> None:
    """Refuse layers without per-record gradients, and statistics that no noise protects."""
    validators = extra.module("validators").ModuleValidator.VALIDATORS
    refused = [
        f"{name or 'the model'} ({type(module).__name__})"
        for name, module in model.named_modules()
        if (type(module) in validators and validators[type(module)](module)) or _statistics(module)
    ]
    if refused:
        raise ModelError(
            f"dpsgd: {', '.join(refused)}: Opacus has no per-record gradients of such layers, or they keep statistics "
            "of the members that no noise protects: use opacus.layers.DPLSTM, DPGRU or DPMultiheadAttention, or "
            "GroupNorm or LayerNorm, which are computed record by record"
        )
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise ModelError("dpsgd: the model has no parameter to train: expected at least one with requires_grad")


def _statistics(module: nn.Module) -> bool:
    """Tell whether a layer has buffers beside parameters of its own that are trained, as normalisations have."""
    trained = any(parameter.requires_grad for parameter in module.parameters(recurse=False))
    return trained and next(module.buffers(), None) is not None


class PerRecord:
    """Hooks that leave the gradients of single records: those of linear layers as two factors, others by Opacus.

    Parameters that are frozen when it is made have none.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._names = {parameter: name for name, parameter in model.named_parameters()}
        self._linears = ghost.Linears(model)
        apart = self._linears.parameters()
        self.written = [p for p in model.parameters() if p.requires_grad and p not in set(apart)]
        self._hooked: Any = None
        # Opacus unfolds what a convolution is given as if its rows lay one after the other in memory.
        convolutions = [module for module in model.modules() if isinstance(module, _ConvNd)]
        self._laid_out = [module.register_forward_pre_hook(_contiguous) for module in convolutions]
        if self.written:
            for parameter in apart:  # Opacus gives hooks only to layers that are trained.
                parameter.requires_grad_(False)
            try:
                self._hooked = _hooked(model)
            finally:
                for parameter in apart:
                    parameter.requires_grad_(True)

    def parts(self, parameters: Sequence[nn.Parameter], count: int) -> list[Part]:
        """Take the gradients of the last pass, and forget them."""
        found = self._linears.parts()
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
        self._linears.close()
        for hook in self._laid_out:
            hook.remove()
        if self._hooked is not None:
            self._hooked.set_grad_sample_to_none()
            self._hooked.to_standard_module()
            for parameter in self._names:
                vars(parameter).pop("grad_sample", None)
            for module in self._model.modules():
                for left in ("activations", "max_batch_len"):
                    vars(module).pop(left, None)


def _contiguous(_: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Lay the inputs of a layer out row by row; pictures may come with their channels last, one channel too."""
    return tuple(one.contiguous() if isinstance(one, Tensor) else one for one in inputs)


def _hooked(model: nn.Module) -> Any:
    """Attach Opacus' hooks."""
    try:
        return extra.module("grad_sample").GradSampleModule(model, loss_reduction="sum", strict=True)
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
