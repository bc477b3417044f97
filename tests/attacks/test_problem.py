"""Problems are checked when they are made, and too few references before anything is trained."""

import numpy as np
import pytest
from attack_cases import problem

from reticent.attacks import Problem, check_membership, check_references, score
from reticent.attacks.lira import Lira
from reticent.attacks.rmia import Rmia
from reticent.data.membership import Membership
from reticent.errors import InputError, ShapeError, TooFewReferencesError
from reticent.signals.matrix import Signals


def small(models=4, records=6):
    known = Membership(np.arange(models)[:, None] % 2 == np.arange(records) % 2)
    return Signals.from_margins(np.zeros((models, records)), np.arange(records) % 2), known


def test_defaults_are_all_models():
    signals, known = small()
    case = Problem.make(signals, known.matrix)
    np.testing.assert_array_equal(case.targets, np.arange(4))
    np.testing.assert_array_equal(case.references, np.arange(4))
    assert case.targets.dtype == np.int64
    assert case.shape == (4, 6)
    assert case.population is None
    np.testing.assert_array_equal(case.inside, known.matrix)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"targets": [4]}, r"targets: expected integers from 0 to 3, got 4 at position 0"),
        ({"targets": [1, 1]}, r"targets: expected each model once, got model 1 more than once$"),
        ({"targets": [1, 0, 0, 1]}, r"got model 0 more than once; a mask is of booleans: give \.astype\(bool\)"),
        ({"references": [0, 2, 0]}, r"references: expected each model once, got model 0 more than once"),
        ({"targets": []}, r"targets: expected at least one model to audit, got none"),
        ({"references": [-1]}, r"references: expected integers from 0 to 3, got -1"),
        ({"targets": [0.5]}, r"targets: expected integers, got float64"),
        ({"references": [True] * 5}, r"references: expected row numbers of models, or a boolean for each of the 4 mod"),
        ({"targets": [[True] * 4]}, r"targets: expected 1 axis, got shape \(1, 4\)"),
    ],
)
def test_wrong_rows_are_named(rows, words):
    signals, known = small()
    with pytest.raises(InputError, match=words):
        Problem.make(signals, known, **rows)


def test_a_mask_names_its_true_rows():
    signals, known = small()
    masked = Problem.make(signals, known, targets=[False, True, True, False], references=np.array([1, 0, 0, 1]) > 0)
    assert (masked.targets.tolist(), masked.references.tolist()) == ([1, 2], [0, 3])
    numbers = Problem.make(signals, known, targets=[0, 1], references=[1, 0])
    assert (numbers.targets.tolist(), numbers.references.tolist()) == ([0, 1], [1, 0])


def test_parts_must_fit():
    signals, known = small()
    with pytest.raises(ShapeError, match=r"membership: expected shape \(4, 6\) .* got \(5, 6\)"):
        Problem.make(signals, small(models=5)[1])
    with pytest.raises(ShapeError, match=r"population: expected 4 models, .* got 3"):
        Problem.make(signals, known, population=Signals.from_margins(np.zeros((3, 6)), np.arange(6) % 2))
    with pytest.raises(ShapeError, match=r"population: expected 1 queries, .* got 2"):
        Problem.make(signals, known, population=Signals.from_margins(np.zeros((4, 6, 2)), np.arange(6) % 2))
    with pytest.raises(ShapeError, match="population: expected at least one record, got none"):
        Problem.make(signals, known, population=signals.among(np.arange(0)))


def test_no_references_do_for_attacks_that_learn_nothing():
    signals, known = small()
    case = Problem.make(signals, known, references=[])
    assert score("loss", case).shape == (4, 6)
    words = r"confidence: expected at least 1 reference models .* got 0 .* 1 too few\. Add rows to the references"
    with pytest.raises(TooFewReferencesError, match=words):
        score("confidence", case)


@pytest.mark.parametrize(
    ("models", "words"),
    [(1, "One model alone was given: add models that were trained alike"), (2, "Train more models: 4 in all are")],
)
def test_references_are_added_only_where_there_are_models_beside_them(models, words):
    with pytest.raises(TooFewReferencesError, match=words):
        check_membership("pmia", np.eye(2, 6, dtype=bool)[:models])


