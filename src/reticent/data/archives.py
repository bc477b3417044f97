"""Archives, read and unpacked so that nothing is ever written outside the folder that is meant.

The filters of tarfile would rename or pass over what no official archive holds; here it is refused, in zip files too.
"""

import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from reticent.errors import CorruptFileError, DataError

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
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise CorruptFileError(
            f"{path}: cannot be read ({error}); if it is cut off or damaged, delete it and fetch it again"
        ) from None


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


def members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Go through the regular files of a tar or zip archive, in the archive's order, in one pass."""
    own = archive.stat().st_size
    room = most = max(SMALL, RATIO * own)
    with reading(archive):
        for name, size, kind, opened in (_zip_entries if archive.suffix == ".zip" else _tar_entries)(archive):
            room -= size + HEADER  # a member's stated size is what its reader gives at most
            if room < 0:
                raise CorruptFileError(
                    f"{archive}: refused, since it unpacks to more than {most:,} bytes, far beyond its own {own:,}, as "
                    "no official archive does: delete it and fetch it again"
                )
            if kind != stat.S_IFDIR:
                path = _safe(archive, name, plain=kind == stat.S_IFREG)
                with opened() as stream:
                    yield path, stream


Entries = Iterator[tuple[str, int, int, Callable[[], IO[bytes]]]]
"""Name, size, kind as `stat` numbers it (0 for what is neither a file nor a folder), and what opens it."""


def _zip_entries(archive: Path) -> Entries:
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            kind = stat.S_IFDIR if info.is_dir() else stat.S_IFMT(info.external_attr >> 16) or stat.S_IFREG
            yield info.filename, info.file_size, kind, partial(packed.open, info)


def _tar_entries(archive: Path) -> Entries:
    with tarfile.open(archive, "r:*") as packed:
        for info in packed:
            kind = stat.S_IFDIR if info.isdir() else stat.S_IFREG if info.isfile() else 0
            yield info.name, info.size, kind, partial(packed.extractfile, info)  # type: ignore[misc]


def _safe(archive: Path, name: str, *, plain: bool) -> str:
    path = PurePosixPath(name.replace("\\", "/"))
    if not plain or path.is_absolute() or ".." in path.parts or (path.parts and ":" in path.parts[0]):
        raise CorruptFileError(
            f"{archive}: refused, since its member {name!r} is {'a path outside' if plain else 'no plain file'}; "
            "official archives hold plain files only: delete it and fetch it again"
        )
    return str(path)


def unpack(archive: Path, wanted: Mapping[str, Path]) -> None:
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
    try:
        for name, stream in members(archive):
            path = PurePosixPath(name)
            if path.is_relative_to(prefix):
                _copy(archive, stream, temporary / path.relative_to(prefix))
        if not any(temporary.iterdir()):
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
