"""What there is to know of a data set: facts, official files, and the function that reads them."""

import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from reticent.data.archives import damaged
from reticent.data.records import Facts, Kind, Records
from reticent.errors import ChecksumError

log = logging.getLogger(__name__)

Arrays = tuple[NDArray[Any], NDArray[np.integer], Facts]
"""Features, labels, and what else `Records.make` is told."""


def check_sum(path: Path, stream: IO[bytes], expected: str) -> None:
    r"""Compare the sum of what a stream gives with a published one, such as ``md5 6bbc9a...``.

    ``git-blob-sha1`` is SHA-1 of ``blob LENGTH\0`` and the bytes.
    """
    algorithm, value = expected.split()
    blob = algorithm == "git-blob-sha1"
    start = f"blob {path.stat().st_size}\0".encode() if blob else b""
    content = hashlib.new("sha1" if blob else algorithm, start, usedforsecurity=False)
    got = hashlib.file_digest(stream, lambda: content).hexdigest()  # type: ignore[arg-type]
    if got != value:
        raise ChecksumError(
            f"{path}: not the official file: expected {expected}, got {got}; delete it and fetch it again "
            "(or give your own version of the data as a file: --dataset FILE.npz)"
        )


@dataclass(frozen=True)
class Archive:
    """An archive that holds official files; it may lie in the data folder in their place."""

    name: str
    address: str
    checksum: str
    size: int | None = None


@dataclass(frozen=True)
class OfficialFile:
    """One official file below the data folder, or one folder of them.

    Attributes:
        path: with forward slashes.
        address: empty if it comes in an archive.
        member: its name in the archive; for a folder, the leading part of the names, or empty for all.
        checksum: of the uncompressed bytes, after the algorithm's name; empty if none is known.
        size: in uncompressed bytes.
    """

    path: str
    address: str = ""
    archive: Archive | None = None
    member: str = ""
    checksum: str = ""
    size: int | None = None
    folder: bool = False

    @property
    def source(self) -> str:
        """The address to download, of the archive or of the file."""
        return self.archive.address if self.archive else self.address


@dataclass(frozen=True)
class DatasetEntry:
    """One data set: what it is, where its official files come from, how they are read.

    Attributes:
        records: of all official parts together.
        files: empty where the data come with a dependency.
        suggested: recipe values, and a number of models, that suit the data.
        facts: what is known of every record set read of them, such as ``class_names``, ``mean`` and ``std``.
    """

    name: str
    title: str
    summary: str
    kind: Kind
    records: int
    classes: int
    files: tuple[OfficialFile, ...]
    licence: str
    citation: str
    read: "Reader"
    suggested: Mapping[str, str | float]
    facts: Facts = field(default_factory=Facts)

    def load(self, folder: Path, *, verify: bool = True) -> Records:
        """Make records of the official files below a data folder."""
        x, y, facts = self.read(self, folder, verify)
        own: Facts = {"name": self.name, "classes": self.classes, "licence": self.licence, "citation": self.citation}
        told: Facts = {**own, **self.facts, **facts}
        got, full = f"{len(y):,}", f"{self.records:,}"
        if got != full and any(file.folder for file in self.files):
            log.warning("%s: the folder holds %s of %s images: the audit is of this part", self.name, got, full)
        elif got != full and verify:
            raise damaged(self.name, f"expected {full} records, got {got}")
        return Records.make(x, y, **told)


Reader = Callable[[DatasetEntry, Path, bool], Arrays]
"""Reads the official files below a folder; told to, only if they are the official bytes."""
