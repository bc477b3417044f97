"""States of networks in files: safetensors, or PyTorch files read without running any code; brought to a network."""

import re
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from reticent.errors import CorruptFileError, InputError, MissingFileError
from reticent.models.fitting import check_state

WRAPPED = ("state_dict", "model_state_dict", "model")
"""Keys under which training scripts put a state beside other things."""
PARALLEL = "module."
"""What DataParallel puts in front of every name."""


def read(path: str | Path) -> dict[str, Tensor]:
    """Read a state dictionary; nothing in the file is run.

    Args:
        path: a ``.safetensors`` file, or a ``.pt``, ``.pth`` or ``.bin`` file that ``torch.save`` wrote of a state
            dictionary, also under the key "state_dict", "model_state_dict" or "model".

    Returns:
        Tensors by name, on the CPU; read from the disk when they are used.

    Raises:
        MissingFileError: there is no such file.
        CorruptFileError: it cannot be read as a state dictionary.
        InputError: its name has another ending.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise MissingFileError(f"no file {str(file)!r}: expected the weights of a network")
    if file.suffix == ".safetensors":
        try:
            return load_file(file)
        except (SafetensorError, OSError) as error:
            raise CorruptFileError(f"{file}: not a safetensors file: {error}") from None
    if file.suffix not in {".pt", ".pth", ".bin"}:
        raise InputError(f"{file}: expected a .safetensors, .pt, .pth or .bin file")
    try:
        found: Any = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
    except (UnpicklingError, RuntimeError, OSError, EOFError, ValueError) as error:
        reason = (
            "it holds objects, or is no file of torch.save" if isinstance(error, UnpicklingError) else _plain(error)
        )
        raise CorruptFileError(
            f"{file}: cannot be read as tensors alone ({reason}): write it by torch.save(model.state_dict(), FILE), or "
            "as safetensors"
        ) from None
    if isinstance(found, Mapping):
        found = next((found[key] for key in WRAPPED if isinstance(found.get(key), Mapping)), found)
    if not isinstance(found, Mapping) or not all(isinstance(value, Tensor) for value in found.values()):
        raise CorruptFileError(f"{file}: expected a state dictionary, names to tensors, got {type(found).__name__}")
    return {str(name): value.detach() for name, value in found.items()}


def fitted(state: Mapping[str, Tensor], network: nn.Module, what: str) -> dict[str, Tensor]:
    """Bring a state to a network's names: without DataParallel's prefix, and with the second names of tied parameters.

    Args:
        state: tensors by name.
        network: what it is of.
        what: what the state is, for messages.

    Returns:
        A state with all names of the network; no tensor is copied.

    Raises:
        ModelError: names or shapes are those of another network.
    """
    wanted = network.state_dict(keep_vars=True)
    given = dict(state)
    if given and all(name.startswith(PARALLEL) for name in given) and not any(n.startswith(PARALLEL) for n in wanted):
        given = {name.removeprefix(PARALLEL): value for name, value in given.items()}
    known = {id(wanted[name]): name for name in wanted if name in given}
    for name, value in wanted.items():
        if name not in given and id(value) in known:
            given[name] = given[known[id(value)]]
    check_state(network, given, what)
    return given


def _plain(error: Exception) -> str:
    """Take the first line of a message, without what colours it on a terminal."""
    return re.sub(r"\x1b\[[0-9;]*m", "", str(error)).partition("\n")[0]
