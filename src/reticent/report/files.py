"""Files that are either complete or absent: written under a temporary name in the same folder, synced, renamed."""

import contextlib
import errno
import fcntl
import glob
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from reticent.errors import StoreError
from reticent.interrupts import held_back
from reticent.store.disk import sync_folder

Content = str | bytes | Iterable[str]
"""Of a file: whole, or text a piece at a time."""
DIGITS = 8
"""Of a temporary file's name."""
PROBE = 4096
"""Bytes that are written to see whether a folder takes any: an empty file fits on a full disk too."""
ADVICE = {
    errno.ENOSPC: "free some space there, or choose another folder",
    errno.EDQUOT: "your quota there is used up: free some space, or choose another folder",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder on a disk that can be written to",
    errno.ENOENT: "nothing can be made there: choose another folder",
    errno.ENOTDIR: "a file stands where a folder should be: move it away, or choose another folder",
    errno.EEXIST: "a file stands where a folder should be: move it away, or choose another folder",
    errno.EISDIR: "a folder stands where the file should be: move it away, or choose another folder",
    errno.ENAMETOOLONG: "choose a shorter name",
}


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, if they are not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(_refusal(folder, error)) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(_refusal(folder, PermissionError(errno.EACCES, "a folder that cannot be written to")))


def check_writable(folder: Path) -> None:
    """Write a small file where files will be written, and leave nothing behind, nor folders that were made for it."""
    new, probe = _new(folder), _temporary(folder / "probe")
    try:
        make_folder(folder)
        with _held(probe, folder) as stream:
            stream.write(bytes(PROBE))
            _save(stream)
    finally:
        _remove([probe])
        _remove_empty(new)


def _new(folder: Path) -> list[Path]:
    """List a folder and those above it that are not there yet, the inner ones first."""
    return [one for one in (folder, *folder.parents) if not there(one)]


def _remove_empty(folders: Iterable[Path]) -> None:
    for one in folders:
        with contextlib.suppress(OSError):  # It was not made, or another command uses it.
            one.rmdir()


def there(path: Path) -> bool:
    """Say whether something lies at a path, a link that leads nowhere too."""
    try:
        return path.is_symlink() or path.exists()
    except (OSError, ValueError):
        return False


def write_files(folder: Path, files: Mapping[str, Content], gone: Sequence[Path] = ()) -> None:
    """Write files into a folder so that they appear together, in their order, as others are removed.

    Where one cannot be written, as on a full disk, none appears, nor a folder for them, and what lay there before
    stays.
    """
    waiting, new = list[tuple[Path, Path]](), _new(folder)
    try:
        make_folder(folder)
        with contextlib.ExitStack() as held:
            for name, content in files.items():
                waiting.append((_temporary(folder / name), folder / name))
                stream = held.enter_context(_held(*waiting[-1]))
                stream.writelines(map(_encoded, [content] if isinstance(content, (str, bytes)) else content))
                _save(stream)
            with held_back():  # A page of one audit beside the numbers of another would be worse than a moment's wait.
                _appear(waiting)
                _remove(gone)
        sync_folder(folder)
    finally:
        _remove([temporary for temporary, _ in waiting])
        _remove_empty(new)  # Where files appeared, it is not empty.


def move_files(files: Sequence[Path], folder: Path) -> None:
    """Move files into a folder, in their order, over those that lie there by the same names."""
    if not files:
        return
    make_folder(folder)
    with held_back():
        for path in files:
            try:
                path.replace(folder / path.name)
            except OSError as error:
                raise StoreError(_refusal(folder / path.name, error)) from None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write a file that appears, complete, when the block ends without an error.

    Until then whatever was at the path stays; after an error nothing is left behind.
    """
    temporary = _temporary(path)
    try:
        with _held(temporary, path) as stream:
            yield stream
            _save(stream)
            _appear([(temporary, path)])
        sync_folder(path.parent)
    finally:
        _remove([temporary])


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file that appears complete or not at all; see `replacing`."""
    with replacing(path) as stream:
        stream.write(_encoded(content))


def _encoded(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")


def _temporary(path: Path) -> Path:
    """Name the file in which another is written; what killed processes left of it is removed."""
    with contextlib.suppress(OSError):
        for left in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * DIGITS}.tmp"):
            _remove_unless_held(left)
    return path.with_name(f".{path.name}.{secrets.token_hex(DIGITS // 2)}.tmp")


def _remove_unless_held(path: Path) -> None:
    """Remove a temporary file, unless a live process writes it."""
    with contextlib.suppress(OSError), path.open("rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _held(temporary: Path, path: Path) -> Iterator[BinaryIO]:
    """Open a file that will be renamed; the lock on it tells other processes until then that this one lives."""
    try:
        with temporary.open("xb") as stream:
            with contextlib.suppress(OSError):  # Some file systems have no locks.
                fcntl.flock(stream, fcntl.LOCK_SH)
            yield stream
    except OSError as error:
        raise StoreError(_refusal(path, error)) from None


def _save(stream: BinaryIO) -> None:
    """Bring what was written onto the disk."""
    stream.flush()
    os.fsync(stream.fileno())


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


def _refusal(path: Path, error: OSError) -> str:
    """Say what the operating system refused, and what to do about it."""
    advice = ADVICE.get(error.errno or 0, "choose another folder")
    return f"expected to write {path}, got {error.strerror or error}: {advice}"
