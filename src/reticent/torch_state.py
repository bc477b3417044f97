"""The one state of torch and NumPy in which models are made and asked, whatever the state of the caller's process is.

The numbers of a model depend on flags of the process: a default type, autocast, the precision of products, the number
of threads. A run is found again by a process of other flags, so they are part of the contract: `_flags` lists them.
What is none of these and cannot be set aside, such as a hook on all modules, is refused by name.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reticent.errors import ModelError

if TYPE_CHECKING:
    from torch import nn

HOOKS = {
    "forward_pre": "register_module_forward_pre_hook",
    "forward": "register_module_forward_hook",
    "backward_pre": "register_module_full_backward_pre_hook",
    "backward": "register_module_full_backward_hook",
    "buffer_registration": "register_module_buffer_registration_hook",
    "module_registration": "register_module_module_registration_hook",
    "parameter_registration": "register_module_parameter_registration_hook",
}
"""Hooks on all modules of a process, and what registers them."""


class Flag(NamedTuple):
    """One setting of the process, and what it is while models are made and asked."""

    get: Callable[[], Any]
    put: Callable[[Any], object]
    value: Any


@contextmanager
def fixed() -> Iterator[None]:
    """Compute in the one state until the block ends; then the state is as before, whatever the code within did to it.

    The state is that of a fresh process: float32 on the CPU by default, no autocast, gradients on, products in full
    precision, no deterministic algorithms; and one thread, since sums in another order have other last bits. Random
    generators are no part of it: see `Streams.lent`.
    """
    import torch

    _refuse()
    usual = np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")
    with usual, _devices(), torch.inference_mode(mode=False), torch.enable_grad(), _out_of_autocast():
        flags = _flags()
        before = [flag.get() for flag in flags]
        _put(flags, [flag.value for flag in flags])
        try:
            yield
            _refuse()
        finally:
            _put(flags, before)


@contextmanager
def evaluating(model: "nn.Module") -> Iterator[None]:
    """Put a network into eval mode, and every part of it back as it was: no statistics move, no dropout draws."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode


def _put(flags: tuple[Flag, ...], values: list[Any]) -> None:
    """Set what differs; in the order of the flags, since the later ones of a precision follow the first."""
    for flag, value in zip(flags, values, strict=True):
        if flag.get() != value:
            flag.put(value)


@contextmanager
def _devices() -> Iterator[None]:
    """Set a default device aside, by whichever of torch's two ways it was chosen; other modes were refused before."""
    import torch
    from torch.utils import _device

    chosen: Any = torch._GLOBAL_DEVICE_CONTEXT
    before = _popped(), getattr(chosen, "device_context", None), _device.CURRENT_DEVICE
    chosen.device_context = _device.CURRENT_DEVICE = None
    try:
        yield
    finally:
        _popped()
        modes, chosen.device_context, _device.CURRENT_DEVICE = before
        for mode in reversed(modes):
            torch.overrides._push_mode(mode)  # type: ignore[no-untyped-call]


def _popped() -> list[Any]:
    """Take all function modes off their stack, the innermost first."""
    import torch

    pop: Callable[[], Any] = torch.overrides._pop_mode
    return [pop() for _ in range(torch._C._len_torch_function_stack())]


@contextmanager
def _out_of_autocast() -> Iterator[None]:
    """Leave all blocks of autocast: within one, its cache would keep weights from before a step of the optimizer."""
    depth = _nested(0)
    try:
        yield
    finally:
        _nested(depth)


def _nested(depth: int) -> int:
    """Be so many blocks of autocast deep, with nothing kept from before, and return how many it was."""
    import torch

    torch.clear_autocast_cache()
    now: int = torch.autocast_increment_nesting()
    before = now - 1
    while now != depth:
        move = torch.autocast_decrement_nesting if now > depth else torch.autocast_increment_nesting
        now = move()
    return before


