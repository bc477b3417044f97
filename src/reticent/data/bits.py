"""Comma-separated files of single bits, as the Location, Purchase and Texas data sets come: read by blocks of bytes."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from reticent.errors import CorruptFileError

BLOCK = 32 << 20
"""Bytes read at once."""

LONGEST = 8
"""Bytes that a label, its quotes and its comma may take."""


def read(stream: IO[bytes], width: int, path: Path | str, *, labelled: bool) -> tuple[NDArray[np.uint8], list[bytes]]:
    """Read rows of bits, each preceded by a label if there is one.

    Cost:
        Twice the bits in memory, and about a second for 400 MB.
    """
    parts: list[NDArray[np.uint8]] = []
    labels: list[bytes] = []
    for block in _whole_lines(stream):
        bits, prefixes = _rows(block, width, path, sum(map(len, parts)), labelled=labelled)
        parts.append(bits)
        labels += prefixes
    if not parts:
        raise CorruptFileError(
            f"{path}: expected rows of {width} bits, got an empty file; delete it and fetch it again"
        )
    return np.concatenate(parts), labels


def _whole_lines(stream: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while chunk := stream.read(BLOCK):
        head, newline, tail = chunk.rpartition(b"\n")
        if newline:
            yield rest + head + b"\n"
            rest = tail
        else:
            rest += chunk
    if rest:
        yield rest + b"\n"


def _rows(
    block: bytes, width: int, path: Path | str, before: int, *, labelled: bool
) -> tuple[NDArray[np.uint8], list[bytes]]:
    buffer = np.frombuffer(block.replace(b"\r\n", b"\n"), dtype=np.uint8)
    ends = np.flatnonzero(buffer == ord("\n"))
    begins = np.concatenate([[0], ends[:-1] + 1])
    text = 2 * width - 1
    prefix = ends - begins - text
    wrong = (prefix < 2) | (prefix > LONGEST) if labelled else prefix != 0
    if wrong.any():
        row = int(np.argmax(wrong))
        raise CorruptFileError(
            f"{path}: line {before + row + 1} has {ends[row] - begins[row]} bytes: expected {width} bits with commas"
            f"{' after a label' if labelled else ''}; delete the file and fetch it again"
        )
    rows = sliding_window_view(buffer, text)[ends - text]
    bits = rows[:, ::2] - np.uint8(ord("0"))
    bad = (bits > 1).any(axis=1) | (rows[:, 1::2] != ord(",")).any(axis=1)
    if labelled:
        bad |= buffer[ends - text - 1] != ord(",")
    if bad.any():
        line = before + int(np.argmax(bad)) + 1
        raise CorruptFileError(f"{path}: line {line} holds something that is no bit: expected 0 or 1 between commas")
    content = buffer.tobytes()
    spans = zip(begins, begins + prefix - 1, strict=True) if labelled else ()
    return bits, [content[begin:end] for begin, end in spans]


def numbers(texts: list[bytes], path: Path | str) -> NDArray[np.int64]:
    """Read labels, with or without quotes around them."""
    try:
        return np.array([int(text.strip(b'" \r')) for text in texts], dtype=np.int64)
    except ValueError as error:
        raise CorruptFileError(f"{path}: expected whole numbers as labels: {error}") from None
