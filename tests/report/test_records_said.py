"""What a page says of single records: the order of the list, the columns of the file, and one person."""

import pytest

from reticent.auditing.units import SEVERAL
from reticent.findings.attack import Audit, Overall, TargetAccuracy, TargetAudit
from reticent.findings.audit import ExposureCount, Group, GroupDifference, Grouping, Verdict
from reticent.findings.blind import Excess
from reticent.findings.group_limits import ExposedGroup
from reticent.findings.numbers import Area, PairedDifference, ShareEstimate
from reticent.findings.population import Data
from reticent.findings.record_tests import NamedRecords
from reticent.findings.records import COLUMNS, RecordRow
from reticent.report.blocks import MARKDOWN, Table
from reticent.report.kinds import groups
from reticent.report.kinds.record_table import MEASURES, legend, table
from reticent.say import evidence, exposed_group, record_tests, records, verdict
from reticent.say.epsilon import meaning
from reticent.say.exposed_group import named
from reticent.say.exposure import spoken
from reticent.say.population import noun

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
    assert "whether one patient, with all its records, was used" in meaning("patient")
    assert "whether a single record was used" in meaning(None)


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
    assert "leaks more: there, " in exposed_group.sentence(group, (), "record")
    details = " ".join(exposed_group.details(said, group, (), "record"))
    assert ("smaller share than of all training records" in details) is told


def test_p_values_are_held_against_the_level_that_was_asked_for():
    """0.0099 is below 0.01, and not below 0.005; at the usual level three decimals tell its side."""
    row = RecordRow(record=1, label=0, label_name="a", models_in=8, models_out=8, distance_p_corrected=0.0099)
    group = Group(name="a", difference=GroupDifference(mean=0.1, interval=(0, 0.2), p=0.0099, p_corrected=0.0099))
    for confidence, text, tone in ((0.99, "0.0099", "bad"), (0.95, "0.010", "bad"), (0.995, "0.010", "usual")):
        cells = [cell for line in table([row], confidence).rows for cell in line]
        assert [cell.tone for cell in cells if cell.text == text] == [tone]
        said = Grouping(by="sex", groups=(group,), confidence=confidence)
        [drawn] = [one for one in groups.blocks([said], ()) if isinstance(one, Table) and MARKDOWN & one.only]
        assert drawn.rows[0][7].text == text


def test_models_of_different_sizes_are_in_the_setting_that_is_told():
    targets = [
        TargetAudit(
            model=row,
            members=members,
            non_members=400 - members,
            auc=Area(value=0.5, interval=(0.4, 0.6)),
            tpr_at_fpr=(),
            balanced_accuracy=TargetAccuracy(oracle=0.5),
        )
        for row, members in enumerate((100, 200, 300, 180))
    ]
    assert "with probability one half on average (25 to 75 %, by model)." in record_tests.game(targets)
    assert "with probability one half." in record_tests.game(targets[1::2])  # As coins fall.
    assert "(25 to 75 %, by model; it differs between records: " in record_tests.game(targets, (0.1, 0.9))


def test_odds_count_what_guessing_is_told_to_find():
    said = Verdict(attack="lira", best_of=1, fpr=0.01, tpr=0.1, auc=0.6, confidence=0.95, leak="found")
    assert verdict.odds(said) == (1000, 100, 10)
    few = said.with_(chance=0.02)
    assert verdict.guessing(few).startswith("2.0 % here, since a threshold that few")
    assert verdict.odds(few) == (1000, 100, 20)
    assert verdict.odds(said.with_(tied=True)) is None


def test_a_share_beside_what_is_found_without_the_model_is_not_held_against_chance():
    """Its ends have the decimals of all shares there: no side of the false positive rate is to be seen."""
    said = Verdict(
        attack="lira", best_of=1, fpr=0.01, tpr=0.1, tpr_interval=(0.01004, 0.2), auc=0.6, confidence=0.95, leak="found"
    )
    assert verdict.share_ends(said) == ["1.004 %", "20.0 %"]
    beyond = PairedDifference(difference=0.1, interval=(0, 0.2), p=0.01)
    assert verdict.share_ends(said.with_(excess=Excess(blind_auc=0.6, auc=beyond))) == ["1.0 %", "20.0 %"]


def test_a_group_of_several_classes_is_named_by_what_it_is():
    """`(several)` is no class; what is audited is called by the column's name, where that is a person's number."""
    group = ExposedGroup(
        by="class", name=SEVERAL, records=50, attack="lira", auc=0.8, auc_least=0.7, others=0.6, p_corrected=0.001,
        groups=2, attacks=2,
    )  # fmt: skip
    assert exposed_group.sentence(group, ["a", "b"], noun("patient_nbr")) == (
        "The group of patients with records in several classes (50 patients) leaks more: there, an attacker tells a "
        "training patient from another one in 80.0 % of pairs, elsewhere in 60.0 %."
    )
    region = named(group.with_(by="region"), (), noun("clinic"))
    assert region == "the group of units with records in several groups by region"
    assert [noun(one) for one in (None, "MRN", "memberId")] == ["record", "patient", "person"]


def test_those_beyond_doubt_are_said_to_be_lines_of_a_file():
    assert "chance): the lines of records.csv whose distance_p_corrected is at most 0.05." in spoken(SOME).sentence
    strict = spoken(SOME.with_(confidence=0.99), "patient").sentence
    assert "chance): the lines of units.csv whose distance_p_corrected is at most 0.01." in strict
    assert ".csv" not in spoken(NONE).sentence


def test_what_is_named_or_not_is_said_of_the_file():
    assert record_tests.named(None).startswith("No named.csv: ")
    found = NamedRecords(rate=0.1, references=3, population=9, targets=2, named=0, wrong=0, longest=0)
    assert record_tests.named(found).startswith("named.csv is empty: ")
    assert "(named.csv)" in record_tests.named(found.with_(named=2, longest=1))


def test_who_sees_labels_alone_is_told_or_how_to_try_it():
    area = ShareEstimate(mean=0.61234, interval=(0.6, 0.62))
    audits = [
        Audit(name=name, access=access, confidence=0.95, overall=Overall(auc=area))
        for name, access in (("lira", "margins"), ("label-only", "labels"))
    ]
    told = evidence.by_labels(audits, brought=False)
    assert told == "An attacker who sees labels alone reaches an AUC of 0.612, by label-only."
    assert "--attack correctness --attack label-only measures it" in evidence.by_labels(audits[:1], brought=False)
    assert "label-only" not in evidence.by_labels(audits[:1], brought=True)
