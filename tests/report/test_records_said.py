"""What a page says of single records: the order of the list, the columns of the file, and one person."""

import pytest

from reticent.findings.audit import ExposureCount, Verdict
from reticent.findings.group_limits import ExposedGroup
from reticent.findings.population import Data
from reticent.findings.records import COLUMNS, RecordRow
from reticent.report.kinds.record_table import MEASURES, legend
from reticent.say import exposed_group, records
from reticent.say.epsilon import meaning
from reticent.say.exposure import spoken

FEW = ExposureCount(records=1797, exposed=0, confidence=0.95, models=16, memberships=12870)
NONE = ExposureCount(records=1000, exposed=0, confidence=0.95, models=64, distance_needed=4.2)
SOME = ExposureCount(records=1000, exposed=3, confidence=0.95, models=64, distance_needed=4.2)
DATA = Data(name="mine", records=1000, classes=2)


def test_every_column_of_the_file_is_explained_once():
    assert set(records.COLUMNS) == set(COLUMNS)
    assert all(said.endswith(".") for said in records.COLUMNS.values())
    assert {one.key for one in MEASURES} <= set(records.COLUMNS)


def test_the_legend_names_the_columns_that_hold_something_and_the_groups():
    row = RecordRow(record=1, label=0, label_name="0", models_in=2, models_out=2, risk_score=0.7, groups={"sex": "f"})
    (terms,) = legend([row]).blocks
    assert [name for name, _ in terms.items] == [
        "record", "label", "label_name", "risk_score", "models_in", "models_out", "group_sex",
    ]  # fmt: skip


@pytest.mark.parametrize("found", [FEW, NONE])
def test_nothing_is_to_be_protected_first_where_no_record_is_shown_to_leak(found):
    said = records.order(found) + spoken(found).sentence
    assert "protect" not in said
    assert "not a finding" in said


def test_what_leaks_beyond_doubt_is_to_be_protected_first():
    """They are named by their p: the exact test may rank another record first than the exposure does."""
    assert "Protect first the 3 records whose corrected p is at most 5 %, which need not" in records.order(SOME)
    assert "Protect first the record whose corrected p" in records.order(SOME.with_(exposed=1))
    unknown = "How much single records leak is not known here."
    assert records.order(None) == records.order(FEW.with_(records=0)) == unknown
    whole = "Here a record is one patient with all its records, in the table “By patient”. "
    assert records.by_unit(DATA.with_(unit="patient", units=9)) == whole
    assert records.by_unit(DATA) == ""
    assert "how much one patient with all its records may change" in meaning("patient")
    assert "how much a single record may change" in meaning(None)


def test_one_person_is_told_what_could_be_shown():
    few, some = (" ".join(records.one_person(one, DATA)) for one in (FEW, SOME))
    assert "cannot be shown by 16 models: 18 or more could" in few
    assert "18 models are needed" in spoken(FEW).sentence
    assert "if its corrected p is at most 5 %" in some
    assert "one patient with all its records" in " ".join(records.one_person(FEW, DATA.with_(unit="patient", units=9)))


@pytest.mark.parametrize(("tpr", "attack", "told"), [(0.02, "lira", True), (0.2, "lira", False), (0.02, "rmia", False)])
def test_a_group_that_leaks_more_says_by_which_figure(tpr, attack, told):
    group = ExposedGroup(
        by="class", name="1", records=50, attack=attack, auc=0.8, auc_least=0.7, others=0.6, p_corrected=0.001,
        groups=2, attacks=2, tpr=tpr, false_alarms=0.01,
    )  # fmt: skip
    said = Verdict(attack="lira", best_of=2, fpr=0.01, tpr=0.1, auc=0.6, confidence=0.95, leak="found", group=group)
    assert "leaks more, by the AUC: " in exposed_group.sentence(group, ())
    assert ("smaller share than of all training records" in " ".join(exposed_group.details(said, group, ()))) is told
