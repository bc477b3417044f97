"""CIFAR-10 and CIFAR-100, binary versions: 60,000 photographs of 32 x 32 pixels in 10 or 100 classes.

Paper: Krizhevsky (2009), Learning multiple layers of features from tiny images. A record is its label bytes, then 3,072
bytes of red, green and blue.
"""

from pathlib import Path

import numpy as np

from reticent.data import archives, official
from reticent.data.entry import Arrays, DatasetEntry

PIXELS = 3 * 32 * 32


def read(entry: DatasetEntry, folder: Path, verify: bool) -> Arrays:
    """Read the official files, one after the other."""
    fine = entry.classes == 100  # the class comes after one of 20 coarse ones
    width = 1 + fine + PIXELS
    contents = official.read(folder, entry.files, official.whole, verify=verify)
    for content, file in zip(contents, entry.files, strict=True):
        if not content or len(content) % width:
            raise archives.damaged(file.path, f"expected records of {width} bytes, got {len(content):,} bytes")
    rows = np.concatenate([np.frombuffer(content, dtype=np.uint8).reshape(-1, width) for content in contents])
    parts = ["test" if "test" in file.path else "train" for file in entry.files]
    columns = {"split": np.repeat(parts, [len(content) // width for content in contents])}
    if fine:
        columns["coarse"] = rows[:, 0].astype(np.int64)
    pictures = np.ascontiguousarray(rows[:, 1 + fine :]).reshape(-1, 3, 32, 32)
    return pictures, rows[:, int(fine)], {"columns": columns}
