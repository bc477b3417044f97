"""Image files: official ones of one size, and a user's own in one folder a class, as torchvision's ImageFolder takes.

A user's folders may lie below train, val and test.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reticent import user_files
from reticent.data.records import Facts
from reticent.errors import CorruptFileError, InputError

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
SPLITS = frozenset({"train", "training", "val", "valid", "validation", "test", "testing"})
CLUTTER = frozenset({"thumbs.db", "desktop.ini"})
"""What file managers leave; files and folders whose name begins with a dot are passed over too."""
GREY = frozenset({"1", "L", "LA"})
COLOURED = frozenset({"RGB", "RGBA", "RGBX", "P", "PA", "CMYK", "YCbCr", "LAB", "HSV"})
"""Pillow's modes of 8 bits a channel that become red, green and blue; transparency is dropped."""


def decode(paths: Sequence[Path], side: int) -> NDArray[np.uint8]:
    """Decode official image files of one size; grey ones become grey in three channels.

    Cost:
        About 0.1 ms a picture of 64 x 64.
    """
    pictures = np.empty((len(paths), 3, side, side), dtype=np.uint8)
    for i, path in enumerate(paths):
        pixels = _pixels(path, "unpack the archive again")
        if pixels.shape[1:] != (side, side):
            raise CorruptFileError(f"{path}: expected {side} x {side} pixels, got {_size(pixels)}")
        pictures[i] = pixels
    return pictures


def class_folders(folder: Path, expected: int) -> list[str]:
    """List the class folders of an official part, sorted by name: a class's number is its place."""
    names = _folders(folder) if folder.is_dir() else []
    if len(names) != expected:
        raise CorruptFileError(
            f"{folder}: expected {expected} class folders, got {len(names)}; unpack the archive again"
        )
    return names


def in_order(folder: Path, suffix: str) -> list[Path]:
    """List the image files of a folder in an order that no file system changes."""
    return sorted(folder.glob(f"*{suffix}"), key=lambda path: (len(path.name), path.name))


def read_folder(folder: Path, side: int | None = None) -> tuple[NDArray[np.uint8], NDArray[np.str_], Facts]:
    """Read a user's pictures: the array, the names of their classes, and the split as a column if there are several."""
    splits = _splits(folder)
    found = [
        (split, name, path)
        for split, place in splits
        for name in _folders(place)
        for path in _pictures(place / name, folder)
    ]
    names = sorted({name for _, name, _ in found})
    if len(names) < 2:
        raise InputError(
            f"{folder} is a folder: expected in it a folder for each of at least 2 classes, with pictures inside, or "
            f"x.npy and y.npy; got {f'pictures of {names[0]!r} alone' if names else 'none'}"
        )
    decoded = _decoded([path for _, _, path in found], side)
    columns = {"split": np.array([split for split, _, _ in found])} if len(splits) > 1 else {}
    return decoded, np.array([name for _, name, _ in found]), {"columns": columns}


def _splits(folder: Path) -> list[tuple[str, Path]]:
    """Find train, val and test, where there is nothing else."""
    names = _folders(folder)
    if names and SPLITS.issuperset(name.lower() for name in names) and all(_folders(folder / name) for name in names):
        return [(name, folder / name) for name in names]
    return [("", folder)]


def _folders(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _pictures(folder: Path, root: Path) -> list[Path]:
    """List the pictures of a class, in its folder and in those inside."""
    found = []
    for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).parts):
        if any(part.startswith(".") for part in path.relative_to(folder).parts) or path.name.lower() in CLUTTER:
            continue
        if path.is_dir():
            if path.is_symlink():
                raise InputError(f"{path}: is a link to a folder, which is not followed: move it away")
        elif path.name.lower().endswith(SUFFIXES):
            found.append(path)
        else:
            raise InputError(f"{path}: expected pictures alone ({', '.join(SUFFIXES)}): move other files away")
    if not found:
        raise InputError(f"{root}: the folder of the class {folder.name!r} holds no picture: remove it, or fill it")
    return found


def _decoded(paths: Sequence[Path], side: int | None) -> NDArray[np.uint8]:
    """Decode pictures into one array, which is grey where all of them are."""
    pictures: list[NDArray[np.uint8]] = []
    for path in paths:
        pixels = _pixels(path, "copy it again, or move it away", side)
        if pictures and pixels.shape[1:] != pictures[0].shape[1:]:
            raise InputError(
                f"expected pictures of one size, got {_size(pictures[0])} ({paths[0]}) and {_size(pixels)} ({path}): "
                "give --image-size 32, or another number of pixels: the shorter side of each is scaled to it, and its "
                "middle cut out"
            )
        pictures.append(pixels)
    shape = max(len(pixels) for pixels in pictures), *pictures[0].shape[1:]
    return np.stack([np.broadcast_to(pixels, shape) for pixels in pictures])


def _size(pixels: NDArray[np.uint8]) -> str:
    return f"{pixels.shape[2]} x {pixels.shape[1]}"


def _pixels(path: Path, remedy: str, side: int | None = None) -> NDArray[np.uint8]:
    """Decode one picture: ``(1, H, W)`` if it is grey, else ``(3, H, W)``."""
    from PIL import Image

    user_files.check_plain(path, "a picture")
    try:
        with Image.open(path) as picture:
            if picture.mode not in GREY | COLOURED:
                raise CorruptFileError(
                    f"{path}: has more than 8 bits a channel ({picture.mode}): write it anew with 8, as it is to reach "
                    "the network"
                )
            plain = picture.convert("L" if picture.mode in GREY else "RGB")
            pixels = np.asarray(plain if side is None else _middle(plain, side))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise CorruptFileError(f"{path}: cannot be read as an image ({error}); {remedy}") from None
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)


def _middle(picture: "Image", side: int) -> "Image":
    """Scale the shorter side to so many pixels, and cut out the middle."""
    from PIL.Image import Resampling

    width, height = picture.size
    short = min(width, height)
    size = max(side, round(width * side / short)), max(side, round(height * side / short))
    scaled = picture if size == picture.size else picture.resize(size, Resampling.BILINEAR)
    left, top = (size[0] - side) // 2, (size[1] - side) // 2
    return scaled.crop((left, top, left + side, top + side))
