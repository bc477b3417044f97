"""CINIC-10: 270,000 photographs of 32 x 32 pixels, CIFAR-10's own and scaled ones of ImageNet, in CIFAR-10's classes.

Paper: Darlow et al. (2018), CINIC-10 is not ImageNet or CIFAR-10. Never a population for a model of CIFAR-10.
"""

from pathlib import Path

import numpy as np

from reticent.data import images, official
from reticent.data.entry import Arrays, DatasetEntry
from reticent.data.records import Facts
from reticent.errors import CorruptFileError

PARTS = ("train", "valid", "test")


def read(entry: DatasetEntry, folder: Path, verify: bool) -> Arrays:
    """Read ``CINIC-10/{train,valid,test}/CLASS/*.png``; the official archive is unpacked first."""
    root = official.tree(folder, entry.files[0], verify=verify)
    names = images.class_folders(root / PARTS[0], entry.classes)
    paths, labels, parts = [], [], []
    for part in PARTS:
        if images.class_folders(root / part, entry.classes) != names:
            raise CorruptFileError(f"{root / part}: expected the class folders of {PARTS[0]}; unpack the archive again")
        for label, name in enumerate(names):
            found = images.in_order(root / part / name, ".png")
            paths += found
            labels += [label] * len(found)
            parts += [part] * len(found)
    facts: Facts = {"class_names": tuple(names), "columns": {"split": np.array(parts)}}
    return images.decode(paths, 32), np.array(labels, dtype=np.int64), facts
