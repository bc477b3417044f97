"""What a line of the table of data sets holds: facts, official files, and the function that loads them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Protocol

from reticent.data.records import Kind, Records

Algorithm = Literal["md5", "sha1", "sha256", "git-blob-sha1"]


@dataclass(frozen=True)
class Checksum:
    r"""A published sum of a file's bytes.

    Attributes:
        algorithm: how it is computed; ``git-blob-sha1`` is SHA-1 of ``blob LENGTH\0`` and the bytes.
        value: the sum in lower-case hexadecimal.
    """

    algorithm: Algorithm
    value: str

    def __str__(self) -> str:
        return f"{self.algorithm} {self.value}"


@dataclass(frozen=True)
class Archive:
    """An archive that holds official files.

    Attributes:
        name: its file name; it may lie in the data folder in place of the files inside it.
        address: where it is downloaded from.
        checksum: of the archive's bytes, if one is published.
        size: bytes, if known.
    """

    name: str
    address: str
    checksum: Checksum | None = None
    size: int | None = None


@dataclass(frozen=True)
class OfficialFile:
    """One official file, or one folder of official files.

    Attributes:
        path: where it lies below the data folder, with forward slashes.
        address: where it is downloaded from, unless it comes in an archive.
        archive: the archive that it comes in, if it does.
        member: its name inside that archive; for a folder, the leading part of the names, or empty for all.
        checksum: of the uncompressed bytes, if known.
        size: uncompressed bytes, if known.
        folder: true for a whole folder of files.
    """

    path: str
    address: str = ""
    archive: Archive | None = None
    member: str = ""
    checksum: Checksum | None = None
    size: int | None = None
    folder: bool = False

    @property
    def source(self) -> str:
        """The address to download, of the archive or of the file."""
        return self.archive.address if self.archive else self.address


class Loader(Protocol):
    """Reads a data set's official files."""

    def __call__(self, folder: Path, *, verify: bool = True) -> Records:
        """Read the files below a data folder; with ``verify``, only if they are the official bytes."""


@dataclass(frozen=True)
class DatasetEntry:
    """One data set: what it is, where its official files come from, how they are read.

    Attributes:
        name: the name that is used everywhere.
        title: the name as it is written in a text.
        summary: one sentence.
        kind: what a record is.
        records: number of records, official parts together.
        classes: number of classes.
        files: the official files; empty where the data come with a dependency.
        licence: under which terms the data may be used.
        citation: what to cite.
        load: reads the files.
        suggested: recipe values, and a number of models, that suit the data.
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
    load: Loader
    suggested: Mapping[str, object]

    def facts(self) -> dict[str, Any]:
        """Return what `Records.make` is told of every data set of the table."""
        return {"classes": self.classes, "name": self.name, "licence": self.licence, "citation": self.citation}


TABULAR: Mapping[str, object] = MappingProxyType({
    "architecture": "mlp",
    "epochs": 40,
    "batch_size": 64,
    "optimizer": "adam",
    "learning_rate": 1e-3,
    "weight_decay": 0.0,
    "models": 32,
})
"""Suggested values for bits and features."""

PHOTOS: Mapping[str, object] = MappingProxyType({
    "architecture": "resnet20",
    "epochs": 50,
    "batch_size": 128,
    "optimizer": "sgd",
    "learning_rate": 0.1,
    "schedule": "cosine",
    "weight_decay": 5e-4,
    "augmentation": "flip-crop",
    "models": 16,
})
"""Suggested values for colour photographs."""

TEXTS: Mapping[str, object] = MappingProxyType({
    "architecture": "transformer",
    "epochs": 10,
    "batch_size": 64,
    "optimizer": "adam",
    "learning_rate": 1e-3,
    "weight_decay": 0.0,
    "models": 16,
})
"""Suggested values for tokens of texts."""

GLYPHS: Mapping[str, object] = MappingProxyType({
    "architecture": "cnn",
    "epochs": 20,
    "batch_size": 128,
    "optimizer": "adam",
    "learning_rate": 1e-3,
    "weight_decay": 0.0,
    "models": 16,
})
"""Suggested values for small grey pictures."""