def test_too_few_references_say_how_many_are_missing():
    known = Membership.draw(2, 40, 0)
    words = (
        r"lira: expected at least 1 IN and 1 OUT references for every record \(models besides the target that were "
        r"trained on it, and that were not\), but target 0 has fewer for 40 of 40 records: record 0 has 0 IN and 1 "
        r"OUT, so 1 IN is missing: train more models, with each record in half of them, as "
        r"reticent.Membership.draw\(models, records, seed\) does: 4 in all are then enough$"
    )
    with pytest.raises(TooFewReferencesError, match=words):
        check_membership("lira", known)
    check_membership("lira", Membership.draw(4, 40, 0))


def test_too_few_references_count_records_and_leave_the_target_out():
    known = np.ones((10, 8), dtype=bool)
    known[5:, :7] = known[:5, 7] = False
    known[0, :2] = False
    words = (
        r"4 IN and 4 OUT .* target 1 has fewer for 2 of 8 records: record 0 has 3 IN and 6 OUT, so 1 IN "
        r"is missing: train models with each record in half of them, .*: 10 such are enough, while some records are "
        r"in too few or too many of these 10, or "
    )
    spec = Lira(variance="per-record")
    with pytest.raises(TooFewReferencesError, match=words):
        check_membership(spec, known, targets=[1])
    check_membership(spec, known, targets=[0])
    check_membership(Lira(), known)
    known[0, 1] = True  # One in eight is guessed.
    check_membership(spec, known, targets=[1])


def test_offline_attacks_need_no_reference_in():
    known = np.zeros((4, 6), dtype=bool)
    known[0, :3] = known[1, 0] = known[2, 1] = known[3, 2] = True
    check_membership(Lira(mode="offline"), known, targets=[0])
    check_membership(Rmia(mode="offline"), known, targets=[0])
    with pytest.raises(TooFewReferencesError, match="fewer for 3 of 6 records: record 3 has 0 IN and 3 OUT"):
        check_membership(Rmia(), known, targets=[0])


def test_models_that_are_no_references_are_told_before_further_training():
    words = r"missing: there are 12 models, and 3 of them are references: add more to the references$"
    with pytest.raises(TooFewReferencesError, match=words):
        check_membership("lira", Membership.draw(12, 40, 0), targets=[0, 1], references=[1, 2, 3])


def test_references_that_hold_none_of_the_records_do_offline():
    known = np.zeros((5, 6), dtype=bool)
    known[0, :3] = True
    words = (
        r"rmia: all 4 references were trained on the same records .*: more models of the same split do not help: .*or "
        r"choose options that need fewer, such as mode offline, .* \(--set attack\.rmia\.mode=offline\)$"
    )
    with pytest.raises(TooFewReferencesError, match=words):
        check_membership("rmia", known, targets=[0], references=[1, 2, 3, 4])
    check_membership(Rmia(mode="offline"), known, targets=[0], references=[1, 2, 3, 4])


def test_score_checks_references_first():
    case = problem(0, models=2)
    with pytest.raises(TooFewReferencesError, match="rmia: expected at least 1 IN"):
        score("rmia", case)
    with pytest.raises(TooFewReferencesError, match="rmia: expected at least 1 IN"):
        check_references("rmia", case)


def test_more_queries_than_there_are_is_an_error():
    case = problem(0, queries=2)
    with pytest.raises(InputError, match="lira: queries: expected at most 2, which the signals hold, got 3"):
        score(Lira(queries=3), case)


def test_a_transposed_membership_is_told():
    signals = Signals.from_margins(np.zeros((4, 9)), np.arange(9) % 2)
    membership = (np.arange(9)[:, None] + np.arange(4)) % 2 == 0
    with pytest.raises(ShapeError, match=r"got \(9, 4\): it looks transposed, .* give membership\.T"):
        Problem.make(signals, membership)
    assert Problem.make(signals, membership.T).shape == (4, 9)
