"""Fashion-MNIST: 70,000 pictures of clothes of 28 x 28 pixels.

Paper: Xiao, Rasul and Vollgraf (2017), Fashion-MNIST, arXiv 1708.07747.
"""

from pathlib import Path

from reticent.data import idx
from reticent.data.entry import GLYPHS, DatasetEntry
from reticent.data.records import Records

CLASSES = (
    "T-shirt/top",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)


def load(folder: Path, *, verify: bool = True) -> Records:
    """Read ``FashionMNIST/raw/*-ubyte``, plain or gzipped."""
    return idx.load(
        ENTRY.files, folder, verify=verify, class_names=CLASSES, mean=(0.28604,), std=(0.35302,), **ENTRY.facts()
    )


ENTRY = DatasetEntry(
    name="fashion-mnist",
    title="Fashion-MNIST",
    summary="Pictures of clothes of 28 x 28 pixels.",
    kind="image",
    records=70_000,
    classes=10,
    files=idx.files(
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
    load=load,
    suggested=GLYPHS,
)
