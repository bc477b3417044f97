"""CINIC-10: 270,000 photographs of 32 x 32 pixels, CIFAR-10's own and scaled ones of ImageNet, in CIFAR-10's classes.

Paper: Darlow et al. (2018), CINIC-10 is not ImageNet or CIFAR-10. Never a population for a model of CIFAR-10.
"""

from pathlib import Path

import numpy as np

from reticent.data import official, pictures
from reticent.data.entry import PHOTOS, Archive, Checksum, DatasetEntry, OfficialFile
from reticent.data.records import Records
from reticent.errors import CorruptFileError

PARTS = ("train", "valid", "test")


def load(folder: Path, *, verify: bool = True) -> Records:
    """Read ``CINIC-10/{train,valid,test}/CLASS/*.png``; the official archive is unpacked first."""
    root = official.tree(folder, ENTRY.files[0], verify=verify)
    names = pictures.classes(root / PARTS[0], ENTRY.classes)
    paths, labels, parts = [], [], []
    for part in PARTS:
        if pictures.classes(root / part, ENTRY.classes) != names:
            raise CorruptFileError(f"{root / part}: expected the class folders of {PARTS[0]}; unpack the archive again")
        for label, name in enumerate(names):
            found = pictures.in_order(root / part / name, ".png")
            paths += found
            labels += [label] * len(found)
            parts += [part] * len(found)
    pictures.report_count(ENTRY.name, len(paths), ENTRY.records)
    return Records.make(
        pictures.decode(paths, 32),
        np.array(labels, dtype=np.int64),
        class_names=tuple(names),
        mean=(0.47889522, 0.47227842, 0.43047404),
        std=(0.24205776, 0.23828046, 0.25874835),
        columns={"split": np.array(parts)},
        **ENTRY.facts(),
    )


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
    load=load,
    suggested=PHOTOS,
)
