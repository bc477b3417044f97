"""Groups of records, end to end: columns of data sets, arrays of outputs, the command line, and what is refused."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import reticent
from reticent.cli import app
from reticent.data.load import load
from reticent.errors import InputError, ShapeError, SpecError, UnknownNameError
from reticent.jobs.config import chosen, prepare
from reticent.jobs.signals_file import read_signals

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
PEOPLE = 360


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A csv file of people; the labels of those from the north are noise, which models can only learn by heart."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(PEOPLE, 6))
    north = np.arange(PEOPLE) % 3 == 0
    income = np.where(north, rng.integers(0, 2, PEOPLE), x[:, 0] > 0).astype(int)
    path = tmp_path_factory.mktemp("people") / "people.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["income", *(f"x{i}" for i in range(6)), "region", "age"])
        for i in range(PEOPLE):
            region = "north" if north[i] else ("south" if i % 2 else "")
            writer.writerow([income[i], *x[i].round(4), region, 20 + i % 50])
    return path


@pytest.fixture(scope="module")
def audited(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    return reticent.audit(
        dataset=people, label="income", models=8, epochs=40, learning_rate=0.02, optimizer="adam", workers=1,
        device="cpu", replicates=100, attacks=["loss", "rmia"], group_by=["region", "age"], store=folder / "s",
        out=folder / "o",
    )  # fmt: skip


@pytest.mark.slow
def test_groups_of_a_table_end_to_end(audited):
    groups = {entry["by"]: entry for entry in audited.document["groups"]}
    assert list(groups) == ["class", "region", "age"]
    assert [g["name"] for g in groups["region"]["groups"]] == ["north", "south", "(missing)"]
    assert [g["records"] for g in groups["region"]["groups"]] == [120, 120, 120]
    assert [g["name"] for g in groups["age"]["groups"]] == ["20 to 31", "32 to 44", "45 to 57", "58 to 69"]
    for entry in groups.values():
        assert entry["attack"] == audited.document["verdict"]["attack"]
        assert entry["fpr"] == audited.document["verdict"]["fpr"]
        assert sum(g["records"] for g in entry["groups"]) == PEOPLE
    assert groups["region"]["most_exposed"] == "north"
    assert groups["region"]["sentence"].startswith('The most exposed group by region is "north": ')
    assert groups["age"]["most_exposed"] is None
    north = groups["region"]["groups"][0]
    assert north["memorisation"]["interval"][0] > groups["region"]["groups"][1]["memorisation"]["interval"][1]


@pytest.mark.slow
def test_rows_hold_the_groups_and_the_new_columns(audited):
    with next(file for file in audited.files if file.suffix == ".csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert len(lines) == PEOPLE
    by_record = {row["record"]: row for row in audited.rows}
    for line in lines[:50]:
        row = by_record[int(line["record"])]
        i = int(line["record"])
        assert line["group_region"] == ("north" if i % 3 == 0 else "south" if i % 2 else "(missing)")
        low, high = line["group_age"].split(" to ")
        assert int(low) <= 20 + i % 50 <= int(high)
        assert 0 <= float(line["probability_low"]) <= float(line["probability"]) <= float(line["probability_high"]) <= 1
        assert float(line["distance"]) == row["distance"]
        assert float(line["memorisation_soft"]) == row["memorisation_soft"]
    assert "group_class" not in lines[0]


@pytest.mark.slow
def test_the_document_counts_the_records_that_are_beyond_doubt(audited):
    told = audited.document["exposure"]
    assert told["records"] == PEOPLE
    assert told["exposed"] == sum(row["distance_p_corrected"] <= 0.05 for row in audited.rows)
    json.dumps(audited.document, allow_nan=False)


@pytest.mark.slow
def test_the_probability_is_online_liras_whatever_attacks_run(brought):
    with_lira = reticent.attack(**brought, attacks=["lira"], replicates=100)
    other = reticent.attack(
        **brought,
        attacks=["loss", "lira"],
        options={"lira": {"variance": "pooled", "centre": "median"}},
        replicates=100,
    )
    one, two = ({row["record"]: row["probability"] for row in done.rows} for done in (with_lira, other))
    assert one == two
    ratios, members = with_lira.scores["lira"], brought["membership"]
    expected = (1 / (1 + np.exp(-ratios[members[:, 7], 7]))).mean()
    assert one[7] == pytest.approx(expected)


@pytest.mark.slow
def test_two_models_have_no_probability(brought):
    few = {"labels": brought["labels"], "margins": np.zeros((2, 200)), "membership": brought["membership"][:2].copy()}
    few["membership"][1] = ~few["membership"][0]
    done = reticent.attack(**few, attacks=["loss"], replicates=100)
    assert {row["probability"] for row in done.rows} == {row["probability_high"] for row in done.rows} == {None}


@pytest.mark.slow
def test_a_column_that_is_not_there_is_named_with_those_that_are(people):
    with pytest.raises(UnknownNameError, match="unknown column in group_by 'regions': did you mean 'region'"):
        prepare(chosen(None, {"dataset": people, "label": "income", "group_by": ["regions"]}))
    with pytest.raises(UnknownNameError, match="'gender': expected one of age, region, x0, x1"):
        prepare(chosen(None, {"dataset": people, "label": "income", "group_by": ["gender"]}))


def test_data_without_columns_say_so():
    with pytest.raises(InputError, match=r"group_by: digits has no columns besides its classes, so .* no 'sex'"):
        prepare(chosen(None, {"dataset": "digits", "group_by": ["sex"]}))


@pytest.mark.slow
def test_columns_are_asked_for_once_and_classes_are_always_there(people):
    values = {"dataset": people, "label": "income", "models": 4}
    with pytest.raises(InputError, match="each column once, got 'age' more than once"):
        prepare(chosen(None, values | {"group_by": ["age", "age"]}))
    job = prepare(chosen(None, values | {"group_by": ["class"]}))
    assert [partition.by for partition in job.partitions] == ["class"]
    (_, age) = prepare(chosen(None, values | {"group_by": "age"})).partitions
    assert age.by == "age"


def test_too_many_groups_are_refused_before_training(tmp_path):
    rng = np.random.default_rng(0)
    codes = np.array([f"Z{i}" for i in range(300)])
    np.savez(tmp_path / "d.npz", x=rng.normal(size=(300, 3)), y=np.arange(300) % 2, zip=codes)
    with pytest.raises(InputError, match="'zip' has 300 different values, at most 200"):
        prepare(chosen(None, {"dataset": tmp_path / "d.npz", "models": 4, "group_by": ["zip"]}))


def test_arrays_of_a_file_are_columns_and_change_no_identity(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    np.savez(tmp_path / "plain.npz", x=x, y=y)
    np.savez(tmp_path / "more.npz", x=x, y=y, sex=np.array(["f", "m"] * 20), other=np.arange(3))
    more = load(tmp_path / "more.npz")
    assert list(more.columns) == ["sex"]
    assert more.digest == load(tmp_path / "plain.npz").digest


@pytest.mark.slow
def test_grouping_changes_no_model(people):
    values = {"dataset": people, "label": "income", "models": 4}
    runs = [prepare(chosen(None, values | more)).population.training_id(0) for more in ({}, {"group_by": ["age"]})]
    assert runs[0] == runs[1]


@pytest.fixture(scope="module")
def brought():
    rng = np.random.default_rng(1)
    membership = rng.permuted(np.tile([True, False], (200, 6)), axis=1).T
    shift = np.where(np.arange(200) < 80, 2.5, 0.3)
    return {
        "labels": np.arange(200) % 2,
        "membership": membership,
        "margins": rng.normal(size=(12, 200)) + shift * membership,
    }


def sexes():
    return np.where(np.arange(200) < 80, "f", "m")


@pytest.mark.slow
def test_groups_of_outputs_in_python(brought):
    done = reticent.attack(**brought, groups={"sex": sexes()}, replicates=100)
    by_class, sex = done.document["groups"]
    assert (by_class["by"], by_class["most_exposed"]) == ("class", None)
    assert sex["most_exposed"] == "f"
    assert {row["group_sex"] for row in done.rows if row["record"] < 80} == {"f"}
    with pytest.raises(ShapeError, match=r"'sex': expected one value a record, \(200,\)"):
        reticent.attack(**brought, groups={"sex": sexes()[1:]}, replicates=100)


def run(tokens):
    with pytest.raises(SystemExit) as ended:
        app([str(token) for token in tokens])
    return ended.value.code


@pytest.mark.slow
def test_groups_of_outputs_on_the_command_line(brought, tmp_path, capsys):
    file = tmp_path / "outputs.npz"
    np.savez(file, **brought, sex=sexes())
    assert run(["attack", "--signals", file, "--attack", "lira", "--group-by", "sex", "--out", tmp_path / "o"]) in {
        0,
        None,
    }
    document = json.loads((tmp_path / "o" / "audit.json").read_text())
    assert [entry["by"] for entry in document["groups"]] == ["class", "sex"]
    assert document["groups"][1]["most_exposed"] == "f"
    capsys.readouterr()


@pytest.mark.slow
def test_arrays_of_outputs_are_checked(brought, tmp_path):
    file = tmp_path / "outputs.npz"
    np.savez(file, **brought, sex=sexes(), age=np.arange(200))
    with pytest.raises(SpecError, match="no array 'race' to group records by; besides the outputs it holds age, sex"):
        read_signals(file, ["race"])
    with pytest.raises(SpecError, match="no array 'margins' to group"):
        read_signals(file, ["margins"])
    assert sorted(read_signals(file, ["sex", "age", "class"]).groups) == ["age", "sex"]
    x = np.arange(200.0)[:, None]
    records = reticent.Records.make(x, np.arange(200) % 2, columns={"race": np.arange(200) % 3})
    groups = read_signals(file, ["sex", "race"], records=records).groups
    assert groups["race"].tolist() == records.columns["race"].tolist()
    with pytest.raises(SpecError, match="it holds age, sex, and the records have the columns race"):
        read_signals(file, ["zip"], records=records)


@pytest.mark.slow
def test_arrays_that_are_not_asked_for_are_named_and_those_that_are_misspelt_refused(brought, tmp_path, capsys):
    file = tmp_path / "outputs.npz"
    np.savez(file, **brought, sex=sexes(), age=np.arange(200), note=np.array("from the lab"))
    outputs = read_signals(file, ["sex"])
    assert (list(outputs.groups), outputs.ungrouped) == (["sex"], ("age",))
    assert run(["attack", "--signals", file, "--attack", "lira", "--out", tmp_path / "o"]) in {0, None}
    told = "Whether records differ by sex, age is not known"
    assert told in capsys.readouterr().out
    said = json.loads((tmp_path / "o" / "audit.json").read_text())["verdict"]["cannot_say"]
    assert any(line.startswith(told) for line in said)
    np.savez(file, **brought, target=np.array([0, 1]))
    with pytest.raises(SpecError, match="unknown array 'target': did you mean 'targets'"):
        read_signals(file)


@pytest.mark.slow
def test_a_column_that_is_called_class_is_not_the_classes(brought, tmp_path):
    values = np.where(np.arange(200) < 80, "first", "third")
    groups = reticent.attack(**brought, groups={"class": values}, attacks="lira", replicates=100).document["groups"]
    assert [entry["by"] for entry in groups] == ["class", "column class"]
    assert groups[1]["most_exposed"] == "first"
    file = tmp_path / "outputs.npz"
    np.savez(file, **brought, **{"class": values})
    assert list(read_signals(file, ["class"]).groups) == ["class"]
    lines = [f"{i},{i % 2},{values[i]}" for i in range(200)]
    (tmp_path / "ship.csv").write_text("age,survived,class\n" + "\n".join(lines))
    asked = {"dataset": tmp_path / "ship.csv", "label": "survived", "models": 4}
    job = prepare(chosen(None, asked | {"group_by": ["class"]}))
    assert [partition.by for partition in job.partitions] == ["class", "column class"]
    assert job.partitions[1].names == ("first", "third")
    with pytest.raises(InputError, match="group_by: 'survived' is the label's column, and records are always grouped"):
        prepare(chosen(None, asked | {"group_by": ["survived"]}))


def test_a_column_that_is_no_feature_may_have_gaps_and_any_texts(tmp_path):
    lines = [f"p{i},{i / 7:.3f},{'' if i % 3 else i % 2},{i % 2}" for i in range(600)]
    (tmp_path / "t.csv").write_text("id,x,smoker,label\n" + "\n".join(lines))
    values = {"dataset": tmp_path / "t.csv", "models": 4}
    with pytest.raises(InputError, match=r"'id' has a text of its own for every record"):
        prepare(chosen(None, values))
    with pytest.raises(InputError, match=r"'smoker' is empty or NaN in 400 of 600 records.* --missing indicator"):
        prepare(chosen(None, values | {"not_features": "id"}))
    job = prepare(chosen(None, values | {"not_features": ["id", "smoker"], "group_by": "smoker"}))
    assert job.records.x.shape == (600, 1)
    assert job.partitions[1].names == ("0", "1", "(missing)")
    with pytest.raises(UnknownNameError, match=r"column in not_features of .* 'ids': did you mean 'id'"):
        prepare(chosen(None, values | {"not_features": ["ids"]}))
    with pytest.raises(InputError, match="not_features: 'label' is the label's column"):
        prepare(chosen(None, values | {"not_features": ["label"]}))
    with pytest.raises(InputError, match=r"not_features: is about columns of a table .*, got digits"):
        prepare(chosen(None, {"dataset": "digits", "not_features": ["id"]}))


@pytest.mark.slow
@pytest.mark.skipif(
    not (SHARED / "make_official.py").is_file(), reason=f"the copies of the real data are not at {SHARED}"
)
def test_adult_by_sex_and_race(tmp_path):
    command = [sys.executable, str(SHARED / "make_official.py"), str(tmp_path), "adult"]
    subprocess.run(command, check=True, capture_output=True)
    audited = reticent.audit(
        dataset="adult", data_dir=tmp_path, records=1000, models=6, epochs=6, workers=1, device="cpu", replicates=100,
        attacks=["loss", "rmia"], group_by=["sex", "race"], store=tmp_path / "s", out=tmp_path / "o",
    )  # fmt: skip
    groups = {entry["by"]: entry for entry in audited.document["groups"]}
    assert [g["name"] for g in groups["sex"]["groups"]] == ["Female", "Male"]
    assert {g["name"] for g in groups["race"]["groups"]} >= {"Asian-Pac-Islander", "Black", "White"}
    classes = groups["class"]["groups"]
    # The rarer class is learned by heart.
    assert classes[1]["auc"]["mean"] > classes[0]["auc"]["mean"]
    sexes = {row["group_sex"] for row in audited.rows}
    assert sexes == {"Female", "Male"}
    assert (tmp_path / "o" / "report.html").stat().st_size > 10_000
