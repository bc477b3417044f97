"""The binary format of CIFAR: label bytes, then 3,072 bytes of a 32 x 32 picture as red, green and blue planes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reticent.data import official
from reticent.data.entry import Archive, Checksum, OfficialFile
from reticent.errors import CorruptFileError

PIXELS = 3 * 32 * 32


def files(folder: str, archive: Archive, sums: Mapping[str, tuple[str, int]]) -> tuple[OfficialFile, ...]:
    """List the official files of an archive."""
    paths = {name: f"{folder}/{name}.bin" for name in sums}
    return tuple(
        OfficialFile(paths[name], archive=archive, member=paths[name], checksum=Checksum("sha1", value), size=size)
        for name, (value, size) in sums.items()
    )


def read(
    folder: Path, files: Sequence[OfficialFile], label_bytes: int, *, verify: bool
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.str_]]:
    """Read the official files, one after the other."""
    width = label_bytes + PIXELS
    contents = official.read(folder, files, verify=verify)
    for content, file in zip(contents, files, strict=True):
        if not content or len(content) % width:
            raise CorruptFileError(
                f"{file.path}: expected records of {width} bytes, got {len(content):,} bytes; delete it and fetch it "
                "again"
            )
    rows = np.concatenate([np.frombuffer(content, dtype=np.uint8).reshape(-1, width) for content in contents])
    pictures = np.ascontiguousarray(rows[:, label_bytes:]).reshape(-1, 3, 32, 32)
    parts = np.array(["test" if "test" in Path(file.path).name else "train" for file in files])
    return pictures, rows[:, :label_bytes].copy(), np.repeat(parts, [len(content) // width for content in contents])
