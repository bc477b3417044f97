"""Which operation a network ends with: autograd's record of one batch tells it, whatever the network's code does."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from reticent.torch_state import evaluating

SQUASHING = {"Sigmoid": "sigmoid", "Softmax": "softmax", "Hardsigmoid": "hardsigmoid"}
"""Operations after which answers are no logits any more; a logarithm of a softmax is not among them."""
LAYERS = (nn.Sigmoid, nn.Softmax, nn.Softmax2d, nn.Hardsigmoid)
PASSING = frozenset({
    "View", "Reshape", "ReshapeAlias", "UnsafeView", "Alias", "Squeeze", "Unsqueeze", "Select", "Slice", "Expand", "T",
    "Transpose", "Permute", "Clone", "ToCopy", "Cat", "Stack", "Mul", "Div", "Sub", "Rsub", "Neg", "Round", "Clamp",
    "ClampMin", "ClampMax", "Unbind", "Split", "CopySlices",
})  # fmt: skip
"""Operations that may follow and change nothing of that: shapes, types, a scale such as percent, one minus another."""
AFFINE = frozenset({
    "Addmm", "Mm", "Mv", "Bmm", "Baddbmm", "Addbmm", "Linear", "Convolution", "Mean", "Sum", "AvgPool2D",
})  # fmt: skip
"""Operations that an ordinary last layer consists of."""
UNKNOWN, LOGITS = "unknown", "logits"


def ending(model: nn.Module, x: Tensor) -> tuple[str, Tensor | None]:
    """Find what a network's answers come out of."""
    with _noted(model) as called, torch.enable_grad(), torch.random.fork_rng([x.device] if x.is_cuda else []):
        try:
            answer = model(_followed(x, model))
        except Exception:  # noqa: BLE001 (a network that cannot be differentiated tells nothing)
            return UNKNOWN, None
    if not isinstance(answer, Tensor):
        return UNKNOWN, None
    return _found(answer.grad_fn, called), answer.detach()


def _found(node: Any, called: list[tuple[str, nn.Module, Any]]) -> str:
    if node is None:
        return UNKNOWN
    ends = {_operation(end): end for end in _ends(node)}
    found = next((name for name in sorted(ends) if name in SQUASHING), None)
    if found is None:
        return LOGITS if ends.keys() <= AFFINE else UNKNOWN
    layers = [
        f"its {f'layer {name!r}' if name else 'only layer'} ({type(module).__name__})"
        for name, module, made in called
        if isinstance(module, LAYERS) and made is ends[found]
    ]
    return layers[0] if layers else f"the {SQUASHING[found]} at the end of its forward"


def remedy(found: str) -> str:
    """Say what to do about a network that answers no logits."""
    what = "the sigmoid or softmax at its end" if found in {LOGITS, UNKNOWN} else found
    return f"leave {what} out, and train with a loss that takes logits (cross_entropy, BCEWithLogitsLoss)"


def _followed(x: Tensor, model: nn.Module) -> Tensor:
    """Copy model input, as wide as the model is, so that autograd follows it and the model may change it."""
    if not x.is_floating_point():
        return x.clone()
    wide = next((p.dtype for p in model.parameters() if p.dtype == torch.float64), x.dtype)
    return x.detach().to(wide).requires_grad_().clone()


@contextmanager
def _noted(model: nn.Module) -> Iterator[list[tuple[str, nn.Module, Any]]]:
    """Ask a network in eval mode."""
    called: list[tuple[str, nn.Module, Any]] = []

    def note(name: str) -> Any:
        return lambda module, _, answer: called.append((name, module, getattr(answer, "grad_fn", None)))

    leaves = [(name, module) for name, module in model.named_modules() if next(module.children(), None) is None]
    hooks = [module.register_forward_hook(note(name)) for name, module in leaves]
    try:
        with evaluating(model):
            yield called
    finally:
        for hook in hooks:
            hook.remove()


def _ends(node: Any) -> list[Any]:
    """Walk back through what only passes answers on."""
    waiting, ends, seen = [node], list[Any](), set[Any]()
    while waiting:
        one = waiting.pop()
        if one is None or one in seen:
            continue
        seen.add(one)
        before = [source for source, _ in one.next_functions if source is not None]
        if _operation(one) in PASSING and before:
            waiting += before
        else:
            ends.append(one)
    return ends


def _operation(node: Any) -> str:
    """Return autograd's name of an operation without its ending, such as "Sigmoid"."""
    return str(node.name()).partition("Backward")[0]
