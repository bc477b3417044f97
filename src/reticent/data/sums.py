"""Checksums of files, computed in one pass and compared with the published ones."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from reticent.data.entry import Algorithm, Checksum
from reticent.errors import ChecksumError

CHUNK = 1 << 20


def begin(algorithm: Algorithm, size: int) -> Any:
    """Start a sum."""
    if algorithm == "git-blob-sha1":
        return hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    return hashlib.new(algorithm, usedforsecurity=False)


def of_bytes(data: bytes, algorithm: Algorithm) -> str:
    """Sum bytes in memory."""
    content = begin(algorithm, len(data))
    content.update(data)
    return str(content.hexdigest())


def of_stream(stream: BinaryIO, algorithm: Algorithm, size: int) -> str:
    """Sum what a stream gives."""
    content = begin(algorithm, size)
    while chunk := stream.read(CHUNK):
        content.update(chunk)
    return str(content.hexdigest())


def of_file(path: Path, algorithm: Algorithm) -> str:
    """Sum a file's bytes as they lie on the disk."""
    with path.open("rb") as stream:
        return of_stream(stream, algorithm, path.stat().st_size)


def compare(path: Path, expected: Checksum, compute: Callable[[Algorithm], str]) -> None:
    """Compare a sum with the published one."""
    got = compute(expected.algorithm)
    if got != expected.value:
        raise ChecksumError(
            f"{path}: not the official file: expected {expected}, got {got}; delete it and fetch it again "
            "(or give your own version of the data as a file: --dataset FILE.npz)"
        )
