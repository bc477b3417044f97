"""A user's own architecture: any function or class that returns an ``nn.Module``, by import string."""

import inspect
from itertools import chain
from typing import ClassVar

from torch import nn
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from reticent import usercode
from reticent.errors import ModelError
from reticent.models.base import Architecture, Input

Offered = dict[str, tuple[int, ...] | int]
"""What a factory is passed where it asks for it, by the parameter's name."""


class Factory(Architecture):
    """Options of an architecture by import string."""

    method: ClassVar[str] = "import"

    factory: str
    """``module:name`` of a callable that returns an ``nn.Module``. If it has parameters named ``input_shape`` (of one
    record), ``classes`` or ``vocabulary``, they are passed."""
    source: str = ""
    """Hash of the source behind the factory; filled in by `resolve`, part of every run's identity."""

    def resolve(self) -> "Factory":
        """Import the factory and record the hash of its source."""
        usercode.load(self.factory)
        return self.replace(source=usercode.digest(self.factory))


def build(spec: Factory, given: Input, classes: int) -> nn.Module:
    """Call the user's factory."""
    factory = usercode.load(spec.factory)
    if spec.source and usercode.digest(spec.factory) != spec.source:
        raise ModelError(f"{spec.factory}: its source changed while it was in use; run the same command again")
    offered: Offered = {"input_shape": given.shape, "classes": classes, "vocabulary": given.vocabulary}
    with usercode.reported(spec.factory, ModelError):
        known = inspect.signature(factory).parameters
        called = inspect.signature(factory, follow_wrapped=False).parameters
    needed = [
        name
        for name, one in called.items()
        if one.default is one.empty and one.kind not in {one.VAR_POSITIONAL, one.VAR_KEYWORD} and name not in offered
    ]
    if needed:
        raise ModelError(
            f"{spec.factory}: needs an argument {needed[0]!r}, and only {', '.join(offered)} are passed, where asked "
            "for: give the others a default"
        )
    with usercode.reported(spec.factory, ModelError), usercode.noted(spec.factory):
        module = factory(**{name: value for name, value in offered.items() if name in known})
    if not isinstance(module, nn.Module):
        raise ModelError(f"{spec.factory}: expected a torch.nn.Module, got {type(module).__name__}")
    check_whole(module, spec.factory)
    return module


def check_whole(network: nn.Module, name: str) -> None:
    """Refuse a network of which a tensor has no shape or no values."""
    for tensor, value in chain(network.named_parameters(), network.named_buffers()):
        if isinstance(value, (UninitializedParameter, UninitializedBuffer)):
            raise ModelError(
                f"{name}: {tensor} has no shape yet, as in a lazy module: expected a network that is whole: call "
                "it once on zeros of input_shape before you return it"
            )
        if value.is_meta:
            raise ModelError(
                f"{name}: {tensor} is on the meta device, and has no values: expected a network that is whole: build "
                "it on the CPU (without torch.device('meta'))"
            )
