"""Archives, unpacked so that nothing is ever written outside the folder that is meant."""

import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from reticent.errors import CorruptFileError, DataError

RATIO = 200
"""How many times its own size an archive may unpack to: sparse texts of bits reach some tens, a bomb 1,000."""
SMALL = 1 << 26
"""Bytes that any archive may unpack to."""
HEADER = 512
"""Bytes that a member counts for beside its content."""


def damaged(path: Path | str, what: str) -> CorruptFileError:
    """Say what is wrong with an official file."""
    return CorruptFileError(f"{path}: {what}; delete it and fetch it again")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the errors of reading a packed file into one that names it."""
    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise damaged(path, f"cannot be read ({error}), it may be cut off or damaged") from None


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


@contextmanager
def unpacked(archive: Path, folder: Path) -> Iterator[Path]:
    """Unpack a tar or zip archive into a temporary folder inside another one."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{archive.name}-", dir=folder))
        temporary.chmod(0o755)
    try:
        opened: Any = zipfile.ZipFile if archive.suffix == ".zip" else tarfile.open
        options = {"filter": "data"} if opened is tarfile.open and hasattr(tarfile, "data_filter") else {}
        with reading(archive), opened(archive) as packed:
            _check(archive, packed)
            with writing(folder):
                packed.extractall(temporary, **options)  # noqa: S202 (checked above)
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def member(unpacked_to: Path, archive: Path, name: str) -> Path:
    """Find what was unpacked by its name in the archive."""
    path = unpacked_to / name
    if not path.exists():
        raise damaged(archive, f"has no member {name!r}")
    return path


def _check(archive: Path, packed: Any) -> None:
    """Refuse what official archives never hold, before anything is written: other places, links, endless zeros."""
    own = archive.stat().st_size
    room = most = max(SMALL, RATIO * own)
    for name, size, plain in _zip_entries(packed) if archive.suffix == ".zip" else _tar_entries(packed):
        path = PurePosixPath(name.replace("\\", "/"))
        if not plain or path.is_absolute() or ".." in path.parts or (path.parts and ":" in path.parts[0]):
            what = "a path outside" if plain else "no plain file"
            raise damaged(archive, f"refused, since its member {name!r} is {what}; official archives hold none")
        room -= size + HEADER
        if room < 0:
            raise damaged(archive, f"refused, since it unpacks to more than {most:,} bytes, far beyond its own {own:,}")


def _zip_entries(packed: zipfile.ZipFile) -> Iterator[tuple[str, int, bool]]:
    for info in packed.infolist():
        yield info.filename, info.file_size, stat.S_IFMT(info.external_attr >> 16) in {0, stat.S_IFREG, stat.S_IFDIR}


def _tar_entries(packed: tarfile.TarFile) -> Iterator[tuple[str, int, bool]]:
    for info in packed:
        yield info.name, info.size, info.isfile() or info.isdir()
