"""Where official files are looked for: ``--data-dir``, then ``RETICENT_DATA``, then the user's cache folder."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reticent import opening
from reticent.data.entry import DatasetEntry, OfficialFile
from reticent.errors import MissingFileError


@dataclass(frozen=True)
class Found:
    """Where an official file was found.

    Attributes:
        path: the file, its ``.gz`` form, its folder, or the archive that holds it.
        form: which of them it is.
    """

    path: Path
    form: Literal["plain", "gzip", "folder", "archive"]


def folders(data_dir: Path | str | None = None) -> list[Path]:
    """List the folders in which official files are looked for, the first choice first."""
    named = [Path(data_dir)] if data_dir is not None else []
    variable = os.environ.get("RETICENT_DATA")
    if variable:
        named.append(Path(variable))
    cache = os.environ.get("XDG_CACHE_HOME")
    home = Path(cache) if cache else Path.home() / ".cache"
    return list(dict.fromkeys(opening.path(path) for path in [*named, home / "reticent" / "data"]))


def check(data_dir: Path | str | None) -> None:
    """Refuse a folder that is not there, whether the data set at hand is read from it or not."""
    if data_dir is not None and not opening.path(data_dir).is_dir():
        raise MissingFileError(
            f"data_dir: no folder {str(data_dir)!r} (looked in {Path.cwd()}): expected the one of official data files"
        )


def locate(folder: Path, file: OfficialFile) -> Found | None:
    """Find one official file below a data folder.

    Its place is ``folder/path``; ``folder/NAME`` is taken too, ``.gz`` forms of both, and the archive in either place.
    """
    place = folder / file.path
    if file.folder:
        if place.is_dir():
            return Found(place, "folder")
    else:
        for candidate in (place, folder / place.name):
            if candidate.is_file():
                return Found(candidate, "plain")
            zipped = candidate.with_name(candidate.name + ".gz")
            if zipped.is_file():
                return Found(zipped, "gzip")
    if file.archive:
        for home in (folder, place.parent):
            if (home / file.archive.name).is_file():
                return Found(home / file.archive.name, "archive")
    return None


def find(entry: DatasetEntry, data_dir: Path | str | None = None) -> Path:
    """Find the data folder that holds all official files of a data set."""
    looked = folders(data_dir)
    missing = {folder: [file for file in entry.files if locate(folder, file) is None] for folder in looked}
    best = min(looked, key=lambda folder: len(missing[folder]))
    if missing[best]:
        raise MissingFileError(describe_missing(entry, missing[best][0], looked))
    return best


def describe_missing(entry: DatasetEntry, file: OfficialFile, looked: list[Path]) -> str:
    """Say that an official file is missing, and how to come by it."""
    places = "\n".join(f"    {folder / file.path}" for folder in looked)
    lines = [f"{entry.name}: missing {'folder' if file.folder else 'file'} {file.path}; looked for", places]
    sums = [str(file.checksum)] if file.checksum else []
    if file.archive:
        lines.append(f"  it comes in {file.archive.name}, which may lie there packed")
        sums += [f"{file.archive.checksum} of the archive"] if file.archive.checksum else []
    lines.append(f"  official address: {file.source}")
    lines.append(f"  checksum: {', '.join(sums) if sums else 'none is published'}")
    lines.append(f"  to download it: reticent data fetch {entry.name}; if it lies elsewhere: --data-dir FOLDER")
    if Path(entry.name).is_dir():
        lines.append(f"  there is a folder ./{entry.name} here: give ./{entry.name} to read it")
    return "\n".join(lines)
