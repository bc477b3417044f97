"""Columns that look like the number of a person of whom there may be several records."""

import re
from collections.abc import Iterator

import numpy as np

from reticent.data.records import Records
from reticent.findings.population import PersonColumn

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
OTHERWISE = {"mrn": "patient", "ssn": "person", "member": "person"}
"""Words that do not say who has the number; a member is one of the training set."""
NUMBERS = frozenset({"code", "id", "ident", "identifier", "key", "no", "nr", "nbr", "num", "number"})


def person_columns(records: Records) -> tuple[PersonColumn, ...]:
    """Find columns that are called like a person's number, and have fewer values than there are records.

    Columns that models do not see are looked at, and of a table those that they do.
    """
    return tuple(
        PersonColumn(column=column, persons=values, records=len(records))
        for column, values in _counted(records)
        if FEWEST <= values < len(records) and person(column)
    )


def _counted(records: Records) -> Iterator[tuple[str, int]]:
    for column, values in records.columns.items():
        yield column, len(np.unique(values.astype(np.str_))) if person(column) else 0
    for reading in records.readings:
        if reading.column not in records.columns and reading.values is not None:
            yield reading.column, reading.values


def person(column: str) -> str | None:
    """Say whose number a column is by its name: ``patient_nbr`` a patient's, ``user_rating`` nobody's."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", column)]
    named = [word for word in words if word in WORDS]
    return OTHERWISE.get(named[0], named[0]) if named and WORDS.union(NUMBERS).issuperset(words) else None
