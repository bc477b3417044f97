"""Which files are a user's own, and which of them a user's code read: noted while it runs, looked at again later.

Python tells of every file that it opens (`sys.addaudithook`); what a library opens in C by itself is not told.
"""

import hashlib
import importlib.util
import os
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from reticent.errors import OutdatedRunError

INSTALLED = {"site-packages", "dist-packages"}
"""Folders of installed packages, which are not a user's own code."""
STANDARD = Path(sysconfig.get_paths()["stdlib"]).resolve()
"""Folder of Python's own modules, which are none either."""
OURS = Path(__file__).resolve().parent
PRIVATE = {".cache", ".config"}
"""Folders where programs keep what is theirs."""
SYSTEM = {("proc",), ("sys",), ("dev",)}
OTHERWISE = (
    'set it back as it was, or train other models beside these: --retrain NAME (in TOML and Python retrain = "NAME")'
)
"""What can be done where a finished model is not what would be made now."""

_OPENED: ContextVar[dict[Path, bool] | None] = ContextVar("opened", default=None)
"""Paths that the code at work has opened, and whether only to read them."""
_READ: dict[str, dict[str, str]] = {}
"""Names of files that were read in this process, with their hashes: by the code that read them,
and by each module that was imported meanwhile, which happens once in a process."""


def theirs(file: Path) -> bool:
    """Tell whether a file is none of Python's, of an installed package's or of this one's."""
    return not (INSTALLED.intersection(file.parts) or file.is_relative_to(STANDARD) or file.is_relative_to(OURS))


@contextmanager
def noted(code: str = "") -> Iterator[None]:
    """Note which files of the user's are read until the block ends, and what is in them.

    What was written meanwhile is the code's own, such as a checkpoint, which ``torch.save`` opens in C.
    """
    _listen()
    opened: dict[Path, bool] = {}
    began = time.time_ns()
    token = _OPENED.set(opened)
    try:
        yield
    finally:
        _OPENED.reset(token)
        files = {_source(path): only_read for path, only_read in opened.items()}
        kept = {file: only_read for file, only_read in files.items() if theirs(file) and not _private(file)}
        inputs = (file for file, only_read in kept.items() if only_read and not _written_since(began, file))
        found = {_name(file): _hash(file) for file in inputs}
        for key in (code, *(str(file) for file in kept if file.suffix == ".py")):
            _READ.setdefault(key, {}).update(found)


def read(code: str, modules: Iterable[Path]) -> dict[str, str]:
    """Name the files of the user's that a code and its modules read in this process, with their hashes.

    A file that was looked for and missing has an empty one.
    """
    return {name: was for key in (*map(str, modules), code) for name, was in _READ.get(key, {}).items()}


def check(read: Mapping[str, str], code: str) -> None:
    """Refuse what a code made when it read other files than are there now."""
    changed = [name for name, was in read.items() if _hash(_file(name)) != was]
    if changed:
        raise OutdatedRunError(
            f"{code} read {', '.join(changed)} when it made this model, which has changed since, or is not on this "
            f"machine: {OTHERWISE}"
        )


@cache
def _listen() -> None:
    sys.addaudithook(_note)


def _note(event: str, given: tuple[Any, ...]) -> None:
    opened = _OPENED.get() if event == "open" else None
    if opened is not None and isinstance(given[0], (str, bytes, os.PathLike)):
        with suppress(OSError):  # The working folder may be gone.
            path = Path.cwd() / os.fsdecode(given[0])
            opened[path] = opened.get(path, True) and given[2] & os.O_ACCMODE == os.O_RDONLY


def _private(file: Path) -> bool:
    return bool(PRIVATE.intersection(file.parts)) or file.parts[1:2] in SYSTEM or file.is_dir()


def _written_since(began: int, file: Path) -> bool:
    return file.exists() and file.stat().st_mtime_ns >= began


def _source(path: Path) -> Path:
    """Find the file that was meant: a module's source behind its bytecode."""
    try:
        return Path(importlib.util.source_from_cache(path)) if path.suffix == ".pyc" else path
    except ValueError:
        return path


def _name(file: Path) -> str:
    """Name a file by its path below a folder where Python looks for modules, so that a project can be moved."""
    names = (file.relative_to(folder).as_posix() for folder in _folders() if file.is_relative_to(folder))
    return next((name for name in names if _file(name) == file), str(file))


def _file(name: str) -> Path:
    return next((file for folder in _folders() if (file := folder / name).exists()), Path(name))


def _folders() -> list[Path]:
    return [Path.cwd(), *(Path(folder) for folder in sys.path if folder)]


def _hash(file: Path) -> str:
    try:
        if not file.is_file():
            return ""
        about = file.stat()
        return _hashed(file.absolute(), about.st_size, about.st_mtime_ns)
    except OSError:  # The code could not read it either.
        return ""


@cache
def _hashed(file: Path, size: int, changed: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:20]
