"""Official files: found plain, gzipped, or still in their archive, and read only if their checksums are right."""

import gzip
import logging
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TypeVar, cast

from reticent import user_files
from reticent.data import archives
from reticent.data.entry import DatasetEntry, OfficialFile, check_sum
from reticent.errors import MissingFileError

log = logging.getLogger(__name__)
Parsed = TypeVar("Parsed")


def folders(data_dir: Path | str | None = None) -> list[Path]:
    """List where files are looked for: ``--data-dir``, then ``RETICENT_DATA``, then the user's cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME")
    home = Path(cache) if cache else Path.home() / ".cache"
    named = [data_dir, os.environ.get("RETICENT_DATA") or None, home / "reticent" / "data"]
    return list(dict.fromkeys(user_files.path(path) for path in named if path is not None))


def check_folder(data_dir: Path | str | None) -> None:
    """Refuse a folder that is not there, whether the data set at hand is read from it or not."""
    if data_dir is not None and not user_files.path(data_dir).is_dir():
        raise MissingFileError(
            f"data_dir: no folder {str(data_dir)!r} (looked in {Path.cwd()}): expected the one of official data files"
        )


def locate(folder: Path, file: OfficialFile) -> Path | None:
    """Find an official file below a data folder: itself, its ``.gz`` form, its folder, or the archive that holds it.

    Its place is ``folder/path``; ``folder/NAME`` is taken too.
    """
    place = folder / file.path
    if file.folder and place.is_dir():
        return place
    candidates = [] if file.folder else [place, Path(f"{place}.gz"), folder / place.name, folder / f"{place.name}.gz"]
    if file.archive:
        candidates += [folder / file.archive.name, place.parent / file.archive.name]
    return next((path for path in candidates if path.is_file()), None)


def find(entry: DatasetEntry, data_dir: Path | str | None = None) -> Path:
    """Find the data folder that holds all official files of a data set."""
    looked = folders(data_dir)
    missing = {folder: [file for file in entry.files if locate(folder, file) is None] for folder in looked}
    best = min(looked, key=lambda folder: len(missing[folder]))
    if missing[best]:
        raise MissingFileError(_missing(entry, missing[best][0], looked))
    return best


def _missing(entry: DatasetEntry, file: OfficialFile, looked: list[Path]) -> str:
    lines = [f"{entry.name}: missing {'folder' if file.folder else 'file'} {file.path}; looked for"]
    lines += [f"    {folder / file.path}" for folder in looked]
    sums = [file.checksum] if file.checksum else []
    if file.archive:
        lines.append(f"  it comes in {file.archive.name}, which may lie there packed")
        sums.append(f"{file.archive.checksum} of the archive")
    lines += [
        f"  official address: {file.source}",
        f"  checksum: {', '.join(sums)}",
        f"  to download it: reticent data fetch {entry.name}; if it lies elsewhere: --data-dir FOLDER",
    ]
    if Path(entry.name).is_dir():
        lines.append(f"  there is a folder ./{entry.name} here: give ./{entry.name} to read it")
    return "\n".join(lines)


def is_archive(path: Path, file: OfficialFile) -> bool:
    """Tell whether what was found is the archive that holds the file."""
    return file.archive is not None and path.name == file.archive.name


def read(
    folder: Path, files: Sequence[OfficialFile], parse: Callable[[IO[bytes], Path], Parsed], *, verify: bool
) -> list[Parsed]:
    """Parse official files; an archive is unpacked once, whatever the number of its members."""
    parsed: list[Parsed] = []
    unpacked: dict[Path, Path] = {}
    with ExitStack() as stack:
        for file in files:
            found = path = _located(folder, file)
            packed = is_archive(found, file)
            if verify and found not in unpacked:
                verify_file(found, file)
            if packed and found not in unpacked:
                unpacked[found] = stack.enter_context(archives.unpacked(found, Path(tempfile.gettempdir())))
            if packed:
                path, found = archives.member(unpacked[found], found, file.member), found / file.member
            with archives.reading(found), _opened(path) as stream:
                parsed.append(parse(stream, found))
    return parsed


def whole(stream: IO[bytes], _path: Path) -> bytes:
    """Read a file that fits into memory."""
    return stream.read()


def tree(folder: Path, file: OfficialFile, *, verify: bool) -> Path:
    """Find a folder of official files; if only its archive is there, unpack that beside it first."""
    path = _located(folder, file)
    if path.is_dir():
        return path
    if verify:
        verify_file(path, file)
    log.info("unpacking %s to %s", path, folder / file.path)
    unpack(path, folder, [file])
    return folder / file.path


def unpack(archive: Path, folder: Path, files: Sequence[OfficialFile]) -> None:
    """Unpack official files, or folders of them, that are not there yet; each appears whole or not at all."""
    with archives.unpacked(archive, folder) as temporary:
        for file in files:
            place = folder / file.path
            with archives.writing(place):
                place.parent.mkdir(parents=True, exist_ok=True)
                if not place.exists():
                    archives.member(temporary, archive, file.member).replace(place)


def verify_file(path: Path, file: OfficialFile) -> None:
    """Compare a file's uncompressed bytes, or its archive's own, with what is published of them."""
    checksum, size = file.checksum, file.size
    if file.archive is not None and is_archive(path, file):
        checksum, size = file.archive.checksum, None
    if not checksum:
        return
    with archives.reading(path), path.open("rb") if is_archive(path, file) else _opened(path) as stream:
        if size is not None and (got := stream.seek(0, os.SEEK_END)) != size:
            raise archives.damaged(path, f"expected {size:,} bytes, got {got:,}")
        stream.seek(0)
        check_sum(path, stream, checksum)


def _located(folder: Path, file: OfficialFile) -> Path:
    path = locate(folder, file)
    assert path is not None, f"{file.path}: find was not asked for its folder"
    return path


def _opened(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")
