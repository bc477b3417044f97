"""A comparison of many recipes counts them: each against the control of its accuracy, or the baseline."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from right_answers import right as answers
from told_comparison import told as written

from reticent.auditing.comparison.compare import RowScores, compare
from reticent.auditing.comparison.standing import settled as is_settled
from reticent.findings.comparison import PairTest, PairTests, Relation, Role
from reticent.say.pairs import accuracies, in_points


def entry(name, leak, members, role="recipe", matches=(), seed=0, right=0.7):
    noise = np.random.default_rng(7).normal(size=members.shape)
    own = np.random.default_rng(seed).normal(size=members.shape)
    scores = {"loss": noise + leak * members + 0.02 * own}
    return RowScores(name, scores, members, correct=answers(members, 0.8, right), role=role, matches=matches)


def test_recipes_are_counted_by_how_they_stand_to_their_control():
    rng = np.random.default_rng(1)
    members = rng.random((8, 400)) < 0.5
    entries = [
        entry("none", 2.0, members),
        entry("a", 0.2, members, seed=1),
        entry("b", 1.0, members, seed=2),
        entry("c", 1.0, members, seed=3),
        entry("d", 1.8, members, seed=4),
        entry("e", 2.0, members, seed=5),
        entry("stopped", 1.0, members, "control", ("a", "b", "c", "d"), seed=6),
        entry("a, non-adaptive", 0.0, members, "non-adaptive", ("a",), seed=7),
    ]
    done = written(compare(entries, fpr=None, rng=np.random.default_rng(0), replicates=200))
    assert done["sentence"] == (
        "Of 5 recipes, 1 leaks less than its control (none, stopped early at the same accuracy): a; "
        "1 leaks more: d; no difference is shown for 3: b, c, e."
    )
    assert not any(line.startswith("b leaks") and "than c" in line for line in done["detail"])
    assert any("a leaks more than a under an attacker who does not know its defense" in line for line in done["detail"])
    asked = {(pair["first"], pair["second"]) for pair in done["pairs"]}
    assert ("a", "a, non-adaptive") in asked
    assert not any("a, non-adaptive" in pair and "b" in pair for pair in asked)
    by_name = {row["name"]: row for row in done["rows"]}
    assert by_name["a"]["pareto"] is True
    assert by_name["a, non-adaptive"]["pareto"] is False
    idle = entry("idle", 2.0, members)
    told = written(compare([*entries[:5], idle], fpr=None, rng=np.random.default_rng(0), replicates=200))["sentence"]
    assert told.endswith("; idle gives the same answers as none.")
    few = written(compare([entries[0], entries[2]], fpr=None, rng=np.random.default_rng(0), replicates=200))
    assert few["sentence"].startswith("b leaks less")
    beaten = [
        entry(name, leak, members, seed=9)
        for name, leak in (
            (
                "f",
                2.1,
            ),
            ("g", 2.2),
            ("h", 2.3),
            ("i", 2.4),
            ("j", 2.5),
        )
    ]
    none = written(compare([entries[0], *beaten], fpr=None, rng=np.random.default_rng(0), replicates=200))
    assert none["sentence"].startswith("Of 5 recipes, none is shown to leak less than the baseline none; ")


def test_many_recipes_that_are_less_accurate_and_have_no_control_are_named():
    members = np.random.default_rng(1).random((8, 400)) < 0.5
    names = ["none", "a", "b", "c", "d", "broken"]
    rows = [entry(name, 2.0 - 0.3 * at, members, seed=at) for at, name in enumerate(names[:-1])]
    rows.append(entry("broken", 0.0, members, seed=9, right=0.1))
    told = written(compare(rows, fpr=None, rng=np.random.default_rng(0), replicates=200))["sentence"]
    assert ": a" in told
    assert told.endswith("; 1 cannot be judged, because no control is as accurate: broken [no control].")


def pair(difference, interval, verdict="tie", statistic="accuracy"):
    return PairTest(
        first="a",
        second="none",
        statistic=statistic,
        difference=difference,
        interval=interval,
        p=0.02,
        p_corrected=0.2,
        verdict=verdict,
    )


def test_a_tie_whose_own_interval_leaves_out_zero_says_why():
    assert in_points(pair(-0.17, (-0.26, -0.08)), "95 %").endswith(
        "−8.00 (for this test alone; after correcting for all tests it is not significant)"
    )
    assert in_points(pair(-0.17, (-0.26, 0.08)), "95 %").endswith("interval −26.00 to +8.00")
    assert in_points(pair(-0.17, (-0.26, -0.08), "first lower"), "95 %").endswith("interval −26.00 to −8.00")
    small = in_points(pair(-0.00004, (-0.00004, 0.02)), "95 %")
    assert small == "−0.004 percentage points, 95 % interval −0.004 to +2.00"


def _rows(members, *, accuracy=0.7, near=None):
    """Return five idle recipes, and one that leaks more than its control and is more accurate than that, maybe."""
    rng = np.random.default_rng(5)
    rows = [entry(name, 1.0, members, seed=at) for at, name in enumerate(("none", "a", "b", "c", "d"))]
    smooth, early = np.array([[0.7], [accuracy]]) + 0.01 * rng.normal(size=(2, len(members)))
    return [
        *rows,
        entry("smooth", 2.0, members, seed=8, right=smooth),
        entry("early", 1.0, members, "control", ("smooth",), seed=9, right=early if near is None else smooth + near),
    ]


def test_a_recipe_whose_control_is_not_as_accurate_is_not_counted_as_leaking_more():
    members = np.random.default_rng(1).random((12, 600)) < 0.5
    told = written(compare(_rows(members), fpr=0.1, rng=np.random.default_rng(0), replicates=200))
    assert "; 1 leaks more: smooth" in told["sentence"]
    by_name = {row["name"]: row for row in told["rows"]}
    assert by_name["smooth"]["control"] | {"missed": None} == {
        "name": "early",
        "leak": "more",
        "by": ["auc", "tpr"],
        "missed": None,
        "unlearned": None,
        "settled": True,
    }
    assert by_name["a"]["control"]["name"] == "none"
    assert by_name["early"]["control"] is None
    assert by_name["none"]["control"] is None
    worse = written(compare(_rows(members, accuracy=0.66), fpr=0.1, rng=np.random.default_rng(0), replicates=200))
    assert "1 cannot be judged, because no control is as accurate: smooth" in worse["sentence"]
    held = next(row["control"] for row in worse["rows"] if row["name"] == "smooth")
    assert (held["leak"], held["settled"]) == ("more", False)
    assert -0.06 < held["missed"] < -0.02


def test_a_small_gap_in_accuracy_is_not_hidden_by_the_number_of_tests():
    """A gap of one point, sure by itself, and not if corrected for 30 tests: it is not called equal."""
    members = np.random.default_rng(1).random((12, 600)) < 0.5
    rows = _rows(members, near=-0.009 + 0.007 * np.random.default_rng(3).normal(size=12))
    told = written(compare(rows, fpr=0.1, rng=np.random.default_rng(0), replicates=200))
    (pair,) = [
        p for p in told["pairs"] if {p["first"], p["second"]} == {"smooth", "early"} and p["statistic"] == "accuracy"
    ]
    assert pair["p"] < 0.05
    assert pair["verdict"] == "tie"
    assert next(row["control"] for row in told["rows"] if row["name"] == "smooth")["settled"] is False


def test_a_recipe_that_differs_by_one_measure_alone_says_so():
    members = np.random.default_rng(1).random((8, 400)) < 0.5
    rows = [entry(name, 2.0, members, seed=at) for at, name in enumerate(("none", "a", "b", "c", "d", "e"))]
    rows.append(entry("top", 1.97, members, seed=7))
    told = written(compare(rows, fpr=0.05, rng=np.random.default_rng(0), replicates=200))
    held = next(row["control"] for row in told["rows"] if row["name"] == "top")
    assert held["by"] == ["auc"]
    assert ": top [by the AUC alone]" in told["sentence"]


def test_a_recipe_of_unknown_accuracy_is_not_called_worth_its_cost():
    members = np.random.default_rng(1).random((8, 400)) < 0.5
    rows = [entry(name, 1.0, members, seed=at) for at, name in enumerate(("none", "a", "b", "c", "d"))]
    rows.append(replace(entry("margins", 0.2, members, seed=9), correct=None))
    told = written(compare(rows, fpr=None, rng=np.random.default_rng(0), replicates=200))
    begins = "Of 5 recipes, 1 leaks less than the baseline none: margins [accuracy not known]; "
    assert told["sentence"].startswith(begins)
    held = {row["name"]: row["control"] for row in told["rows"]}["margins"]
    assert (held["leak"], held["missed"], held["settled"]) == ("less", None, False)
    few = written(compare([rows[0], rows[-1]], fpr=None, rng=np.random.default_rng(0), replicates=200))
    assert (
        few["sentence"] == "margins leaks less than none (AUC 0.555 against 0.759), at an accuracy that is not known."
    )


@pytest.mark.parametrize(
    ("relation", "missed", "settled"),
    [
        ("mixed", None, True),
        ("mixed", 0.03, False),
        ("mixed", -0.03, False),
        ("more", 0.03, True),
        ("tie", 0.03, False),
    ],
)
def test_what_differs_both_ways_from_a_control_that_missed_is_open(relation, missed, settled):
    assert is_settled(Relation(relation), missed, known=True) is settled


def test_recipes_whose_models_did_not_learn_are_not_judged_unless_they_leak_more():
    members = np.random.default_rng(1).random((8, 400)) < 0.5
    none, low, more = (
        entry("none", 1.0, members),
        entry("low", 0.2, members, seed=2),
        entry("more", 2.0, members, seed=3),
    )
    early = entry("early", 0.6, members, "control", ("low",), seed=4)
    rows = [none, replace(low, unlearned=5, models=8), replace(more, unlearned=8, models=8), early]
    told = written(compare(rows, fpr=None, rng=np.random.default_rng(0), replicates=200))
    assert told["sentence"] == (
        "Of 2 recipes, none is shown to leak less than its control (none, stopped early at the same accuracy); 1 leaks "
        "more: more; 1 cannot be judged, because most of the models did not learn: low."
    )
    assert any(
        "but 5 of the 8 models of low did not learn, and a model that learned nothing has" in line
        for line in told["detail"]
    )
    held = {row["name"]: row["control"] for row in told["rows"]}
    assert [(held[name]["unlearned"], held[name]["settled"]) for name in ("low", "more")] == [
        ("low", False),
        (None, True),
    ]
    rows.append(entry("b", 1.0, members, seed=5))
    told = written(compare(rows, fpr=None, rng=np.random.default_rng(0), replicates=200))["sentence"]
    assert "1 cannot be judged, because most of the models did not learn: low" in told
    half = written(
        compare([none, replace(low, unlearned=4, models=8)], fpr=None, rng=np.random.default_rng(0), replicates=200)
    )
    assert half["sentence"].startswith("low leaks less than none (AUC ")
    assert "judged" not in half["sentence"]


def test_models_that_did_not_learn_are_told_so_without_a_control_too():
    members = np.random.default_rng(1).random((8, 400)) < 0.5
    rows = [entry(name, 1.0, members, seed=at) for at, name in enumerate(("none", "b", "c"))]
    rows.append(replace(entry("low", 0.2, members, seed=5, right=0.1), unlearned=8, models=8))
    told = written(compare(rows, fpr=None, rng=np.random.default_rng(0), replicates=200))["sentence"]
    assert told.endswith("1 cannot be judged, because most of the models did not learn: low.")


@pytest.mark.parametrize(("leak", "idle"), [(0.2, None), (1.0, "none"), (2.0, "none")])
def test_what_did_not_learn_is_no_fair_opponent(leak, idle):
    members = np.random.default_rng(1).random((8, 400)) < 0.5
    rows = [replace(entry("none", 1.0, members), unlearned=8, models=8), entry("a", leak, members, seed=3)]
    told = written(compare(rows, fpr=None, rng=np.random.default_rng(0), replicates=200))
    held = told["rows"][1]["control"]
    assert (held["unlearned"], held["settled"]) == (idle, idle is None)
    assert ("but 8 of the 8 models of none did not learn" in told["sentence"]) is (idle is not None)


def test_recipes_whose_records_are_in_different_shares_of_the_models_are_not_judged():
    members = np.random.default_rng(1).random((8, 400)) < 0.5
    rows = [replace(entry("none", 1.0, members), unequal=True), entry("low", 0.2, members, seed=2)]
    told = written(compare(rows, fpr=None, rng=np.random.default_rng(0), replicates=200))
    held = told["rows"][1]["control"]
    assert (held["leak"], held["doubt"], held["settled"]) == ("less", "unequal-shares", False)
    different = "who is a member depends on more than chance, which attacks tell whatever leaks"
    assert told["sentence"] == f"low leaks less than none, but {different}, so this is not judged."
    assert any(line.startswith("Which recipe leaks less: records that are in more") for line in told["cannot_say"])
    rows.append(entry("more", 2.0, members, seed=3))
    told = written(compare(rows, fpr=None, rng=np.random.default_rng(0), replicates=200))["sentence"]
    assert told.endswith(f"than the baseline none; 2 cannot be judged, because {different}: low, more.")


def test_the_same_models_with_the_same_labels_are_exactly_as_accurate():
    members = np.random.default_rng(1).random((8, 400)) < 0.5
    right = np.random.default_rng(2).random(members.shape) < 0.8
    rows = [
        replace(entry(name, leak, members, seed=at), correct=right, runs=runs)
        for at, (name, leak, runs) in enumerate([("none", 1.0, "m"), ("rounding", 0.5, "m"), ("other", 0.5, "n")])
    ]
    told = written(compare(rows, fpr=None, rng=np.random.default_rng(0), replicates=200))
    found = {(p["first"], p["second"]): p for p in told["pairs"] if p["statistic"] == "accuracy"}
    assert found["none", "rounding"]["interval"] == [0.0, 0.0]
    low, high = found["none", "other"]["interval"]
    assert low < 0 < high


def test_accuracies_that_differ_but_for_the_correction_are_not_said_to_be_alike():
    rows = [SimpleNamespace(name=name, role=Role.RECIPE) for name in ("a", "none")]
    told = SimpleNamespace(tests=PairTests([pair(-0.2, (-0.3, -0.1))]), confidence=0.95)
    assert accuracies(told, *rows) == (
        "The accuracies of a and none differ by −20.00 percentage points, 95 % interval −30.00 to −10.00 (for this "
        "test alone; after correcting for all tests it is not significant)."
    )
