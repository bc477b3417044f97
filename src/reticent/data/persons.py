"""Columns that look like the number of a person of whom there may be several records."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reticent.data.records import Records

FEWEST = 20
"""Different values that a column of persons' numbers has at least."""
WORDS = frozenset({
    "account",
    "client",
    "customer",
    "donor",
    "employee",
    "household",
    "member",
    "mrn",
    "participant",
    "patient",
    "person",
    "pupil",
    "ssn",
    "student",
    "subject",
    "user",
})
NUMBERS = frozenset({"code", "id", "ident", "identifier", "key", "no", "nr", "nbr", "num", "number"})


@dataclass(frozen=True)
class PersonColumn:
    """A column that looks like a person's number: how many different values it has, in how many records."""

    column: str
    persons: int
    records: int


def person_columns(records: Records) -> tuple[PersonColumn, ...]:
    """Find columns that are called like a person's number, and have fewer values than there are records.

    Columns that models do not see are looked at, and of a table those that they do.
    """
    return tuple(
        PersonColumn(column, values, len(records))
        for column, values in _counted(records)
        if FEWEST <= values < len(records) and _called(column)
    )


def _counted(records: Records) -> Iterator[tuple[str, int]]:
    for column, values in records.columns.items():
        yield column, len(np.unique(values.astype(np.str_))) if _called(column) else 0
    for reading in records.readings:
        if reading.column not in records.columns and reading.values is not None:
            yield reading.column, reading.values


def _called(column: str) -> bool:
    """Tell a name such as ``patient_nbr``, ``PersonID``, ``user`` or ``subject id`` from ``user_rating``."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", column)]
    return bool(WORDS.intersection(words)) and WORDS.union(NUMBERS).issuperset(words)
