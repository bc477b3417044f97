"""MNIST: 70,000 handwritten digits of 28 x 28 pixels.

Paper: LeCun et al. (1998), Gradient-based learning applied to document recognition.
"""

from pathlib import Path

from reticent.data import idx
from reticent.data.entry import GLYPHS, DatasetEntry
from reticent.data.records import Records


def load(folder: Path, *, verify: bool = True) -> Records:
    """Read ``MNIST/raw/*-ubyte``, plain or gzipped."""
    return idx.load(
        ENTRY.files,
        folder,
        verify=verify,
        class_names=tuple("0123456789"),
        mean=(0.13066,),
        std=(0.30811,),
        **ENTRY.facts(),
    )


ENTRY = DatasetEntry(
    name="mnist",
    title="MNIST",
    summary="Handwritten digits of 28 x 28 pixels.",
    kind="image",
    records=70_000,
    classes=10,
    files=idx.files(
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
    load=load,
    suggested=GLYPHS,
)
