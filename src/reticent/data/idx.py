"""The idx format of MNIST and of the data sets made in its image."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.data import official
from reticent.data.entry import Checksum, OfficialFile
from reticent.data.records import Records
from reticent.errors import CorruptFileError

PARTS = (("train", "train"), ("t10k", "test"))


def files(folder: str, address: str, md5: Sequence[str]) -> tuple[OfficialFile, ...]:
    """List the four files: training images and labels, then test images and labels."""
    names = [f"{stem}-{what}-ubyte" for stem, _ in PARTS for what in ("images-idx3", "labels-idx1")]
    return tuple(
        OfficialFile(f"{folder}/{name}", f"{address}{name}.gz", checksum=Checksum("md5", value))
        for name, value in zip(names, md5, strict=True)
    )


def parse(content: bytes, axes: int, path: Path | str) -> NDArray[np.uint8]:
    """Read one idx file of unsigned bytes."""
    head = np.frombuffer(content[: 4 * (axes + 1)], dtype=">u4") if len(content) >= 4 * (axes + 1) else np.zeros(1)
    if head[0] != 0x0800 + axes:
        raise CorruptFileError(f"{path}: expected an idx file of bytes with {axes} axes; delete it and fetch it again")
    lengths = tuple(int(n) for n in head[1:])
    body = np.frombuffer(content, dtype=np.uint8, offset=4 * (axes + 1))
    if len(body) != int(np.prod(lengths)):
        raise CorruptFileError(
            f"{path}: its head says {' x '.join(map(str, lengths))} bytes, {len(body):,} follow; "
            "delete it and fetch it again"
        )
    return body.reshape(lengths)


def load(entry_files: Sequence[OfficialFile], folder: Path, *, verify: bool, **facts: Any) -> Records:
    """Read the four files; training part first."""
    content = official.read(folder, entry_files, verify=verify)
    paths = [file.path for file in entry_files]
    images = [parse(content[i], 3, paths[i]) for i in (0, 2)]
    labels = [official.labels(parse(content[i], 1, paths[i]), facts["classes"], paths[i]) for i in (1, 3)]
    for i in (0, 1):
        if len(images[i]) != len(labels[i]):
            raise CorruptFileError(f"{paths[2 * i]}: {len(images[i])} images, but {len(labels[i])} labels beside it")
    split = np.repeat([name for _, name in PARTS], [len(part) for part in labels])
    return Records.make(np.concatenate(images), np.concatenate(labels), columns={"split": split}, **facts)
