"""CIFAR-10, binary version: 60,000 photographs of 32 x 32 pixels in 10 classes.

Paper: Krizhevsky (2009), Learning multiple layers of features from tiny images.
"""

from pathlib import Path

from reticent.data import official, planes
from reticent.data.entry import PHOTOS, Archive, Checksum, DatasetEntry
from reticent.data.records import Records

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
ARCHIVE = Archive(
    "cifar-10-binary.tar.gz",
    "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    Checksum("sha1", "fab780a1e191a7eda0f345501ccd62d20f7ed891"),
    170_052_171,
)
SHA1 = {
    "data_batch_1": "aadd24acce27caa71bf4b10992e9e7b2d74c2540",
    "data_batch_2": "c0ba65cce70568cd57b4e03e9ac8d2a5367c1795",
    "data_batch_3": "1dd00a74ab1d17a6e7d73e185b69dbf31242f295",
    "data_batch_4": "aab85764eb3584312d3c7f65fd2fd016e36a258e",
    "data_batch_5": "26e2849e66a845b7f1e4614ae70f4889ae604628",
    "test_batch": "67eb016db431130d61cd03c7ad570b013799c88c",
}


def load(folder: Path, *, verify: bool = True) -> Records:
    """Read ``cifar-10-batches-bin/*.bin``, or the official archive."""
    x, y, split = planes.read(folder, ENTRY.files, 1, verify=verify)
    return Records.make(
        x,
        official.labels(y[:, 0], ENTRY.classes, ENTRY.files[0].path),
        class_names=CLASSES,
        mean=(0.49139968, 0.48215841, 0.44653091),
        std=(0.24703223, 0.24348513, 0.26158784),
        columns={"split": split},
        **ENTRY.facts(),
    )


ENTRY = DatasetEntry(
    name="cifar10",
    title="CIFAR-10",
    summary="Photographs of 32 x 32 pixels: animals and vehicles in 10 classes.",
    kind="image",
    records=60_000,
    classes=10,
    files=planes.files("cifar-10-batches-bin", ARCHIVE, {name: (value, 30_730_000) for name, value in SHA1.items()}),
    licence="none stated; research use",
    citation="Krizhevsky, Learning multiple layers of features from tiny images, 2009",
    load=load,
    suggested=PHOTOS,
)
