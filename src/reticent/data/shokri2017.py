"""Location30, Purchase100 and Texas100: records of single bits, the first two with their class in front of them.

Papers: Shokri et al. (2017), Membership inference attacks against machine learning models; Yang et al. (2016) for
Location30; Kaggle's valued shoppers for Purchase100; Texan hospital discharges for Texas100.
"""

from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from reticent.data import archives, official
from reticent.data.entry import Arrays, DatasetEntry

BLOCK = 32 << 20
"""Bytes read at once."""
LONGEST = 8
"""Bytes that a label, its quotes and its comma may take."""


def read_bits(
    stream: IO[bytes], path: Path | str, *, width: int, labelled: bool
) -> tuple[NDArray[np.uint8], list[bytes]]:
    """Read rows of bits with commas, each preceded by a label if there is one.

    Cost:
        Twice the bits in memory, and about a second for 400 MB.
    """
    parts: list[NDArray[np.uint8]] = []
    labels: list[bytes] = []
    text, count = 2 * width - 1, 0
    while block := stream.readlines(BLOCK):
        lines = [line.removesuffix(b"\n").removesuffix(b"\r") for line in block]
        for number, line in enumerate(lines, count + 1):
            before = len(line) - text
            if not (2 <= before <= LONGEST if labelled else before == 0):
                after = " after a label" if labelled else ""
                what = f"line {number} has {len(line)} bytes: expected {width} bits with commas{after}"
                raise archives.damaged(path, what)
        rows = np.frombuffer(b"".join(line[-text - labelled :] for line in lines), np.uint8)
        rows = rows.reshape(len(lines), -1)
        bits = rows[:, int(labelled) :: 2] - np.uint8(ord("0"))
        bad = (bits > 1).any(axis=1) | (rows[:, 1 - labelled :: 2] != ord(",")).any(axis=1)
        if bad.any():
            number = count + int(np.argmax(bad)) + 1
            raise archives.damaged(
                path, f"line {number} holds something that is no bit: expected 0 or 1 between commas"
            )
        parts.append(bits)
        labels += [line[: -text - 1] for line in lines] if labelled else []
        count += len(lines)
    if not parts:
        raise archives.damaged(path, f"expected rows of {width} bits, got an empty file")
    return np.concatenate(parts), labels


def whole_numbers(texts: list[bytes], path: Path | str) -> NDArray[np.int64]:
    """Read labels, with or without quotes around them."""
    try:
        return np.array([int(text.strip(b'" ')) for text in texts], dtype=np.int64)
    except ValueError as error:
        raise archives.damaged(path, f"expected whole numbers as labels: {error}") from None


def read(entry: DatasetEntry, folder: Path, verify: bool, *, width: int) -> Arrays:
    """Read rows of bits; their labels stand in front of them, or in a second file."""
    file, *others = entry.files
    parse = partial(read_bits, width=width, labelled=not others)
    ((features, texts),) = official.read(folder, [file], parse, verify=verify)
    for other in others:
        (content,) = official.read(folder, [other], official.whole, verify=verify)
        texts = [line for line in content.splitlines() if line.strip()]
    return features, whole_numbers(texts, entry.files[-1].path) - 1, {}
