"""DBpedia-14: titles and abstracts of Wikipedia's articles in 14 classes, as words or as characters.

Paper: Zhang, Zhao and LeCun (2015), Character-level convolutional networks for text classification. The archive is
fast.ai's copy, since the authors' own lies where it cannot be fetched by a program; either may be unpacked here.
"""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from reticent.data import archives, official
from reticent.data.entry import Arrays, DatasetEntry

Tokens = Callable[[list[str]], NDArray[np.int64]]


def read(entry: DatasetEntry, folder: Path, verify: bool, *, tokens: Tokens, vocabulary: int) -> Arrays:
    """Read ``dbpedia_csv/{train,test}.csv``, or the archive."""
    parts = official.read(folder, entry.files, _rows, verify=verify)
    sizes = [len(labels) for labels, _ in parts]
    x = tokens([each for _, texts in parts for each in texts])
    y = np.concatenate([labels for labels, _ in parts])
    return x, y, {"columns": {"split": np.repeat(["train", "test"], sizes)}, "vocabulary": vocabulary}


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
