"""Archives, unpacked so that nothing is ever written outside the folder that is meant."""

import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reticent.errors import CorruptFileError, DataError


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
        with reading(archive):
            if archive.suffix == ".zip":
                with zipfile.ZipFile(archive) as packed, writing(folder):
                    packed.extractall(temporary)  # noqa: S202 (names that lead elsewhere are cut)
            else:
                with tarfile.open(archive) as packed, writing(folder):
                    packed.extractall(temporary, filter="data")
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def member(unpacked_to: Path, archive: Path, name: str) -> Path:
    """Find what was unpacked by its name in the archive."""
    path = unpacked_to / name
    if not path.exists():
        raise damaged(archive, f"has no member {name!r}")
    return path
