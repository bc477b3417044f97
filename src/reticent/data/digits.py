"""Handwritten digits of 8 x 8 pixels, which come with scikit-learn: 1,797 real records, no download.

Paper: Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits, UCI, doi 10.24432/C50P49 (its test part).
"""

import importlib.util
from pathlib import Path

import numpy as np

from reticent.data import archives
from reticent.data.entry import Arrays, DatasetEntry
from reticent.errors import MissingFileError


def read(_entry: DatasetEntry, _folder: Path, _verify: bool) -> Arrays:
    """Read the digits from the installed scikit-learn, without importing it (that takes seconds)."""
    spec = importlib.util.find_spec("sklearn")
    path = Path(spec.origin if spec and spec.origin else "sklearn").parent / "datasets" / "data" / "digits.csv.gz"
    if not path.is_file():
        raise MissingFileError(f"{path}: missing file of scikit-learn: pip install --force-reinstall scikit-learn")
    with archives.reading(path):
        table = np.loadtxt(path, delimiter=",", dtype=np.float32)
    return table[:, :-1] / np.float32(16), table[:, -1].astype(np.int64), {}
