"""Location30, Purchase100 and Texas100: records of single bits, the first two with their class in front of them.

Papers: Shokri et al. (2017), Membership inference attacks against machine learning models; Yang et al. (2016) for
Location30; Kaggle's valued shoppers for Purchase100; Texan hospital discharges for Texas100.
"""

from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from reticent.data import archives, official
from reticent.data.entry import TABULAR, Archive, Arrays, Checksum, DatasetEntry, OfficialFile

BLOCK = 32 << 20
"""Bytes read at once."""
LONGEST = 8
"""Bytes that a label, its quotes and its comma may take."""


def read_bits(
    stream: IO[bytes], path: Path | str, *, width: int, labelled: bool
) -> tuple[NDArray[np.uint8], list[bytes]]:
    """Read rows of bits with commas, each preceded by a label if there is one.

    Cost:
        Twice the bits in memory, and about a second for 400 MB.
    """
    parts: list[NDArray[np.uint8]] = []
    labels: list[bytes] = []
    text, count = 2 * width - 1, 0
    while block := stream.readlines(BLOCK):
        lines = [line.removesuffix(b"\n").removesuffix(b"\r") for line in block]
        for number, line in enumerate(lines, count + 1):
            before = len(line) - text
            if not (2 <= before <= LONGEST if labelled else before == 0):
                after = " after a label" if labelled else ""
                what = f"line {number} has {len(line)} bytes: expected {width} bits with commas{after}"
                raise archives.damaged(path, what)
        rows = np.frombuffer(b"".join(line[-text - labelled :] for line in lines), np.uint8)
        rows = rows.reshape(len(lines), -1)
        bits = rows[:, int(labelled) :: 2] - np.uint8(ord("0"))
        bad = (bits > 1).any(axis=1) | (rows[:, 1 - labelled :: 2] != ord(",")).any(axis=1)
        if bad.any():
            number = count + int(np.argmax(bad)) + 1
            raise archives.damaged(
                path, f"line {number} holds something that is no bit: expected 0 or 1 between commas"
            )
        parts.append(bits)
        labels += [line[: -text - 1] for line in lines] if labelled else []
        count += len(lines)
    if not parts:
        raise archives.damaged(path, f"expected rows of {width} bits, got an empty file")
    return np.concatenate(parts), labels


def whole_numbers(texts: list[bytes], path: Path | str) -> NDArray[np.int64]:
    """Read labels, with or without quotes around them."""
    try:
        return np.array([int(text.strip(b'" ')) for text in texts], dtype=np.int64)
    except ValueError as error:
        raise archives.damaged(path, f"expected whole numbers as labels: {error}") from None


def _read(entry: DatasetEntry, folder: Path, verify: bool, *, width: int) -> Arrays:
    """Read rows of bits; their labels stand in front of them, or in a second file."""
    file, *others = entry.files
    parse = partial(read_bits, width=width, labelled=not others)
    ((features, texts),) = official.read(folder, [file], parse, verify=verify)
    for other in others:
        (content,) = official.read(folder, [other], official.whole, verify=verify)
        texts = [line for line in content.splitlines() if line.strip()]
    return features, whole_numbers(texts, entry.files[-1].path) - 1, {}


def _archive(name: str, blob: str, size: int | None = None) -> Archive:
    address = f"https://github.com/privacytrustlab/datasets/raw/master/{name}"
    return Archive(name, address, Checksum("git-blob-sha1", blob), size)


PAPER = "Shokri et al., Membership inference attacks against machine learning models, IEEE S&P 2017"

LOCATION30 = DatasetEntry(
    name="location30",
    title="Location30",
    summary="Places that people in Bangkok visited, as 446 bits a person, in 30 clusters.",
    kind="tabular",
    records=5_010,
    classes=30,
    files=(
        OfficialFile(
            "location/bangkok",
            archive=_archive("dataset_location.tgz", "0cfc2caa0c8c8569cd68a5d4ab369a98c1f98447", 287_293),
            member="bangkok",
            # Not published: summed here from the archive with the git id above.
            checksum=Checksum("sha256", "2ca8f7fc231251e089823e44d39f2d1eed124574cc351c7f80368cfe631dd718"),
            size=4_492_469,
        ),
    ),
    licence="none stated; research use",
    citation=f"{PAPER}; Yang et al., Participatory cultural mapping, ACM TIST 2016",
    read=partial(_read, width=446),
    suggested={**TABULAR, "models": 32},
)

PURCHASE100 = DatasetEntry(
    name="purchase100",
    title="Purchase100",
    summary="What customers bought, as 600 bits a customer, in 100 clusters.",
    kind="tabular",
    records=197_324,
    classes=100,
    files=(
        OfficialFile(
            "dataset_purchase",
            archive=_archive("dataset_purchase.tgz", "3efa7476ad5ed7ac3e558d28585a186b38fc5f19"),
            member="dataset_purchase",
        ),
    ),
    licence="rules of Kaggle's valued shoppers competition; research use",
    citation=PAPER,
    read=partial(_read, width=600),
    suggested=TABULAR,
)

TEXAS = _archive("dataset_texas.tgz", "966f7ff40b24cf5912ff84759aab9adb8c25f30e")

TEXAS100 = DatasetEntry(
    name="texas100",
    title="Texas100",
    summary="Stays in Texan hospitals, as 6,169 bits a stay, with 100 procedures as classes.",
    kind="tabular",
    records=67_330,
    classes=100,
    files=tuple(OfficialFile(path, archive=TEXAS, member=path) for path in ("texas/100/feats", "texas/100/labels")),
    licence="none stated; research use",
    citation=PAPER,
    read=partial(_read, width=6_169),
    suggested=TABULAR,
)
