"""A user's pictures in one folder a class, as torchvision's ImageFolder takes them; also below train, val and test."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.data.pictures import opened
from reticent.errors import CorruptFileError, InputError

PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
SPLITS = frozenset({"train", "training", "val", "valid", "validation", "test", "testing"})
CLUTTER = frozenset({"thumbs.db", "desktop.ini"})
"""What file managers leave; files and folders whose name begins with a dot are passed over too."""
GREY = frozenset({"1", "L", "LA"})
COLOURED = frozenset({"RGB", "RGBA", "RGBX", "P", "PA", "CMYK", "YCbCr", "LAB", "HSV"})
"""Pillow's modes of 8 bits a channel that become red, green and blue; transparency is dropped."""


def read(folder: Path, side: int | None = None) -> tuple[NDArray[np.uint8], NDArray[np.str_], dict[str, Any]]:
    """Read the pictures of a folder."""
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
            f"{folder}: expected a folder for each of at least 2 classes, with pictures inside, or x.npy and y.npy; "
            f"got {f'pictures of {names[0]!r} alone' if names else 'none'}"
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
    """List the pictures of a class."""
    found = sorted(_files(folder), key=lambda path: path.relative_to(folder).parts)
    if not found:
        raise InputError(f"{root}: the folder of the class {folder.name!r} holds no picture: remove it, or fill it")
    return found


def _files(folder: Path) -> Iterator[Path]:
    """Go through the pictures of a folder and of those inside."""
    for place, inner, names in os.walk(folder):
        inner[:] = [name for name in inner if not name.startswith(".")]
        for name in inner:
            if (Path(place) / name).is_symlink():
                raise InputError(f"{Path(place) / name}: is a link to a folder, which is not followed: move it away")
        for name in names:
            if name.startswith(".") or name.lower() in CLUTTER:
                continue
            if not name.lower().endswith(PICTURES):
                kinds = ", ".join(PICTURES)
                raise InputError(f"{Path(place) / name}: expected pictures alone ({kinds}): move other files away")
            yield Path(place) / name


def _decoded(paths: Sequence[Path], side: int | None) -> NDArray[np.uint8]:
    """Decode pictures into one array, which is grey where all of them are."""
    pictures: list[NDArray[np.uint8]] = []
    for path in paths:
        pixels = _pixels(path, side)
        if pictures and pixels.shape[1:] != pictures[0].shape[1:]:
            raise InputError(
                f"expected pictures of one size, got {_size(pictures[0])} ({paths[0]}) and {_size(pixels)} ({path}): "
                "give --image-size 32, or another number of pixels: the shorter side of each is scaled to it, and its "
                "middle cut out"
            )
        pictures.append(pixels)
    channels = max(len(pixels) for pixels in pictures)
    result = np.empty((len(pictures), channels, *pictures[0].shape[1:]), dtype=np.uint8)
    for place, pixels in enumerate(pictures):
        result[place] = pixels
    return result


def _size(pixels: NDArray[np.uint8]) -> str:
    return f"{pixels.shape[2]} x {pixels.shape[1]}"


def _pixels(path: Path, side: int | None) -> NDArray[np.uint8]:
    """Decode one picture: ``(1, H, W)`` if it is grey, else ``(3, H, W)``."""
    with opened(path, "copy it again, or move it away") as picture:
        if picture.mode not in GREY | COLOURED:
            raise CorruptFileError(
                f"{path}: has more than 8 bits a channel ({picture.mode}): write it anew with 8, as it is to reach the "
                "network"
            )
        plain = picture.convert("L" if picture.mode in GREY else "RGB")
        pixels = np.asarray(plain if side is None else _middle(plain, side))
        return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)


def _middle(picture: Any, side: int) -> Any:
    """Scale the shorter side to so many pixels, and cut out the middle."""
    from PIL.Image import Resampling

    width, height = picture.size
    short = min(width, height)
    size = max(side, round(width * side / short)), max(side, round(height * side / short))
    scaled = picture if size == picture.size else picture.resize(size, Resampling.BILINEAR)
    left, top = (size[0] - side) // 2, (size[1] - side) // 2
    return scaled.crop((left, top, left + side, top + side))
