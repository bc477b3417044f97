"""Files of scores: whether they can be written, before anything runs, and writing them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reticent.errors import InputError
from reticent.report.files import check_writable, make_folder, replacing
from reticent.report.output import check_file

ARRAYS = {".npy": b"\x93NUMPY", ".npz": b"PK\x03\x04"}
"""What a file of arrays begins with, by its ending."""


def check_scores(path: Path, attacks: int, inputs: Sequence[str | Path | None] = ()) -> None:
    """Check, before anything runs, that scores can be saved under a name."""
    check_file("scores", path, inputs, ARRAYS.get(path.suffix))
    if path.suffix not in {".npy", ".npz"}:
        raise InputError(f"scores: expected a path that ends in .npy or .npz, got {path.name!r}")
    if path.suffix == ".npy" and attacks != 1:
        raise InputError(
            f"scores: an .npy file holds the scores of one attack, got {attacks} attacks: give --attack NAME, "
            "or a path that ends in .npz"
        )
    check_writable(path.parent)


def save_scores(path: Path, scores: Mapping[str, NDArray[np.float64]]) -> Path:
    """Save scores: one attack's as ``.npy (T, N)``, several as ``.npz`` by the attack's name."""
    check_scores(path, len(scores))
    make_folder(path.parent)
    with replacing(path) as stream:
        if path.suffix == ".npy":
            np.save(stream, next(iter(scores.values())))
        else:
            np.savez(stream, **scores)  # type: ignore[arg-type]
    return path
