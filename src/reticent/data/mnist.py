"""MNIST and Fashion-MNIST, in the idx format: 70,000 grey pictures of 28 x 28 pixels.

Papers: LeCun et al. (1998), Gradient-based learning applied to document recognition; Xiao, Rasul and Vollgraf (2017),
Fashion-MNIST, arXiv 1708.07747.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reticent.data import archives, official
from reticent.data.entry import Arrays, DatasetEntry


def _parse(content: bytes, axes: int, path: str) -> NDArray[np.uint8]:
    """Read one idx file of unsigned bytes."""
    start = 4 * (axes + 1)
    head = np.frombuffer(content[:start], dtype=">u4") if len(content) >= start else np.zeros(1)
    if head[0] != 0x0800 + axes:
        raise archives.damaged(path, f"expected an idx file of bytes with {axes} axes")
    lengths = tuple(int(n) for n in head[1:])
    body = np.frombuffer(content, dtype=np.uint8, offset=start)
    if len(body) != int(np.prod(lengths)):
        raise archives.damaged(path, f"its head says {' x '.join(map(str, lengths))} bytes, {len(body):,} follow")
    return body.reshape(lengths)


def read(entry: DatasetEntry, folder: Path, verify: bool) -> Arrays:
    """Read the four files, plain or gzipped; training part first."""
    content = official.read(folder, entry.files, official.whole, verify=verify)
    paths = [file.path for file in entry.files]
    images = [_parse(content[i], 3, paths[i]) for i in (0, 2)]
    labels = [_parse(content[i], 1, paths[i]) for i in (1, 3)]
    for i in (0, 1):
        if len(images[i]) != len(labels[i]):
            raise archives.damaged(paths[2 * i], f"{len(images[i])} images, but {len(labels[i])} labels beside it")
    split = np.repeat(["train", "test"], [len(part) for part in labels])
    return np.concatenate(images), np.concatenate(labels), {"columns": {"split": split}}
