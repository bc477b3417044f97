"""Adult: 48,842 people of the census of 1994, and whether each earned more than 50,000 dollars a year.

Paper: Becker and Kohavi (1996), Adult, UCI, doi 10.24432/C5XW20. The constants that standardise the six numbers
are the means and standard deviations of ``adult.data``, fixed here, so that they tell nothing of a membership.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from reticent.data import archives, official
from reticent.data.entry import Arrays, DatasetEntry
from reticent.data.records import Facts
from reticent.findings.population import ColumnReading

NUMBERS = {
    0: (38.58164675532078, 13.640223092304275),  # age
    2: (189778.36651208502, 105548.35688089082),  # fnlwgt
    4: (10.0806793403151, 2.5726808256012865),  # education-num
    10: (1077.6488437087312, 7385.178676947625),  # capital-gain
    11: (87.303829734959, 402.9540308274865),  # capital-loss
    12: (40.437455852092995, 12.347239075707988),  # hours-per-week
}
"""Column to mean and standard deviation."""

CATEGORIES = {
    1: "? Federal-gov Local-gov Never-worked Private Self-emp-inc Self-emp-not-inc State-gov Without-pay",
    3: "10th 11th 12th 1st-4th 5th-6th 7th-8th 9th Assoc-acdm Assoc-voc Bachelors Doctorate HS-grad Masters Preschool "
    "Prof-school Some-college",
    5: "Divorced Married-AF-spouse Married-civ-spouse Married-spouse-absent Never-married Separated Widowed",
    6: "? Adm-clerical Armed-Forces Craft-repair Exec-managerial Farming-fishing Handlers-cleaners Machine-op-inspct "
    "Other-service Priv-house-serv Prof-specialty Protective-serv Sales Tech-support Transport-moving",
    7: "Husband Not-in-family Other-relative Own-child Unmarried Wife",
    8: "Amer-Indian-Eskimo Asian-Pac-Islander Black Other White",
    9: "Female Male",
    13: "? Cambodia Canada China Columbia Cuba Dominican-Republic Ecuador El-Salvador England France Germany Greece "
    "Guatemala Haiti Holand-Netherlands Honduras Hong Hungary India Iran Ireland Italy Jamaica Japan Laos Mexico "
    "Nicaragua Outlying-US(Guam-USVI-etc) Peru Philippines Poland Portugal Puerto-Rico Scotland South Taiwan Thailand "
    "Trinadad&Tobago United-States Vietnam Yugoslavia",
}
"""Column to its categories; "?" (not known) is one of them."""

RACE, SEX, LABEL = 8, 9, 14
EARNED = ("<=50K", ">50K")
HEADER = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
"""What the authors call the columns; the files have no header."""


def read(entry: DatasetEntry, folder: Path, verify: bool) -> Arrays:
    """Read ``adult/adult.data`` and ``adult/adult.test``."""
    parts = official.read(folder, entry.files, _rows, verify=verify)
    fields = np.concatenate(parts)
    numbers = [_standardised(fields[:, j], j) for j in NUMBERS]
    one_hot = [_one_hot(fields[:, j], names.split(), j) for j, names in CATEGORIES.items()]
    readings = [_reading(fields[:, j], j) for j in (*NUMBERS, *CATEGORIES, LABEL)]
    label = np.char.rstrip(fields[:, LABEL], ".")
    split = np.repeat(["train", "test"], [len(part) for part in parts])
    columns = {"sex": fields[:, SEX], "race": fields[:, RACE], "split": split}
    x = np.concatenate([np.stack(numbers, axis=1), *one_hot], axis=1)
    facts: Facts = {"columns": columns, "readings": tuple(readings), "class_names": EARNED, "label": HEADER[LABEL]}
    return x, _one_hot(label, EARNED, LABEL)[:, 1].astype(np.int64), facts


def _reading(values: NDArray[np.str_], column: int) -> ColumnReading:
    distinct, missing = len(np.unique(values)), int(np.count_nonzero(values == "?"))
    read_as, width, note = "label", 0, ""
    if column in NUMBERS:
        mean, std = NUMBERS[column]
        read_as, width = "number", 1
        note = f"less its mean {mean:.6g}, over its standard deviation {std:.6g}, both of adult.data"
    elif column != LABEL:
        read_as, width = "category", len(CATEGORIES[column].split())
        distinct, note = distinct - bool(missing), "gaps (?) are a category of their own" if missing else ""
    return ColumnReading(
        column=HEADER[column],
        read_as=read_as,
        values=2 if column == LABEL else distinct,
        missing=missing,
        features=width,
        note=note,
    )


def _rows(stream: IO[bytes], path: Path) -> NDArray[np.str_]:
    # The test file's first line is a comment that begins with a bar.
    lines = [line for line in stream.read().decode("utf-8", "replace").splitlines() if line.strip() and line[0] != "|"]
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    for number, row in enumerate(rows):
        if len(row) != LABEL + 1:
            raise archives.damaged(path, f"record {number} has {len(row)} field{'s' * (len(row) != 1)}, expected 15")
    return np.array(rows, dtype=np.str_).reshape(-1, LABEL + 1)


def _standardised(values: NDArray[np.str_], column: int) -> NDArray[np.float32]:
    mean, std = NUMBERS[column]
    try:
        return ((values.astype(np.float64) - mean) / std).astype(np.float32)
    except ValueError as error:
        raise archives.damaged("adult", f"column {column} holds something that is no number: {error}") from None


def _one_hot(values: NDArray[np.str_], names: Sequence[str], column: int) -> NDArray[np.float32]:
    found: NDArray[np.bool_] = values[:, None] == np.array(names)
    wrong = np.flatnonzero(~found.any(axis=1))
    if len(wrong):
        what = f"record {wrong[0]} has {str(values[wrong[0]])!r} in column {column}, expected one of {names}"
        raise archives.damaged("adult", what)
    return found.astype(np.float32)
