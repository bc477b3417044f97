"""CIFAR-100, binary version: 60,000 photographs of 32 x 32 pixels in 100 classes.

Paper: Krizhevsky (2009), Learning multiple layers of features from tiny images.
"""

from pathlib import Path

from reticent.data import official, planes
from reticent.data.entry import PHOTOS, Archive, Checksum, DatasetEntry
from reticent.data.records import Records

NAMES = (
    "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can "
    "castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin "
    "elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster "
    "man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck "
    "pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk "
    "skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone television tiger "
    "tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm"
)
CLASSES = tuple(NAMES.split())
ARCHIVE = Archive(
    "cifar-100-binary.tar.gz",
    "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
    Checksum("md5", "03b5dce01913d631647c71ecec9e9cb8"),
    168_513_733,
)
SHA1 = {
    "train": ("e207cd2e05b73b1393c74c7f5e7bea451d63e08e", 153_700_000),
    "test": ("8fb6623e830365ff53cf14adec797474f5478006", 30_740_000),
}


def load(folder: Path, *, verify: bool = True) -> Records:
    """Read ``cifar-100-binary/{train,test}.bin``, or the official archive."""
    x, y, split = planes.read(folder, ENTRY.files, 2, verify=verify)
    path = ENTRY.files[0].path
    return Records.make(
        x,
        official.labels(y[:, 1], ENTRY.classes, path),
        class_names=CLASSES,
        mean=(0.50707516, 0.48654887, 0.44091784),
        std=(0.26733429, 0.25643846, 0.27615047),
        columns={"split": split, "coarse": official.labels(y[:, 0], 20, path)},
        **ENTRY.facts(),
    )


ENTRY = DatasetEntry(
    name="cifar100",
    title="CIFAR-100",
    summary="Photographs of 32 x 32 pixels: animals, plants, people and things in 100 classes.",
    kind="image",
    records=60_000,
    classes=100,
    files=planes.files("cifar-100-binary", ARCHIVE, SHA1),
    licence="none stated; research use",
    citation="Krizhevsky, Learning multiple layers of features from tiny images, 2009",
    load=load,
    suggested=PHOTOS,
)
