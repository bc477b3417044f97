"""States of networks in files: safetensors, or PyTorch files read without running any code."""

import re
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from reticent import user_files
from reticent.errors import CorruptFileError
from reticent.sparsify.compact import unpacked

ZIP, PICKLE = b"PK\x03\x04", b"\x80"
"""First bytes of what ``torch.save`` writes now, and wrote before PyTorch 1.6."""
REMEDY = "write the tensors alone, by torch.save(model.state_dict(), FILE) or as safetensors"
DAMAGED = "it is cut off or damaged: copy or download it again"


def read(path: str | Path) -> dict[str, Any]:
    """Read what holds a state; nothing in the file is run, and its content says how it is read, not its name."""
    file = user_files.path(path)
    expected = "the file of a network's weights"
    with user_files.reading(file, expected):
        user_files.check(file, expected)
        with file.open("rb") as stream:
            head = stream.read(9)
        found: Any = _safetensors(file) if head[8:] == b"{" else _torch(file, head)
    if not isinstance(found, Mapping):
        raise CorruptFileError(
            f"{file}: expected a state dictionary, names to tensors, got {type(found).__name__}: {REMEDY}"
        )
    return {str(name): value for name, value in found.items()}


def load_weights(path: str | Path) -> dict[str, torch.Tensor]:
    """Read a network's state: a file of safetensors or of ``torch.save``, or a compact file of `reticent.harden`.

    Args:
        path: the file; nothing in it is run, and its content says how it is read, not its name.

    Returns:
        Tensors by name, for ``load_state_dict``; of a compact file all of them, what was pruned being 0.

    Raises:
        MissingFileError: there is no such file.
        CorruptFileError: it cannot be read as a state.

    Example:
        >>> import reticent
        >>> net.load_state_dict(reticent.load_weights("repaired/compact.safetensors"))  # doctest: +SKIP
    """
    return read(path)


def _safetensors(file: Path) -> Any:
    try:
        return unpacked(load_file(file))
    except SafetensorError as error:
        raise CorruptFileError(f"{file}: not a safetensors file ({_plain(error)}): {DAMAGED}") from None
    except ValueError as error:
        raise CorruptFileError(f"{file}: not a compact file of a pruned model ({error}): {DAMAGED}") from None


def _torch(file: Path, head: bytes) -> Any:
    zipped = head.startswith(ZIP)
    if not zipped and not head.startswith(PICKLE):
        raise CorruptFileError(f"{file}: is neither a file of torch.save nor of safetensors: {REMEDY}")
    try:
        if zipped:
            _check_members(file)
        with file.open("rb") as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on old forms; what is read of them is right
            # PyTorch goes by the end of a path, too.
            mapped = zipped and file.suffix.lower() != ".safetensors"
            return torch.load(str(file) if mapped else stream, map_location="cpu", weights_only=True, mmap=mapped)
    except UnpicklingError as error:
        raise CorruptFileError(f"{file}: {_objects(error)}: {REMEDY}") from None
    except CorruptFileError:
        raise
    except Exception as error:  # a damaged file may raise anything
        if isinstance(error, OSError) and error.errno:
            raise
        raise CorruptFileError(f"{file}: {DAMAGED}") from None


def _check_members(file: Path) -> None:
    """Look at the names inside a zip file."""
    with zipfile.ZipFile(file) as archive:
        names = {PurePosixPath(name).name for name in archive.namelist()}
    if "constants.pkl" in names:
        raise CorruptFileError(f"{file}: is a TorchScript file, which holds code: {REMEDY}")
    if "data.pkl" not in names:
        raise CorruptFileError(f"{file}: is a zip file that torch.save did not write: {REMEDY}")


def _objects(error: UnpicklingError) -> str:
    """Name what a file holds beside tensors."""
    named = re.search(r"GLOBAL ([\w.]+)", str(error))
    if named is None:
        return "holds more than tensors, or was not written by torch.save"
    what = "NumPy values" if named[1].startswith("numpy.") else "Python objects"
    return f"holds {what} ({named[1]}), which are never loaded"


def _plain(error: Exception) -> str:
    """Take the first line of a message, without what colours it on a terminal."""
    return re.sub(r"\x1b\[[0-9;]*m", "", str(error)).partition("\n")[0]
