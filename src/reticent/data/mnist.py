"""MNIST and Fashion-MNIST, in the idx format: 70,000 grey pictures of 28 x 28 pixels.

Papers: LeCun et al. (1998), Gradient-based learning applied to document recognition; Xiao, Rasul and Vollgraf (2017),
Fashion-MNIST, arXiv 1708.07747.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reticent.data import archives, official
from reticent.data.entry import GLYPHS, Arrays, Checksum, DatasetEntry, OfficialFile

PARTS = ("train", "t10k")


def _files(folder: str, address: str, md5: Sequence[str]) -> tuple[OfficialFile, ...]:
    """List the four files: training images and labels, then test images and labels."""
    names = [f"{part}-{what}-ubyte" for part in PARTS for what in ("images-idx3", "labels-idx1")]
    return tuple(
        OfficialFile(f"{folder}/{name}", f"{address}{name}.gz", checksum=Checksum("md5", value))
        for name, value in zip(names, md5, strict=True)
    )


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


def _read(entry: DatasetEntry, folder: Path, verify: bool) -> Arrays:
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


MNIST = DatasetEntry(
    name="mnist",
    title="MNIST",
    summary="Handwritten digits of 28 x 28 pixels.",
    kind="image",
    records=70_000,
    classes=10,
    files=_files(
        "MNIST/raw",
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        (
            "6bbc9ace898e44ae57da46a324031adb",
            "a25bea736e30d166cdddb491f175f624",
            "2646ac647ad5339dbf082846283269ea",
            "27ae3e4e09519cfbb04c329615203637",
        ),
    ),
    licence="CC BY-SA 3.0, as usually stated",
    citation="LeCun et al., Gradient-based learning applied to document recognition, Proc. IEEE 1998",
    read=_read,
    suggested=GLYPHS,
    facts={"class_names": tuple("0123456789"), "mean": (0.13066,), "std": (0.30811,)},
)

CLOTHES = ("T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")

FASHION_MNIST = DatasetEntry(
    name="fashion-mnist",
    title="Fashion-MNIST",
    summary="Pictures of clothes of 28 x 28 pixels.",
    kind="image",
    records=70_000,
    classes=10,
    files=_files(
        "FashionMNIST/raw",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        (
            "f4a8712d7a061bf5bd6d2ca38dc4d50a",
            "9018921c3c673c538a1fc5bad174d6f9",
            "8181f5470baa50b63fa0f6fddb340f0a",
            "15d484375f8d13e6eb1aabb0c3f46965",
        ),
    ),
    licence="MIT",
    citation="Xiao, Rasul and Vollgraf, Fashion-MNIST, arXiv 1708.07747",
    read=_read,
    suggested=GLYPHS,
    facts={"class_names": CLOTHES, "mean": (0.28604,), "std": (0.35302,)},
)
