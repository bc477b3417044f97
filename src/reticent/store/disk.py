"""What the disk says, in words: what is gone, what cannot be read now, what cannot be written."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path

from reticent.errors import StoreError

GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG})
"""Errors that say that there is no such file. All others may pass: the file may be whole."""


def gone(error: OSError) -> bool:
    """Say whether an error means that the file is not there, and not only that it cannot be read now."""
    return error.errno in GONE


@contextmanager
def reading(path: Path) -> Iterator[BufferedReader]:
    """Open a plain file; what is none (a folder, a pipe that would never end) is not there."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FileNotFoundError(errno.ENOENT, "it is no plain file", str(path))
    with os.fdopen(handle, "rb") as stream:
        yield stream


def sha256(path: Path) -> str:
    """Compute a file's SHA-256."""
    with reading(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sync_folder(folder: Path) -> None:
    """Bring a folder's list of files to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Turn errors of writing into one sentence."""
    try:
        yield
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        advice = "free some space" if full else "give a folder that can be written"
        raise StoreError(
            f"the store {root} cannot be written ({error.strerror or error}): {advice}, or give another --store; "
            "what was finished is kept"
        ) from error
