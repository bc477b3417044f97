"""Files that are either complete or absent: written under a temporary name in the same folder, synced, renamed."""

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from reticent.errors import StoreError, UnwrittenError
from reticent.findings.base import Document
from reticent.interrupts import held_back

ADVICE = {
    errno.ENOSPC: "free some space there, or choose another folder",
    errno.EDQUOT: "your quota there is used up: free some space, or choose another folder",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder on a disk that can be written to",
    errno.ENOTDIR: "a file stands where a folder should be: move it away, or choose another folder",
    errno.EEXIST: "a file stands where a folder should be: move it away, or choose another folder",
    errno.EISDIR: "a folder stands where the file should be: move it away, or choose another folder",
    errno.ENAMETOOLONG: "choose a shorter name",
}


_WAITING: ContextVar[tuple[Path, list[tuple[Path, Path]]] | None] = ContextVar("waiting", default=None)
"""The folder whose files appear together, and the files that wait to be renamed, inside `together`."""


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, if they are not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(_refusal(folder, error)) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(_refusal(folder, PermissionError(errno.EACCES, "a folder that cannot be written to")))


def there(path: Path) -> bool:
    """Say whether something lies at a path, a link that leads nowhere too."""
    try:
        return path.is_symlink() or path.exists()
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def together(folder: Path, document: Document, gone: Sequence[Path] = ()) -> Iterator[None]:
    """Let the files that are written into a folder inside the block appear when it ends, in the order of their writing.

    Where one cannot be written, as on a full disk, none appears, and what lay there before stays.
    """
    waiting: list[tuple[Path, Path]] = []
    held = _WAITING.set((folder, waiting))
    try:
        make_folder(folder)
        yield
        with held_back():  # A page of one audit beside the numbers of another would be worse than a moment's wait.
            _appear(waiting)
            _remove(gone)
        _sync(folder)
    except StoreError as error:
        raise UnwrittenError(str(error), document) from None
    finally:
        _WAITING.reset(held)
        _remove([temporary for temporary, _ in waiting])


def _remove(paths: Sequence[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _appear(waiting: Sequence[tuple[Path, Path]]) -> None:
    for _, path in waiting:
        if path.is_dir():
            raise StoreError(_refusal(path, OSError(errno.EISDIR, os.strerror(errno.EISDIR))))
    for temporary, path in waiting:
        try:
            temporary.replace(path)
        except OSError as error:
            raise StoreError(_refusal(path, error)) from None


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a binary file that appears complete or not at all; see `replacing`."""
    with replacing_bytes(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def replacing_bytes(path: Path) -> Iterator[BinaryIO]:
    """Write a binary file; see `replacing`."""
    with _replacing(path, "xb", {}) as stream:
        yield stream


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Write a text file that appears, complete, when the block ends without an error.

    Until then whatever was at the path stays; after an error nothing is left behind.
    """
    with _replacing(path, "x", {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}) as stream:
        yield stream


@contextlib.contextmanager
def _replacing(path: Path, mode: str, options: Mapping[str, str]) -> Iterator[Any]:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    folder, waiting = _WAITING.get() or (None, [])
    later = folder == path.parent
    kept = False
    try:
        with temporary.open(mode, **options) as stream:  # type: ignore[call-overload]
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if later:
            waiting.append((temporary, path))
            kept = True
        else:
            temporary.replace(path)
            _sync(path.parent)
    except OSError as error:
        raise StoreError(_refusal(path, error)) from None
    finally:
        if not kept:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Make a rename in a folder last; some file systems have no such thing."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _refusal(path: Path, error: OSError) -> str:
    """Say what the operating system refused, and what to do about it."""
    advice = ADVICE.get(error.errno or 0, "choose another folder")
    return f"expected to write {path}, got {error.strerror or error}: {advice}"
