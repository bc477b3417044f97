"""Whether a state is one of a network, and where it is not, what is wrong with it."""

from collections.abc import Mapping

from torch import Tensor, nn


def misfit(network: nn.Module, state: Mapping[str, Tensor]) -> str:
    """Hold the names and shapes of a state against those of a network.

    Args:
        network: what the state should be of.
        state: parameters and buffers by name.

    Returns:
        What is wrong, in words, with one example of each kind; empty if the state fits.
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
    return ", ".join(parts)
