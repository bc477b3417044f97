"""Networks for DP-SGD: layers that mix records are replaced or refused by name.

Paper: Wu and He (2018), "Group normalization". Deviation: their 32 groups are a maximum, with 4 channels a group at
least, since a group of one channel of one number would be normalised to zero.
"""

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from reticent.errors import ModelError
from reticent.procedures.dpsgd import opacus_import

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
    validators = opacus_import.module("validators").ModuleValidator.VALIDATORS
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
