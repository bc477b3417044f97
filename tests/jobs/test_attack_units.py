"""Outputs that were brought, of persons with several records: what is found is of persons, and so are the intervals.

Of 100 audits by lira, rmia and loss of one model with 16 shadows, 60 persons of 10 records that are alike in a model,
and no leak, 30 by record find one, and 7 by person.
"""

import csv
import pathlib

import numpy as np
import pytest

import reticent
from reticent.cli import app
from reticent.cli.run import guarded
from reticent.errors import InputError, ShapeError, SpecError

PERSONS, EACH = 60, 10


def brought(seed, models, leak=0.0):
    """Margins of persons whose records are alike in a model."""
    rng = np.random.default_rng(seed)
    whose = np.repeat(np.arange(PERSONS), EACH)
    membership = rng.permuted(np.tile(np.arange(PERSONS) < PERSONS // 2, (models, 1)), axis=1)[:, whose]
    alike = 0.8 * rng.normal(size=(models, PERSONS))[:, whose]
    margins = 1.5 + rng.normal(0, 1.5, PERSONS)[whose] + rng.normal(size=len(whose)) + alike + leak * membership
    margins = margins + rng.normal(size=margins.shape)
    return {"margins": margins, "membership": membership, "labels": rng.integers(0, 2, len(whose))}, whose


def test_of_one_model_persons_alike_show_no_leak_by_person_and_one_by_record():
    found = []
    for seed in range(30):
        arrays, whose = brought(seed, 17)
        said = {"targets": [0], "replicates": 100, "attacks": ["lira", "rmia", "loss"], **arrays}
        found.append([reticent.attack(**said, units=units).findings.verdict.leak == "found" for units in (None, whose)])
    by_record, by_person = np.sum(found, axis=0)
    assert by_record >= 5
    assert by_person <= 3


def test_a_leak_is_found_by_person_and_each_is_listed():
    arrays, whose = brought(0, 12, leak=1.5)
    found = reticent.attack(**arrays, units=whose, replicates=100)
    assert found.findings.verdict.leak == "found"
    assert (found.findings.data.unit, found.findings.data.units, found.findings.data.unit_score) == (
        "unit",
        PERSONS,
        "mean",
    )
    assert sorted(int(row.unit) for row in found.units) == list(range(PERSONS))
    assert {row.records for row in found.units} == {EACH}
    assert len(found.rows) == PERSONS * EACH


def test_the_records_of_a_person_are_members_together():
    arrays, whose = brought(0, 6)
    arrays["membership"][2, 15] ^= True
    with pytest.raises(ShapeError, match=r"expected all records of one unit in the training set of a model, or none"):
        reticent.attack(**arrays, units=whose)


@pytest.mark.parametrize("by", ["labels", "records"])
def test_persons_that_differ_without_the_model_are_told_apart_by_person(by):
    arrays, whose = brought(0, 8)
    one = arrays["membership"][:1].repeat(8, axis=0)
    further = {}
    if by == "labels":
        arrays["labels"] = (one[0] ^ (np.random.default_rng(0).random(len(whose)) < 0.2)).astype(int)
    else:
        features = np.random.default_rng(0).normal(size=(len(whose), 3)) + 2 * one[0][:, None]
        further = {"records": features}
    found = reticent.attack(**arrays | {"membership": one}, units=whose, replicates=100, **further).findings
    assert found.blind.shift
    assert found.blind.records == PERSONS
    assert (found.verdict.leak, found.blind.by) == ("cannot tell", {"labels": "sizes"}.get(by, by))


def test_persons_of_many_records_that_are_members_more_often_are_told_by_their_sizes():
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 20, 120)
    whose, members = np.repeat(np.arange(120), sizes), rng.random(120) < np.where(sizes > 10, 0.75, 0.25)
    membership = np.vstack([members, np.zeros((8, 120), bool)])[:, whose]
    said = {"labels": rng.integers(0, 2, len(whose)), "membership": membership, "targets": [0], "replicates": 100}
    margins = 1.5 + rng.normal(size=membership.shape)
    found = reticent.attack(margins=margins, units=whose, unit_score="sum", **said).findings
    assert (found.verdict.leak, found.verdict.reason) == ("cannot tell", "shift")


def test_units_that_fit_nothing_are_refused():
    arrays, whose = brought(0, 6)
    with pytest.raises(ShapeError, match="units: expected one value for each of 600 records, got 599"):
        reticent.attack(**arrays, units=whose[:-1])
    with pytest.raises(ShapeError, match=r"shape \(N,\), got shape \(600, 1\)"):
        reticent.attack(**arrays, units=whose[:, None])
    with pytest.raises(SpecError, match="unit_score"):
        reticent.attack(**arrays, units=whose, unit_score="median")


def test_of_persons_brought_under_several_names_one_is_audited():
    arrays, whose = brought(0, 8)
    twice = {name: np.concatenate([values, values], axis=-1) for name, values in arrays.items()}
    again = np.concatenate([whose, (whose + 7) % PERSONS + PERSONS])
    twice["margins"][:, -EACH:] = np.random.default_rng(1).normal(size=(8, EACH))  # One more of other records.
    found = reticent.attack(**twice, units=again, replicates=100, attacks=["lira"]).findings
    assert found.data.units == PERSONS + 1


def test_how_scores_are_joined_needs_units():
    arrays, _ = brought(0, 6)
    with pytest.raises(InputError, match=r"unit_score: .* say whose each record is too"):
        reticent.attack(**arrays, unit_score="sum")


def test_a_group_is_not_called_as_the_units_are():
    arrays, whose = brought(0, 6)
    with pytest.raises(InputError, match="groups: 'unit' is what the audited units are called"):
        reticent.attack(**arrays, units=whose, groups={"unit": whose})


def test_compare_of_outputs_refuses_units(tmp_path, capsys):
    arrays, whose = brought(0, 6)
    np.savez(tmp_path / "a.npz", **arrays, person=whose)
    assert guarded(app, ["compare", str(tmp_path / "a.npz"), str(tmp_path / "a.npz"), "--unit", "person"]) == 2
    assert "only reticent audit and attack are of units" in capsys.readouterr().err


def test_the_command_reads_whose_each_record_is_from_either_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arrays, whose = brought(0, 6)
    np.savez("outputs.npz", **arrays, person=whose)
    words = ["attack", "--signals", "outputs.npz", "--unit", "person", "--attack", "lira", "--out", "one"]
    assert guarded(app, words) == 0
    np.savez("others.npz", **arrays)
    with pathlib.Path("table.csv").open("w") as stream:
        table = csv.writer(stream)
        table.writerow(["a", "person", "label"])
        table.writerows(zip(np.arange(len(whose)) % 7, whose, arrays["labels"], strict=True))
    told = ["--records", "table.csv", "--not-feature", "person", "--unit", "person", "--attack", "lira"]
    assert guarded(app, ["attack", "--signals", "others.npz", *told, "--out", "two"]) == 0
    one, two = (pathlib.Path(f"{name}/units.csv").read_text() for name in ("one", "two"))
    assert one == two
    assert len(one.splitlines()) == PERSONS + 1
    capsys.readouterr()
    assert guarded(app, ["attack", "--signals", "others.npz", "--unit", "person"]) == 2
    told = "others.npz: unit: there is no array 'person' that tells whose each record is; it holds none that has"
    assert told in capsys.readouterr().err
    assert guarded(app, ["attack", "--signals", "none.npz", "--records", "nothing.csv"]) == 2
    assert "no file 'none.npz'" in capsys.readouterr().err
    assert guarded(app, ["attack", "--signals", "outputs.npz", "--unit", "persn"]) == 2
    assert "whose each record is: did you mean 'person'?" in capsys.readouterr().err
    assert guarded(app, ["attack", "--signals", "outputs.npz", "--unit", "person", "--group-by", "person"]) == 2
    assert "every unit is listed by itself" in capsys.readouterr().err
    assert guarded(app, ["attack", "--signals", "outputs.npz", "--unit-score", "sum"]) == 2
    assert "unit_score: joins the scores of a unit's records: say whose each record is too" in capsys.readouterr().err
