"""What the disk says: what is gone, what cannot be read now or written; files of plain values, read with suspicion."""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from reticent.errors import FullStoreError, StoreError
from reticent.findings.base import Plain

GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG})
"""Errors that say that there is no such file. All others may pass: the file may be whole."""
LARGEST, DEEPEST = 16_000_000, 50
"""Bytes, and values inside values, of a file of plain values; what reticent writes has some thousand, and some five."""


def gone(error: OSError) -> bool:
    """Say whether an error means that the file is not there, and not only that it cannot be read now."""
    return error.errno in GONE


@contextmanager
def reading(path: Path) -> Iterator[BufferedReader]:
    """Open a plain file; what is none (a folder, a pipe that would never end) is not there."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FileNotFoundError(errno.ENOENT, "it is no plain file", str(path))
    with os.fdopen(handle, "rb") as stream:
        yield stream


def read_plain(path: Path) -> Plain:
    """Read a JSON object whose values are few, shallow, finite and text that can be written."""
    with reading(path) as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} bytes")
    try:
        value: Any = json.loads(content.decode("utf-8"))
        deep = _depth(value) > DEEPEST
    except RecursionError:
        deep = True
    if deep:
        raise ValueError("it is nested too deeply")
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except ValueError:
        raise ValueError("it holds a number that is not finite, or half a character") from None
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 (one kind for all that may stand in a file)
    return value


def _depth(value: Any) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, parts), default=0)


def sha256(path: Path) -> str:
    """Compute a file's SHA-256."""
    with reading(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sync_folder(folder: Path) -> None:
    """Bring a folder's list of files to the disk; some file systems have no such thing."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
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
        raise (FullStoreError if full else StoreError)(
            f"the store {root} cannot be written ({error.strerror or error}): {advice}, or give another --store; "
            "what was finished is kept"
        ) from error
