"""CINIC-10: 270,000 photographs of 32 x 32 pixels, CIFAR-10's own and scaled ones of ImageNet, in CIFAR-10's classes.

Paper: Darlow et al. (2018), CINIC-10 is not ImageNet or CIFAR-10. Never a population for a model of CIFAR-10.
"""

from pathlib import Path

import numpy as np

from reticent.data import images, official
from reticent.data.entry import PHOTOS, Archive, Arrays, Checksum, DatasetEntry, OfficialFile
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


ENTRY = DatasetEntry(
    name="cinic10",
    title="CINIC-10",
    summary="Photographs of 32 x 32 pixels in CIFAR-10's classes, from CIFAR-10 and ImageNet.",
    kind="image",
    records=270_000,
    classes=10,
    files=(
        OfficialFile(
            "CINIC-10",
            archive=Archive(
                "CINIC-10.tar.gz",
                "https://datashare.ed.ac.uk/bitstream/handle/10283/3192/CINIC-10.tar.gz",
                Checksum("md5", "6ee4d0c996905fe93221de577967a372"),
                687_544_992,
            ),
            folder=True,
        ),
    ),
    licence="MIT for the collection; ImageNet's terms for its images",
    citation="Darlow et al., CINIC-10 is not ImageNet or CIFAR-10, arXiv 1810.03505",
    read=read,
    suggested=PHOTOS,
    facts={"mean": (0.47889522, 0.47227842, 0.43047404), "std": (0.24205776, 0.23828046, 0.25874835)},
)
