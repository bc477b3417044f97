"""Archives, read and unpacked so that nothing is ever written outside the folder that is meant."""

import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from reticent.errors import CorruptFileError, DataError

BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError)
"""What the standard library raises at an archive that is cut off or not an archive."""

RATIO = 200
"""How many times its own size an archive may unpack to: sparse texts of bits reach some tens, a bomb 1,000."""
SMALL = 1 << 26
"""Bytes that any archive may unpack to."""
HEADER = 512
"""Bytes that a member counts for beside its content."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the errors of reading a packed file into one that names it."""
    try:
        yield
    except BROKEN as error:
        raise CorruptFileError(
            f"{path}: cannot be read ({error}); if it is cut off or damaged, delete it and fetch it again"
        ) from None


def members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Go through the regular files of a tar or zip archive, in the archive's order, in one pass."""
    with reading(archive):
        if archive.suffix == ".zip":
            yield from _zip_members(archive)
        else:
            yield from _tar_members(archive)


def _zip_members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    room = _room(archive)
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            room = _take(archive, room, info.file_size)
            if info.is_dir():
                continue
            kind = stat.S_IFMT(info.external_attr >> 16)
            name = _safe(archive, info.filename, plain=kind in {0, stat.S_IFREG})
            with packed.open(info) as stream:
                yield name, stream


def _tar_members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    room = _room(archive)
    with tarfile.open(archive, "r:*") as packed:
        for info in packed:
            room = _take(archive, room, info.size)
            if info.isdir():
                continue
            name = _safe(archive, info.name, plain=info.isfile())
            stream = packed.extractfile(info)
            if stream is not None:
                with stream:
                    yield name, stream


def _room(archive: Path) -> int:
    return max(SMALL, RATIO * archive.stat().st_size)


def _take(archive: Path, room: int, size: int) -> int:
    # A member's stated size is what its reader gives at most.
    if size + HEADER > room:
        raise CorruptFileError(
            f"{archive}: refused, since it unpacks to more than {_room(archive):,} bytes, far beyond its own "
            f"{archive.stat().st_size:,}, as no official archive does: delete it and fetch it again"
        )
    return room - size - HEADER


def _safe(archive: Path, name: str, *, plain: bool) -> str:
    path = PurePosixPath(name.replace("\\", "/"))
    if not plain or path.is_absolute() or ".." in path.parts or (path.parts and ":" in path.parts[0]):
        raise CorruptFileError(
            f"{archive}: refused, since its member {name!r} is {'a path outside' if plain else 'no plain file'}; "
            "official archives hold plain files only: delete it and fetch it again"
        )
    return str(path)


def unpack(archive: Path, wanted: dict[str, Path]) -> None:
    """Unpack some files, each to a place of its own; a file appears whole or not at all."""
    left = dict(wanted)
    for name, stream in members(archive):
        if name in left:
            target = left.pop(name)
            temporary = target.with_name(target.name + ".unpacking")
            _copy(archive, stream, temporary)
            with writing(target):
                temporary.replace(target)
        if not left:
            return
    raise CorruptFileError(f"{archive}: has no member {next(iter(left))!r}; delete it and fetch it again")


def unpack_folder(archive: Path, prefix: str, target: Path) -> None:
    """Unpack all files below one folder of an archive; the target appears whole or not at all."""
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    count = 0
    try:
        for name, stream in members(archive):
            path = PurePosixPath(name)
            if prefix and not path.is_relative_to(prefix):
                continue
            place = temporary / (path.relative_to(prefix) if prefix else path)
            _copy(archive, stream, place)
            count += 1
        if not count:
            raise CorruptFileError(f"{archive}: has no files below {prefix!r}; delete it and fetch it again")
        with writing(target):
            temporary.chmod(0o755)
            temporary.replace(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _copy(archive: Path, stream: IO[bytes], place: Path) -> None:
    """Write a member's bytes; a failure to read is the archive's, a failure to write is the disk's."""
    with writing(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("wb") as file:
            while True:
                with reading(archive):
                    chunk = stream.read(1 << 20)
                if not chunk:
                    return
                file.write(chunk)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the errors of writing a file into one that says what to do."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written: {error.strerror or error}; free some space or choose another folder "
            "with --data-dir"
        ) from error
