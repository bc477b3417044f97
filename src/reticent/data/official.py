"""Official files: plain, gzipped, or still in their archive, read only if their checksums are right."""

import gzip
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from reticent.data import archives, sums
from reticent.data.entry import OfficialFile
from reticent.data.folder import Found, locate
from reticent.errors import CorruptFileError, MissingFileError

log = logging.getLogger(__name__)


def located(folder: Path, file: OfficialFile) -> Found:
    """Find an official file that ought to be there."""
    found = locate(folder, file)
    if found is None:
        raise MissingFileError(f"missing file {folder / file.path}; official address: {file.source}")
    return found


def read(folder: Path, files: Sequence[OfficialFile], *, verify: bool = True) -> list[bytes]:
    """Read official files into memory; an archive is gone through once, whatever the number of its members."""
    content: dict[str, bytes] = {}
    packed: dict[Path, list[OfficialFile]] = {}
    for file in files:
        found = located(folder, file)
        if found.form == "archive":
            packed.setdefault(found.path, []).append(file)
        else:
            with archives.reading(found.path), _opened(found) as stream:
                content[file.path] = stream.read()
            _check(found.path, file, content[file.path], verify=verify)
    for archive, inside in packed.items():
        _verify_archive(archive, inside[0], verify=verify)
        content |= _from_archive(archive, inside, verify=verify)
    return [content[file.path] for file in files]


def _from_archive(archive: Path, files: list[OfficialFile], *, verify: bool) -> dict[str, bytes]:
    wanted = {file.member: file for file in files}
    content = {}
    for name, stream in archives.members(archive):
        if name in wanted:
            file = wanted.pop(name)
            with archives.reading(archive):
                content[file.path] = stream.read()
            _check(archive / name, file, content[file.path], verify=verify)
        if not wanted:
            return content
    raise CorruptFileError(f"{archive}: has no member {next(iter(wanted))!r}; delete it and fetch it again")


@contextmanager
def opened(folder: Path, file: OfficialFile, *, verify: bool = True) -> Iterator[tuple[IO[bytes], Path]]:
    """Open an official file too large to be read at once."""
    found = located(folder, file)
    if found.form == "archive":
        _verify_archive(found.path, file, verify=verify)
        for name, stream in archives.members(found.path):
            if name == file.member:
                with archives.reading(found.path):
                    yield stream, found.path / name
                return
        raise CorruptFileError(f"{found.path}: has no member {file.member!r}; delete it and fetch it again")
    with archives.reading(found.path):
        if verify:
            verify_file(found, file)
        with _opened(found) as stream:
            yield stream, found.path


def tree(folder: Path, file: OfficialFile, *, verify: bool = True) -> Path:
    """Find a folder of official files; if only its archive is there, unpack that beside it first."""
    found = located(folder, file)
    if found.form == "folder":
        return found.path
    target = folder / file.path
    _verify_archive(found.path, file, verify=verify)
    log.info("unpacking %s to %s", found.path, target)
    archives.unpack_folder(found.path, file.member, target)
    return target


def verify_file(found: Found, file: OfficialFile) -> None:
    """Compare the sum of a file's uncompressed bytes with the published one, if there is one."""
    if file.checksum is not None:
        with archives.reading(found.path), _opened(found) as stream:
            got = sums.of_stream(stream, file.checksum.algorithm, file.size or found.path.stat().st_size)
        sums.compare(found.path, file.checksum, lambda _: got)


def labels(values: NDArray[np.integer], classes: int, path: Path | str) -> NDArray[np.int64]:
    """Check the labels of an official file."""
    wrong = np.flatnonzero((values < 0) | (values >= classes))
    if len(wrong):
        raise CorruptFileError(
            f"{path}: record {wrong[0]} has the label {values[wrong[0]]}, counted from 0: expected 0 to {classes - 1}"
        )
    return values.astype(np.int64)


def expect_count(got: int, expected: int, path: Path | str, *, verify: bool) -> None:
    """Check the number of records of a file without a published checksum."""
    if verify and got != expected:
        raise CorruptFileError(f"{path}: expected {expected:,} records, got {got:,}; delete it and fetch it again")


def _opened(found: Found) -> BinaryIO:
    return cast("BinaryIO", gzip.open(found.path, "rb")) if found.form == "gzip" else found.path.open("rb")


def _verify_archive(archive: Path, file: OfficialFile, *, verify: bool) -> None:
    """Compare an archive's own sum before it is opened, if one is published."""
    if verify and file.archive and file.archive.checksum:
        with archives.reading(archive):
            sums.compare(archive, file.archive.checksum, lambda algorithm: sums.of_file(archive, algorithm))


def _check(path: Path, file: OfficialFile, content: bytes, *, verify: bool) -> None:
    if verify and file.size is not None and len(content) != file.size:
        raise CorruptFileError(
            f"{path}: expected {file.size:,} bytes, got {len(content):,}; delete it and fetch it again"
        )
    if verify and file.checksum is not None:
        sums.compare(path, file.checksum, lambda algorithm: sums.of_bytes(content, algorithm))
