"""Folders of image files, decoded to one array."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reticent.errors import CorruptFileError, MissingExtraError

if TYPE_CHECKING:
    from PIL import Image

log = logging.getLogger(__name__)


@contextmanager
def opened(path: Path, remedy: str) -> Iterator["Image.Image"]:
    """Open an image file, and name it where anything is wrong with it while it is used."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtraError("pillow", "images", "reading image files") from None
    try:
        with Image.open(path) as picture:
            yield picture
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise CorruptFileError(f"{path}: cannot be read as an image ({error}); {remedy}") from None


def decode(paths: Sequence[Path], side: int) -> NDArray[np.uint8]:
    """Decode image files of one size; grey ones become grey in three channels.

    Cost:
        About 0.1 ms a picture of 64 x 64.
    """
    pictures = np.empty((len(paths), 3, side, side), dtype=np.uint8)
    for i, path in enumerate(paths):
        with opened(path, "unpack the archive again") as picture:
            pixels = np.asarray(picture.convert("RGB"))
        if pixels.shape != (side, side, 3):
            raise CorruptFileError(
                f"{path}: expected {side} x {side} pixels, got {pixels.shape[1]} x {pixels.shape[0]}"
            )
        pictures[i] = pixels.transpose(2, 0, 1)
    return pictures


def classes(folder: Path, expected: int) -> list[str]:
    """List the class folders of a part, sorted by name: a class's number is its place."""
    names = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    if len(names) != expected:
        raise CorruptFileError(
            f"{folder}: expected {expected} class folders, got {len(names)}; unpack the archive again"
        )
    return names


def in_order(folder: Path, suffix: str) -> list[Path]:
    """List the image files of a folder in an order that no file system changes."""
    return sorted(folder.glob(f"*{suffix}"), key=lambda path: (len(path.name), path.name))


def report_count(name: str, got: int, full: int) -> None:
    """Say so if an image folder holds only a part of the data set."""
    if got != full:
        log.warning("%s: the folder holds %s of %s images: the audit is of this part", name, f"{got:,}", f"{full:,}")
