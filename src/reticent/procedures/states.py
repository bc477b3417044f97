"""States of a network that are given from outside: whether they fit, and are numbers."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from reticent.errors import ModelError
from reticent.models.state_dicts import check_state
from reticent.procedures.base import snapshot


def given_state(model: nn.Module, state: Mapping[str, Tensor], what: str) -> dict[str, Tensor]:
    """Bring a network to a state that was given."""
    check_state(model, state, what, _hint(model, state))
    model.load_state_dict(dict(state))
    copied = snapshot(model)
    wrong = [n for n, v in copied.items() if v.is_floating_point() and not bool(torch.isfinite(v).all())]
    if wrong:
        raise ModelError(f"{what}: {wrong[0]}: expected finite numbers, got NaN or infinity")
    return copied


def _hint(model: nn.Module, state: Mapping[str, Tensor]) -> str:
    own = model.state_dict()
    if not any(name.endswith("running_mean") and name not in own for name in state):
        return ""
    return (
        "; statistics of BatchNorm have no place where the fine-tuning is dpsgd, which needs GroupNorm from the "
        "beginning: fine-tune without dpsgd"
    )
