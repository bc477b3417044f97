"""CIFAR-10 and CIFAR-100, binary versions: 60,000 photographs of 32 x 32 pixels in 10 or 100 classes.

Paper: Krizhevsky (2009), Learning multiple layers of features from tiny images. A record is its label bytes, then 3,072
bytes of red, green and blue.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from reticent.data import archives, official
from reticent.data.entry import PHOTOS, Archive, Arrays, Checksum, DatasetEntry, OfficialFile

PIXELS = 3 * 32 * 32


def _files(folder: str, archive: Archive, sums: Mapping[str, tuple[str, int]]) -> tuple[OfficialFile, ...]:
    return tuple(
        OfficialFile(path, archive=archive, member=path, checksum=Checksum("sha1", value), size=size)
        for name, (value, size) in sums.items()
        for path in [f"{folder}/{name}.bin"]
    )


def _read(entry: DatasetEntry, folder: Path, verify: bool) -> Arrays:
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


SHA1 = {
    "data_batch_1": "aadd24acce27caa71bf4b10992e9e7b2d74c2540",
    "data_batch_2": "c0ba65cce70568cd57b4e03e9ac8d2a5367c1795",
    "data_batch_3": "1dd00a74ab1d17a6e7d73e185b69dbf31242f295",
    "data_batch_4": "aab85764eb3584312d3c7f65fd2fd016e36a258e",
    "data_batch_5": "26e2849e66a845b7f1e4614ae70f4889ae604628",
    "test_batch": "67eb016db431130d61cd03c7ad570b013799c88c",
}
CIFAR10 = DatasetEntry(
    name="cifar10",
    title="CIFAR-10",
    summary="Photographs of 32 x 32 pixels: animals and vehicles in 10 classes.",
    kind="image",
    records=60_000,
    classes=10,
    files=_files(
        "cifar-10-batches-bin",
        Archive(
            "cifar-10-binary.tar.gz",
            "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            Checksum("sha1", "fab780a1e191a7eda0f345501ccd62d20f7ed891"),
            170_052_171,
        ),
        {name: (value, 30_730_000) for name, value in SHA1.items()},
    ),
    licence="none stated; research use",
    citation="Krizhevsky, Learning multiple layers of features from tiny images, 2009",
    read=_read,
    suggested=PHOTOS,
    facts={
        "class_names": ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
        "mean": (0.49139968, 0.48215841, 0.44653091),
        "std": (0.24703223, 0.24348513, 0.26158784),
    },
)

NAMES = (
    "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can "
    "castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin "
    "elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster "
    "man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck "
    "pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk "
    "skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone television tiger "
    "tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm"
)
CIFAR100 = DatasetEntry(
    name="cifar100",
    title="CIFAR-100",
    summary="Photographs of 32 x 32 pixels: animals, plants, people and things in 100 classes.",
    kind="image",
    records=60_000,
    classes=100,
    files=_files(
        "cifar-100-binary",
        Archive(
            "cifar-100-binary.tar.gz",
            "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
            Checksum("md5", "03b5dce01913d631647c71ecec9e9cb8"),
            168_513_733,
        ),
        {
            "train": ("e207cd2e05b73b1393c74c7f5e7bea451d63e08e", 153_700_000),
            "test": ("8fb6623e830365ff53cf14adec797474f5478006", 30_740_000),
        },
    ),
    licence="none stated; research use",
    citation="Krizhevsky, Learning multiple layers of features from tiny images, 2009",
    read=_read,
    suggested=PHOTOS,
    facts={
        "class_names": tuple(NAMES.split()),
        "mean": (0.50707516, 0.48654887, 0.44091784),
        "std": (0.26733429, 0.25643846, 0.27615047),
    },
)
