"""Columns that look like a person's number are found by their name and their values, and said."""

import numpy as np
import pytest

from reticent.data.persons import person_columns
from reticent.data.records import Records
from reticent.findings.population import ColumnReading
from reticent.say.population import several_records


def records(columns=None, readings=()):
    rng = np.random.default_rng(0)
    return Records.make(rng.normal(size=(200, 3)), np.arange(200) % 2, columns=columns or {}, readings=readings)


@pytest.mark.parametrize("name", ["patient_nbr", "PersonID", "user", "subject id", "household", "customer-key", "MRN"])
def test_a_persons_number_is_found(name):
    [found] = person_columns(records({name: np.arange(200) % 70}))
    assert (found.column, found.persons, found.records) == (name, 70, 200)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("user_rating", np.arange(200) % 70),
        ("id", np.arange(200) % 70),
        ("patient_id", np.arange(200)),
        ("member", np.arange(200) % 2),
        ("age", np.arange(200) % 70),
    ],
)
def test_others_are_not(name, values):
    assert person_columns(records({name: values})) == ()


def test_a_column_that_models_see_is_found_too():
    reading = ColumnReading(column="patient_nbr", read_as="number", values=150, features=1)
    [found] = person_columns(records(readings=(reading,)))
    assert found.persons == 150
    [said] = several_records([found])
    assert said.startswith(
        "This audit is of records, not of persons: patient_nbr looks like a person's number, with 150 values in 200 "
        "records."
    )