@cache
def _flags() -> tuple[Flag, ...]:
    """List the settings that numbers depend on, as torch has them when a process begins, but for the threads."""
    import torch
    from torch.backends import cuda, cudnn, mha, mkldnn, opt_einsum
    from torch.utils import deterministic

    paths = opt_einsum.is_available()

    flags = [
        Flag(torch.get_num_threads, torch.set_num_threads, 1),
        Flag(torch.get_default_dtype, torch.set_default_dtype, torch.float32),
        Flag(_flushes, torch.set_flush_denormal, value=False),
        Flag(torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode, 0),
        Flag(_anomaly, lambda value: torch.set_anomaly_enabled(*value), (False, True)),
        Flag(torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled, value=True),
        Flag(mha.get_fastpath_enabled, mha.set_fastpath_enabled, value=True),
        _attribute(deterministic, "fill_uninitialized_memory", True),
        _attribute(mkldnn, "enabled", True),
        _attribute(mkldnn, "deterministic", False),
        Flag(torch._C._get_nnpack_enabled, torch._C._set_nnpack_enabled, value=True),
        _attribute(opt_einsum, "enabled", paths),
        _attribute(opt_einsum, "strategy", "auto" if paths else None),
        _attribute(cudnn, "enabled", True),
        _attribute(cudnn, "deterministic", False),
        _attribute(cudnn, "benchmark", False),
        _attribute(cuda.matmul, "allow_fp16_reduced_precision_reduction", True),
        _attribute(cuda.matmul, "allow_bf16_reduced_precision_reduction", True),
    ]
    if hasattr(cuda.matmul, "allow_fp16_accumulation"):  # torch from 2.7
        flags.append(_attribute(cuda.matmul, "allow_fp16_accumulation", False))
    for device, kind in (("cpu", torch.bfloat16), ("cuda", torch.float16)):
        flags += [
            Flag(partial(torch.is_autocast_enabled, device), partial(torch.set_autocast_enabled, device), value=False),
            Flag(partial(torch.get_autocast_dtype, device), partial(torch.set_autocast_dtype, device), kind),
        ]
    for name in ("flash", "mem_efficient", "math", "cudnn"):
        flags.append(Flag(getattr(cuda, f"{name}_sdp_enabled"), getattr(cuda, f"enable_{name}_sdp"), value=True))
    return tuple(flags + _precisions())


def _precisions() -> list[Flag]:
    """List the precisions of float32 products: the old names first, since to set one of them sets the new ones too."""
    import torch
    from torch.backends import cuda, cudnn

    get = getattr(torch._C, "_get_fp32_precision_getter", None)
    if get is None:  # torch before 2.9
        products = Flag(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest")
        return [products, _attribute(cuda.matmul, "allow_tf32", False), _attribute(cudnn, "allow_tf32", True)]
    flags = [Flag(_old_precision, _set_old_precision, "highest")]
    put = torch._C._set_fp32_precision_setter
    for backend, part, value in (
        ("generic", "all", "none"),
        *(("cuda", part, "none") for part in ("all", "matmul")),
        *(("cuda", part, "tf32") for part in ("conv", "rnn")),
        *(("mkldnn", part, "none") for part in ("all", "matmul", "conv", "rnn")),
    ):
        flags.append(Flag(partial(get, backend, part), partial(put, backend, part), value))
    return flags


def _old_precision() -> str | None:
    """Read the precision by its old name; torch has none where the caller set the new ones to something else."""
    import torch

    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:
        return None


def _set_old_precision(value: str | None) -> None:
    import torch

    if value is not None:
        torch.set_float32_matmul_precision(value)


def _attribute(owner: Any, name: str, value: Any) -> Flag:
    return Flag(partial(getattr, owner, name), partial(setattr, owner, name), value)


def _flushes() -> bool:
    """Tell whether this process takes the smallest floats for zero, which torch can set and does not tell."""
    smallest = sys.float_info.min
    return smallest / 2 == 0.0


def _anomaly() -> tuple[bool, bool]:
    import torch

    return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()


def _refuse() -> None:
    """Refuse what may change any number and cannot be set aside."""
    found = list(_in_force())
    if found:
        raise ModelError(
            f"torch: {' and '.join(found)} in force, which may change what any model computes: expected none while "
            "models are made and asked: leave its block, or remove its handle, first"
        )


def _in_force() -> Iterator[str]:
    """Name the modes and hooks."""
    import torch
    from torch.nn.modules import module
    from torch.utils import _python_dispatch
    from torch.utils._device import DeviceContext

    functions: Callable[[], list[Any]] = torch.overrides._get_current_function_mode_stack
    for mode in functions():
        if not isinstance(mode, DeviceContext):
            yield f"the TorchFunctionMode {type(mode).__name__} is"
    for mode in _python_dispatch._get_current_dispatch_mode_stack():
        yield f"the TorchDispatchMode {type(mode).__name__} is"
    for kind, registers in HOOKS.items():
        if getattr(module, f"_global_{kind}_hooks"):
            yield f"a hook on all modules ({registers}) is"
    if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
        yield "hooks on saved tensors (torch.autograd.graph.saved_tensors_hooks) are"
