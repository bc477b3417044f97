"""States of a network that are given from outside: whether they fit, and are numbers."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from reticent.errors import ModelError
from reticent.procedures.base import snapshot


def given_state(model: nn.Module, state: Mapping[str, Tensor], what: str) -> dict[str, Tensor]:
    """Bring a network to a state that was given.

    Args:
        model: the recipe's network.
        state: parameters and buffers by name.
        what: what the state is, for the message.

    Returns:
        A copy of the state, complete, on the CPU.

    Raises:
        ModelError: it is not a state of such a network, or holds NaN or infinity.
    """
    _fits(model, state, what)
    model.load_state_dict(dict(state))
    copied = snapshot(model)
    wrong = [n for n, v in copied.items() if v.is_floating_point() and not bool(torch.isfinite(v).all())]
    if wrong:
        raise ModelError(f"{what}: {wrong[0]}: expected finite numbers, got NaN or infinity")
    return copied


def _fits(model: nn.Module, state: Mapping[str, Tensor], what: str) -> None:
    """Hold the names and shapes of a state against those of a network.

    Raises:
        ModelError: they differ.
    """
    own = model.state_dict()
    shaped = [
        f"{name} is {tuple(state[name].shape)}, expected {tuple(value.shape)}"
        for name, value in own.items()
        if name in state and state[name].shape != value.shape
    ]
    missing, unknown = [name for name in own if name not in state], [name for name in state if name not in own]
    wrong = [*(f"{name} is missing" for name in missing), *(f"{name} is not known" for name in unknown), *shaped]
    if not wrong:
        return
    more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    hint = ""
    if any(name.endswith("running_mean") for name in unknown):
        hint = (
            "; statistics of BatchNorm have no place where the fine-tuning is dpsgd, which needs GroupNorm from the "
            "beginning: fine-tune without dpsgd"
        )
    raise ModelError(f"{what} is not one of the recipe's network: {', '.join(wrong[:3])}{more}{hint}")
