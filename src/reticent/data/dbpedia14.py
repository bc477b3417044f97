"""DBpedia-14: titles and abstracts of Wikipedia's articles in 14 classes, as words or as characters.

Paper: Zhang, Zhao and LeCun (2015), Character-level convolutional networks for text classification. The archive is
fast.ai's copy, since the authors' own lies where it cannot be fetched by a program; either may be unpacked here.
"""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.data import official, text
from reticent.data.entry import TEXTS, Archive, Checksum, DatasetEntry, OfficialFile
from reticent.data.records import Records
from reticent.errors import CorruptFileError

CLASSES = (
    "Company",
    "EducationalInstitution",
    "Artist",
    "Athlete",
    "OfficeHolder",
    "MeanOfTransportation",
    "Building",
    "NaturalPlace",
    "Village",
    "Animal",
    "Plant",
    "Album",
    "Film",
    "WrittenWork",
)
COUNTS = (560_000, 70_000)
"""Records of the training and of the test part."""


def load(folder: Path, *, verify: bool = True) -> Records:
    """Read ``dbpedia_csv/{train,test}.csv``, or the archive, as words."""
    return _read(folder, ENTRY, text.words, text.VOCABULARY, verify=verify)


def load_characters(folder: Path, *, verify: bool = True) -> Records:
    """Read the same files as characters."""
    return _read(folder, AS_CHARACTERS, text.characters, text.CHARACTERS, verify=verify)


def _read(
    folder: Path,
    entry: DatasetEntry,
    tokens: Callable[[list[str]], NDArray[np.int64]],
    vocabulary: int,
    *,
    verify: bool,
) -> Records:
    content = official.read(folder, entry.files, verify=verify)
    parts = [_rows(part, file.path) for part, file in zip(content, entry.files, strict=True)]
    for (labels, _), file, count in zip(parts, entry.files, COUNTS, strict=True):
        official.expect_count(len(labels), count, file.path, verify=verify)
    facts: dict[str, Any] = entry.facts()
    return Records.make(
        tokens([each for _, texts in parts for each in texts]),
        np.concatenate([labels for labels, _ in parts]),
        vocabulary=vocabulary,
        class_names=CLASSES,
        columns={"split": np.repeat(["train", "test"], [len(labels) for labels, _ in parts])},
        **facts,
    )


def _rows(content: bytes, path: str) -> tuple[NDArray[np.int64], list[str]]:
    labels, texts = [], []
    for number, row in enumerate(csv.reader(io.StringIO(content.decode("utf-8", "replace"), newline=""))):
        if len(row) != 3 or not row[0].isdecimal():
            raise CorruptFileError(
                f"{path}: record {number}: expected a number, a title and an abstract, got {len(row)} fields; "
                "delete it and fetch it again"
            )
        labels.append(int(row[0]) - 1)
        texts.append(f"{row[1]} {row[2]}")
    return official.labels(np.array(labels, dtype=np.int64), len(CLASSES), path), texts


ARCHIVE = Archive(
    "dbpedia_csv.tgz",
    "https://s3.amazonaws.com/fast-ai-nlp/dbpedia_csv.tgz",
    Checksum("md5", "239c7837b9e79db34486f3de6a00e38e"),
    68_341_743,
)

ENTRY = DatasetEntry(
    name="dbpedia14",
    title="DBpedia-14",
    summary="Titles and abstracts of encyclopedia articles in 14 classes, as 64 words each.",
    kind="tokens",
    records=sum(COUNTS),
    classes=len(CLASSES),
    files=tuple(
        OfficialFile(f"dbpedia_csv/{part}.csv", archive=ARCHIVE, member=f"dbpedia_csv/{part}.csv")
        for part in ("train", "test")
    ),
    licence="CC BY-SA 3.0",
    citation="Zhang, Zhao and LeCun, Character-level convolutional networks for text classification, NeurIPS 2015",
    load=load,
    suggested=TEXTS,
)

AS_CHARACTERS = replace(
    ENTRY,
    name="dbpedia14-characters",
    title="DBpedia-14 (characters)",
    summary="Titles and abstracts of encyclopedia articles in 14 classes, as 256 characters each.",
    load=load_characters,
)
