"""Handwritten digits of 8 x 8 pixels, which come with scikit-learn: 1,797 real records, no download.

Paper: Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits, UCI, doi 10.24432/C50P49 (its test part).
"""

from pathlib import Path

import numpy as np

from reticent.data.entry import TABULAR, DatasetEntry
from reticent.data.records import Records


def load(folder: Path, *, verify: bool = True) -> Records:
    """Read the digits from the installed scikit-learn.

    Args:
        folder: not looked at.
        verify: not looked at; the data come with the package.

    Returns:
        64 features from 0 to 1 (the counts 0 to 16, divided by 16), which can be drawn as 8 x 8 pictures.
    """
    del folder, verify
    from sklearn.datasets import load_digits

    features, labels = load_digits(return_X_y=True)
    return Records.make(
        (features / 16).astype(np.float32),
        labels.astype(np.int64),
        class_names=tuple("0123456789"),
        picture=(8, 8),
        **ENTRY.facts(),
    )


ENTRY = DatasetEntry(
    name="digits",
    title="Digits",
    summary="Handwritten digits of 8 x 8 pixels that come with scikit-learn.",
    kind="tabular",
    records=1_797,
    classes=10,
    files=(),
    licence="CC BY 4.0",
    citation="Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI 1998, doi 10.24432/C50P49",
    load=load,
    suggested={**TABULAR, "learning_rate": 2e-3, "models": 64},
)
