"""TinyImageNet: 110,000 labelled photographs of 64 x 64 pixels in 200 classes.

Paper: Le and Yang (2015), Tiny ImageNet visual recognition challenge. Its 10,000 test images, unlabelled, are left out.
"""

from pathlib import Path

import numpy as np

from reticent.data import images, official
from reticent.data.entry import Arrays, DatasetEntry
from reticent.data.records import Facts
from reticent.errors import CorruptFileError


def read(entry: DatasetEntry, folder: Path, verify: bool) -> Arrays:
    """Read ``tiny-imagenet-200/{train,val}``; the official archive is unpacked first."""
    root = official.tree(folder, entry.files[0], verify=verify)
    names = images.class_folders(root / "train", entry.classes)
    number = {name: i for i, name in enumerate(names)}
    train = [
        (path, i) for name, i in number.items() for path in images.in_order(root / "train" / name / "images", ".JPEG")
    ]
    val = _validation(root / "val", number)
    split = np.repeat(["train", "val"], [len(train), len(val)])
    facts: Facts = {"class_names": _words(root / "words.txt", names), "columns": {"split": split}}
    labels = np.array([label for _, label in train + val], dtype=np.int64)
    return images.decode([path for path, _ in train + val], 64), labels, facts


def _validation(folder: Path, number: dict[str, int]) -> list[tuple[Path, int]]:
    notes = folder / "val_annotations.txt"
    try:
        rows = [line.split("\t")[:2] for line in notes.read_text(encoding="utf-8").splitlines() if line.strip()]
        labels = {name: number[wnid] for name, wnid in rows}
        return [(path, labels[path.name]) for path in images.in_order(folder / "images", ".JPEG")]
    except KeyError as error:
        raise CorruptFileError(f"{notes}: has no class for {error.args[0]}; unpack the archive again") from None
    except (OSError, ValueError) as error:
        raise CorruptFileError(
            f"{notes}: expected lines of a file name and a class ({error}); unpack the archive again"
        ) from None


def _words(path: Path, names: list[str]) -> tuple[str, ...]:
    """Give each class its first English name, or its WordNet name where there is none."""
    if not path.is_file():
        return tuple(names)
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    words = {row[0]: row[1].split(",")[0] for row in rows if len(row) > 1}
    return tuple(words.get(name, name) for name in names)
