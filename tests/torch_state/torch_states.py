"""States of a process that change what torch and NumPy compute: each as a block, and all of them in one."""

from contextlib import ExitStack, contextmanager

import numpy as np
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


@contextmanager
def _set(put, value, before):
    put(value)
    try:
        yield
    finally:
        put(before)


@contextmanager
def _attribute(owner, name, value):
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextmanager
def _products():
    """Products in low precision, by the old name; the new ones, which it sets too, are put back by themselves."""
    parts = torch.backends.mkldnn.matmul, torch.backends.cuda.matmul
    before = [part.fp32_precision for part in parts]
    torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision("highest")
        for part, value in zip(parts, before, strict=True):
            part.fp32_precision = value


@contextmanager
def _generators():
    """Other states of the global random generators."""
    states = torch.random.get_rng_state(), np.random.get_state()  # noqa: NPY002
    torch.manual_seed(99)
    np.random.seed(99)  # noqa: NPY002
    try:
        yield
    finally:
        torch.random.set_rng_state(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


STATES = {
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "autocast float16": lambda: torch.autocast("cpu", dtype=torch.float16),
    "default type": lambda: _set(torch.set_default_dtype, torch.float64, torch.float32),
    "default device": lambda: _set(torch.set_default_device, "meta", None),
    "device block": lambda: torch.device("meta"),
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "products": _products,
    "products of mkldnn": lambda: _attribute(torch.backends.mkldnn.matmul, "fp32_precision", "bf16"),
    "deterministic": lambda: _set(torch.use_deterministic_algorithms, True, False),
    "not filled": lambda: _attribute(torch.utils.deterministic, "fill_uninitialized_memory", False),
    "no mkldnn": lambda: _attribute(torch.backends.mkldnn, "enabled", False),
    "no nnpack": lambda: _set(torch._C._set_nnpack_enabled, False, True),
    "no path of einsum": lambda: _attribute(torch.backends.opt_einsum, "enabled", False),
    "another path of einsum": lambda: _attribute(torch.backends.opt_einsum, "strategy", "greedy"),
    "short sums": lambda: _attribute(torch.backends.cuda.matmul, "allow_fp16_accumulation", True),
    "no cudnn": lambda: _attribute(torch.backends.cudnn, "enabled", False),
    "tf32": lambda: _attribute(torch.backends.cuda.matmul, "fp32_precision", "tf32"),
    "no flash attention": lambda: _set(torch.backends.cuda.enable_flash_sdp, False, True),
    "no fast path": lambda: _set(torch.backends.mha.set_fastpath_enabled, False, True),
    "denormals are zero": lambda: _set(torch.set_flush_denormal, True, False),
    "anomaly": lambda: _set(torch.set_anomaly_enabled, True, False),
    "threads": lambda: _set(torch.set_num_threads, 2, 1),
    "floating-point errors": lambda: np.errstate(all="raise"),
    "generators": _generators,
}


@contextmanager
def everything():
    """All of them at once."""
    with ExitStack() as held:
        for name in STATES:
            if name not in {"products of mkldnn", "tf32"}:  # torch refuses the old name of precision beside new ones.
                held.enter_context(STATES[name]())
        yield


def settings():
    """Read what a block may have left behind."""
    smallest = np.finfo(np.float64).tiny
    return {
        "type": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "gradients": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "autocast": [torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")],
        "cache": torch.is_autocast_cache_enabled(),
        "products": torch.backends.mkldnn.matmul.fp32_precision,
        "deterministic": torch.get_deterministic_debug_mode(),
        "filled": torch.utils.deterministic.fill_uninitialized_memory,
        "mkldnn": torch.backends.mkldnn.enabled,
        "nnpack": torch._C._get_nnpack_enabled(),
        "paths": [torch.backends.opt_einsum.enabled, torch.backends.opt_einsum.strategy],
        "short sums": torch.backends.cuda.matmul.allow_fp16_accumulation,
        "cudnn": torch.backends.cudnn.enabled,
        "tf32": torch.backends.cuda.matmul.fp32_precision,
        "flash": torch.backends.cuda.flash_sdp_enabled(),
        "fast path": torch.backends.mha.get_fastpath_enabled(),
        "denormals": float(smallest) / 2 == 0,
        "anomaly": torch.is_anomaly_enabled(),
        "threads": torch.get_num_threads(),
        "errors": np.geterr(),
        "generators": (torch.random.get_rng_state().tolist(), np.random.get_state()[1].tolist()),  # noqa: NPY002
    }


class Mine(TorchFunctionMode):
    """A mode of a user's own."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Beneath(TorchDispatchMode):
    """One that works beneath autograd."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@contextmanager
def _hook(register):
    handle = register(lambda *given: None)
    try:
        yield
    finally:
        handle.remove()


REFUSED = {
    "the TorchFunctionMode Mine is": Mine,
    "the TorchDispatchMode Beneath is": Beneath,
    "hooks on saved tensors (torch.autograd.graph.saved_tensors_hooks) are": lambda: (
        torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x)
    ),
    **{
        f"a hook on all modules ({name}) is": (lambda name=name: _hook(getattr(nn.modules.module, name)))
        for name in (
            "register_module_forward_pre_hook",
            "register_module_forward_hook",
            "register_module_full_backward_pre_hook",
            "register_module_full_backward_hook",
            "register_module_buffer_registration_hook",
            "register_module_module_registration_hook",
            "register_module_parameter_registration_hook",
        )
    },
}
"""What is refused: how it is named, and what brings it about."""
