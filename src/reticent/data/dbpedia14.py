"""DBpedia-14: titles and abstracts of Wikipedia's articles in 14 classes, as words or as characters.

Paper: Zhang, Zhao and LeCun (2015), Character-level convolutional networks for text classification. The archive is
fast.ai's copy, since the authors' own lies where it cannot be fetched by a program; either may be unpacked here.
"""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from reticent.data import archives, official, text
from reticent.data.entry import TEXTS, Archive, Arrays, Checksum, DatasetEntry, OfficialFile

NAMES = (
    "Company EducationalInstitution Artist Athlete OfficeHolder MeanOfTransportation Building NaturalPlace Village "
    "Animal Plant Album Film WrittenWork"
)
CLASSES = tuple(NAMES.split())


def _read(
    entry: DatasetEntry, folder: Path, verify: bool, *, tokens: Callable[[list[str]], NDArray[np.int64]]
) -> Arrays:
    """Read ``dbpedia_csv/{train,test}.csv``, or the archive."""
    parts = official.read(folder, entry.files, _rows, verify=verify)
    sizes = [len(labels) for labels, _ in parts]
    x = tokens([each for _, texts in parts for each in texts])
    y = np.concatenate([labels for labels, _ in parts])
    return x, y, {"columns": {"split": np.repeat(["train", "test"], sizes)}}


def _rows(stream: IO[bytes], path: Path) -> tuple[NDArray[np.int64], list[str]]:
    content = stream.read().decode("utf-8", "replace")
    labels, texts = [], []
    for number, row in enumerate(csv.reader(io.StringIO(content, newline=""))):
        if len(row) != 3 or not row[0].isdecimal():
            what = f"record {number}: expected a number, a title and an abstract, got {len(row)} fields"
            raise archives.damaged(path, what)
        labels.append(int(row[0]) - 1)
        texts.append(f"{row[1]} {row[2]}")
    return np.array(labels, dtype=np.int64), texts


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
    records=630_000,
    classes=len(CLASSES),
    files=tuple(
        OfficialFile(f"dbpedia_csv/{part}.csv", archive=ARCHIVE, member=f"dbpedia_csv/{part}.csv")
        for part in ("train", "test")
    ),
    licence="CC BY-SA 3.0",
    citation="Zhang, Zhao and LeCun, Character-level convolutional networks for text classification, NeurIPS 2015",
    read=partial(_read, tokens=text.words),
    suggested=TEXTS,
    facts={"class_names": CLASSES, "vocabulary": text.VOCABULARY},
)

AS_CHARACTERS = replace(
    ENTRY,
    name="dbpedia14-characters",
    title="DBpedia-14 (characters)",
    summary="Titles and abstracts of encyclopedia articles in 14 classes, as 256 characters each.",
    read=partial(_read, tokens=text.characters),
    facts={"class_names": CLASSES, "vocabulary": text.CHARACTERS},
)
