"""Whether a state is one of a network."""

from collections.abc import Mapping

from torch import Tensor, nn

from reticent.errors import ModelError


def check_state(network: nn.Module, state: Mapping[str, Tensor], what: str, hint: str = "") -> None:
    """Hold the names and shapes of a state against those of a network.

    Args:
        network: what the state should be of.
        state: parameters and buffers by name.
        what: what the state is, for the message.
        hint: what to put behind the message.

    Raises:
        ModelError: they differ; the message has one example of each kind.
    """
    wanted = network.state_dict(keep_vars=True)
    missing, unknown = [n for n in wanted if n not in state], [n for n in state if n not in wanted]
    wrong = [n for n in wanted if n in state and state[n].shape != wanted[n].shape]
    parts = []
    if missing:
        parts.append(f"{len(missing)} of {len(wanted)} tensors are missing ({missing[0]}, for one)")
    if unknown:
        parts.append(f"{len(unknown)} are not expected ({unknown[0]}, for one)")
    if wrong:
        name = wrong[0]
        shapes = tuple(wanted[name].shape), tuple(state[name].shape)
        parts.append(f"{len(wrong)} have another shape ({name}: expected {shapes[0]}, got {shapes[1]})")
    if parts:
        raise ModelError(f"{what}: expected a state of this network: {', '.join(parts)}{hint}")
