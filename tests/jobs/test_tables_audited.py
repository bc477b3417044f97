"""An audit of a table says what the models were fed, and does not pass an identifier over in silence."""

import csv
import json

import numpy as np
import pytest

import reticent
from reticent.errors import ColumnsError
from reticent.jobs.config import chosen, prepare

N = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table whose label is random, with two identifiers."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    lines = [
        f"{1000 + i},n{i},2020-01-{1 + i % 28:02d},{'red' if i % 3 else ''},{rng.integers(2)}"
        for i in rng.permutation(N)
    ]
    (folder / "t.csv").write_text("customer_id,name,day,colour,label\n" + "\n".join(lines))
    return folder


def audit(folder, **values):
    usual = {"models": 4, "epochs": 1, "workers": 1, "replicates": 100, "attacks": ["loss"], "architecture": "mlp"}
    return reticent.audit(dataset=folder / "t.csv", store=folder / "store", out=folder / "out", **usual | values)


def test_texts_that_name_records_are_refused_before_anything_is_trained(folder):
    with pytest.raises(ColumnsError, match=r"'name' has a text of its own for every record.*add --not-feature name"):
        audit(folder)
    assert not (folder / "store").exists()


@pytest.mark.words
def test_numbers_that_count_records_are_told_in_the_terminal_the_document_and_the_page(folder, caplog):
    audited = audit(folder, not_features="name", format="md")
    said = "Column 'customer_id': seems to number the records (counts from 1000 to 1119)"
    assert f"t.csv: column{said.removeprefix('Column')}" in caplog.text
    assert any(sentence.startswith(said) for sentence in audited.document["verdict"]["cannot_say"])
    document = json.loads((folder / "out" / "audit.json").read_text())
    columns = {column["column"]: column for column in document["data"]["columns"]}
    assert [(key, one["read_as"], one["features"], one["telling"]) for key, one in columns.items()] == [
        ("customer_id", "number", 1, True),
        ("name", "not a feature", 0, False),
        ("day", "date", 1, False),
        ("colour", "category", 2, False),
        ("label", "label", 0, False),
    ]
    assert (columns["colour"]["values"], columns["colour"]["missing"]) == (1, 40)
    table = [line.split(",") for line in (folder / "t.csv").read_text().split("\n")[1:]]
    with (folder / "out" / "records.csv").open(newline="") as file:
        named = {int(row["record"]): row["column_name"] for row in csv.DictReader(file)}
    assert named == {row: line[1] for row, line in enumerate(table)}
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "What the models were given: what each column" in page
    assert "taken over all records, members or not" in page
    assert page.count("Check this:") == 1
    assert r"Column 'customer\_id': seems to number the records" in (folder / "out" / "report.md").read_text()


def test_other_features_are_other_models_whoever_asks(folder):
    (folder / "a.toml").write_text('not_features = ["name", "customer_id"]\nscale = "standard"\n[hash]\ncolour = 4\n')

    def identity(config=None, **values):
        given = {"dataset": folder / "t.csv", "not_features": ["name", "customer_id"], "models": 4}
        return prepare(chosen(config, given | values)).population.training_id(0)

    every = [identity(), identity(scale="standard"), identity(hash={"colour": 4}), identity(rare={"colour": 100})]
    assert len(set(every)) == 4
    assert identity(folder / "a.toml") == identity(scale="standard", hash={"colour": 4})
