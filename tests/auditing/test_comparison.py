"""A whole comparison: rows against the audit, ties, what leaks less, controls, degenerate cases, refusals."""

import json
from dataclasses import replace

import numpy as np
import pytest
from right_answers import right
from told_comparison import told

from reticent.auditing.attack_audit import audit_attack
from reticent.auditing.comparison.compare import RowScores, compare
from reticent.auditing.comparison.multiple import holm
from reticent.errors import InputError, ShapeError, UnknownNameError
from reticent.findings.comparison import ComparisonDocument, ControlNote, Note
from reticent.say.comparison import unjudged
from reticent.say.pairs import points

T, N = 6, 400


def membership(targets=T, records=N, seed=0):
    half = np.tile(np.arange(records) < records // 2, (targets, 1))
    return np.random.default_rng(seed).permuted(half, axis=1)


def entry(name, leak, *, targets=T, records=N, accuracy=0.9, seed=1, **given):
    """A recipe: noise that all share and some of its own; a second attack that finds half as much."""
    members = membership(targets, records)
    common = np.random.default_rng(99).normal(size=members.shape)
    rng = np.random.default_rng([seed, *name.encode()])
    scores = 0.7 * common + 0.7 * rng.normal(size=members.shape) + leak * members
    hard = np.random.default_rng(98).random(records)
    right = hard + 0.05 * rng.normal(size=members.shape) < accuracy + 0.05 * members
    given.setdefault("correct", right)
    return RowScores(name, {"strong": scores, "weak": scores - leak / 2 * members}, members, **given)


def run(*entries, fpr=0.05, notes=(), **options):
    return told(compare(entries, fpr=fpr, rng=np.random.default_rng(0), replicates=300, **options), notes)


def pick(found, first, second, statistic):
    (one,) = [p for p in found["pairs"] if (p["first"], p["second"], p["statistic"]) == (first, second, statistic)]
    return one


def short(found, *names):
    """Write the numbers that a sentence has in brackets."""
    rows = {row["name"]: row for row in found["rows"]}
    areas = " against ".join(f"{rows[name]['auc']['mean']:.3f}" for name in names)
    if rows[names[0]]["accuracy"]["non_members"] is None:
        return f"AUC {areas}"
    accuracies = " against ".join(f"{100 * rows[name]['accuracy']['non_members']['mean']:.1f} %" for name in names)
    return f"AUC {areas}; accuracy {accuracies}"


@pytest.fixture(scope="module")
def three():
    return run(entry("plain", 1.0), entry("decay", 0.3, accuracy=0.8), entry("again", 1.0, seed=2))


def test_rows_have_the_audits_numbers(three):
    plain = entry("plain", 1.0)
    row = three["rows"][0]
    for attack in row["attacks"]:
        expected = audit_attack(
            attack["name"], {}, plain.scores[attack["name"]], plain.members, np.arange(T), rng=np.random.default_rng(0)
        )
        rate = next(rate for rate in audit_rates(plain, attack["name"]) if rate.fpr == 0.05)
        for got, summary in ((attack["auc"], expected.auc), (attack["tpr"], rate.tpr)):
            assert (got["mean"], got["std"]) == (summary.mean, summary.std)
            assert got["interval"] == pytest.approx(summary.interval, abs=0.02)
    assert (row["attack"], row["auc_attack"], row["best_of"]) == ("strong", "strong", 2)
    assert (row["auc"], row["tpr"]) == (row["attacks"][0]["auc"], row["attacks"][0]["tpr"])


def audit_rates(plain, name):
    rng = np.random.default_rng(0)
    return audit_attack(name, {}, plain.scores[name], plain.members, np.arange(T), rng=rng, fprs=(0.05,)).rates


def test_what_differs_and_what_is_a_tie(three):
    assert pick(three, "plain", "decay", "auc")["verdict"] == "second lower"
    assert pick(three, "plain", "decay", "tpr")["verdict"] == "second lower"
    assert pick(three, "plain", "decay", "accuracy")["verdict"] == "second lower"
    assert {pick(three, "plain", "again", s)["verdict"] for s in ("auc", "tpr", "accuracy")} == {"tie"}
    assert three["sentence"] == (
        "Of 2 recipes, none is shown to leak less than the baseline plain; no difference is shown for 1: again; 1 "
        "cannot be judged, because no control is as accurate: decay [no control]."
    )
    text = " ".join(three["detail"])
    assert "of the members are found at 1 false alarm in 20 (difference −" in text
    assert "decay is less accurate than plain (difference −" in text
    assert "No difference in accuracy is shown between again and plain (difference " in text
    assert any("A tie does not show that two recipes are equal" in line for line in three["cannot_say"])


def test_all_p_values_are_corrected_together(three):
    assert len(three["pairs"]) == 9
    p = [pair["p"] for pair in three["pairs"]]
    assert [pair["p_corrected"] for pair in three["pairs"]] == holm(p).tolist()
    for pair in three["pairs"]:
        assert (pair["verdict"] == "tie") == (pair["p_corrected"] >= 0.05)
        low, high = pair["interval"]
        assert (pair["p"] < 0.05) == (not low <= 0 <= high)
        assert (pair["mcnemar"] is not None) == (pair["statistic"] == "tpr")


def test_a_differences_value_is_that_of_the_rows(three):
    rows = {row["name"]: row for row in three["rows"]}
    for pair in three["pairs"]:
        one, two = (
            row["accuracy"]["non_members"] if pair["statistic"] == "accuracy" else row[pair["statistic"]]
            for row in (rows[pair["first"]], rows[pair["second"]])
        )
        assert pair["difference"] == pytest.approx(one["mean"] - two["mean"], abs=1e-12)


def test_front_of_the_rows(three):
    assert [row["pareto"] for row in three["rows"]].count(True) >= 2
    best = max(three["rows"], key=lambda row: row["accuracy"]["non_members"]["mean"])
    least = min(three["rows"], key=lambda row: row["tpr"]["mean"])
    assert best["pareto"]
    assert least["pareto"]


def test_plain_values_and_the_same_again(three):
    text = json.dumps(three, allow_nan=False)
    again = run(entry("plain", 1.0), entry("decay", 0.3, accuracy=0.8), entry("again", 1.0, seed=2))
    assert json.dumps(again) == text


def test_order_does_not_matter(three):
    turned = run(entry("decay", 0.3, accuracy=0.8), entry("plain", 1.0), entry("again", 1.0, seed=2), baseline="plain")
    one, two = pick(three, "plain", "decay", "auc"), pick(turned, "decay", "plain", "auc")
    assert two["difference"] == -one["difference"]
    assert two["interval"] == pytest.approx([-one["interval"][1], -one["interval"][0]], rel=1e-9)
    assert two["p"] == pytest.approx(one["p"], rel=1e-9)
    assert (one["verdict"], two["verdict"]) == ("second lower", "first lower")
    assert turned["sentence"] == three["sentence"]


def test_control_that_does_as_well():
    found = run(
        entry("plain", 1.0),
        entry("decay", 0.3, accuracy=0.8),
        entry("plain, 3 of 20 epochs", 0.3, accuracy=0.8, role="control", matches=("decay",)),
    )
    assert found["sentence"] == (
        "decay leaks less than plain, but no difference is shown between it and its control, the baseline stopped "
        f"early at the same accuracy ({short(found, 'decay', 'plain, 3 of 20 epochs')})."
    )
    lead = (
        "No difference is shown between decay and its control (plain, 3 of 20 epochs), so it is not shown to protect "
        "more than stopping early does: "
    )
    assert any(line.startswith(lead) for line in found["detail"])


def test_few_models_are_said_to_show_large_differences_only(three):
    few = [
        RowScores(name, {"lira": np.random.default_rng(seed).normal(size=(4, 400))}, membership()[:4, :400])
        for seed, name in enumerate(("a", "b"))
    ]
    said = "Only 4 models of each recipe were audited: how much models differ is hardly known from so few, so only a "
    said += "large difference could be shown. Audit 5 or more."
    assert said in told(compare(few, fpr=None, rng=np.random.default_rng(0), replicates=100))["cannot_say"]
    assert not any("hardly known" in line for line in three["cannot_say"])


def test_a_row_with_the_scores_of_the_baseline_did_nothing():
    plain = entry("plain", 1.0)
    found = run(plain, replace(plain, name="relaxloss"))
    assert found["sentence"] == (
        f"relaxloss gives the same answers as plain: it changes nothing here ({short(found, 'relaxloss', 'plain')})."
    )
    assert found["detail"][0] == (
        "relaxloss gives the same answers as plain: all attacks give every record the same score."
    )


@pytest.mark.parametrize(
    ("leak", "accuracy", "words"),
    [
        (1.0, 0.8, "so it protects by more than by being less accurate"),
        (0.05, 0.8, "so stopping early protects more"),
        (1.0, 0.88, "percentage points less accurate, so which of the two protects more is open"),
        (0.5, 0.88, "percentage points less accurate, so this does not settle which of the two protects more"),
    ],
)
def test_control_that_does_worse_better_or_does_not_match(leak, accuracy, words):
    found = run(
        entry("plain", 1.5, accuracy=0.9),
        entry("decay", 0.5, accuracy=0.8),
        entry("early", leak, accuracy=accuracy, role="control", matches=["decay"]),
    )
    (line,) = [line for line in found["detail"] if "(early)" in line]
    assert words in line
    assert [row["name"] for row in found["rows"]] == ["plain", "decay", "early"]
    apart = 100 * abs(pick(found, "decay", "early", "accuracy")["difference"])
    told = f"{points(apart / 100)} percentage points more accurate than decay"
    assert (accuracy == 0.88) == (told in found["sentence"])
    assert (accuracy == 0.88) == ("at the same accuracy" not in found["sentence"])
    assert (accuracy == 0.88) == any(told in line and "too kind to decay" in line for line in found["cannot_say"])


def test_a_row_without_a_control_that_is_less_accurate_is_not_praised():
    worse = run(entry("plain", 1.5), entry("broken", 0.0, accuracy=0.4))
    lost = 100 * abs(pick(worse, "plain", "broken", "accuracy")["difference"])
    assert worse["sentence"] == (
        f"broken leaks less than plain ({short(worse, 'broken', 'plain')}), but plain is {points(lost / 100)} "
        "percentage points more accurate, so this is not judged (no control)."
    )
    better = run(entry("broken", 0.0, accuracy=0.4), entry("plain", 1.5))
    assert f"but broken is {points(lost / 100)} percentage points less accurate, so this" in better["sentence"]
    assert "no control" not in run(entry("plain", 1.5), entry("good", 0.0))["sentence"]
    beside = run(entry("plain", 1.5, matches=["broken"]), entry("broken", 0.0, accuracy=0.4))
    assert beside["sentence"] == (
        f"broken leaks less than plain ({short(beside, 'broken', 'plain')}), but plain is {points(lost / 100)} "
        "percentage points more accurate, so this is not judged."
    )


def test_a_control_that_is_less_accurate_is_said_to_be_too_hard_on_the_recipe():
    found = run(
        entry("plain", 1.5, accuracy=0.9),
        entry("decay", 0.5, accuracy=0.8),
        entry("early", 0.1, accuracy=0.72, role="control", matches=["decay"]),
    )
    told = "decay leaks less than plain, but this is not judged: its control, the baseline stopped early, came out "
    assert found["sentence"].startswith(told)
    assert found["sentence"].endswith(" percentage points less accurate than decay.")
    assert "decay leaks more than its control (early), but decay is " in " ".join(found["detail"])
    (rest,) = unjudged(ComparisonDocument.read(found, "made up"))
    assert rest in found["detail"]
    assert any(
        "such a model leaks less by that alone, so the comparison is too hard on decay" in c
        for c in found["cannot_say"]
    )
    assert any("more accurate, so which of the two protects more is open" in line for line in found["detail"])


def test_auc_and_tpr_may_contradict_each_other():
    members = membership()
    rng = np.random.default_rng(0)
    noise = rng.normal(size=members.shape)
    few = members & (rng.random(members.shape) < 0.2)
    found = run(
        RowScores("broad", {"a": noise + 0.65 * members}, members),
        RowScores("peaked", {"a": noise + 6.0 * few}, members),
    )
    assert pick(found, "broad", "peaked", "auc")["verdict"] == "second lower"
    assert pick(found, "broad", "peaked", "tpr")["verdict"] == "first lower"
    assert found["sentence"] == (
        "peaked leaks less by one measure and more by the other than broad "
        f"({short(found, 'peaked', 'broad')}), at an accuracy that is not known."
    )


def test_twins_are_a_tie_with_p_one():
    one = entry("plain", 0.5)
    found = run(one, RowScores("copy", one.scores, one.members, correct=one.correct))
    for pair in found["pairs"]:
        assert (pair["difference"], pair["p"], pair["p_corrected"], pair["verdict"]) == (0, 1, 1, "tie")
        assert pair["interval"] == [0, 0]
    assert pick(found, "plain", "copy", "tpr")["mcnemar"] == {"targets": T, "only_first": 0, "only_second": 0, "p": 1}


def test_one_target():
    found = run(entry("plain", 2.0, targets=1), entry("decay", 0.2, targets=1))
    assert pick(found, "plain", "decay", "auc")["verdict"] == "second lower"
    row = found["rows"][0]
    assert row["auc"]["std"] is None
    low, high = row["accuracy"]["non_members"]["interval"]
    assert low < row["accuracy"]["non_members"]["mean"] < high
    assert "One model of each recipe was audited" in found["cannot_say"][0]


def test_intervals_of_accuracies_allow_for_records_that_all_models_find_hard():
    missed, rng = 0, np.random.default_rng(0)
    for seed in range(100):
        easy = rng.random(N) < 0.8
        members = membership(seed=seed)
        one = entry("plain", 1.0)
        given = [RowScores(name, one.scores, members, correct=np.tile(easy, (T, 1))) for name in ("plain", "again")]
        low, high = run(*given)["rows"][0]["accuracy"]["non_members"]["interval"]
        missed += not low <= 0.8 <= high
    assert missed <= 12


def test_a_rate_that_is_not_measurable():
    found = run(entry("plain", 2.0), entry("decay", 0.2), fpr=0.001)
    assert [pair["statistic"] for pair in found["pairs"]] == ["auc", "accuracy"]
    assert all(row["tpr"] is None and row["attacks"][0]["tpr"] is None for row in found["rows"])
    assert any("Nothing can be said at a false positive rate of 0.1 %" in line for line in found["cannot_say"])
    assert found["detail"][0].startswith("decay leaks less than plain: AUC ")
    assert json.dumps(run(entry("plain", 2.0), entry("decay", 0.2), fpr=None)["pairs"]) == json.dumps(found["pairs"])


def test_accuracies_are_alike_or_not_known():
    members = membership()
    given = [
        RowScores(name, entry(name, leak).scores, members, correct=right(members, 0.99, np.linspace(0.8, 0.85, T)))
        for name, leak in (("plain", 1.0), ("decay", 0.2))
    ]
    found = run(*given)
    assert pick(found, "plain", "decay", "accuracy")["p"] == 1
    assert found["rows"][0]["accuracy"]["members"]["std"] == pytest.approx(0, abs=1e-12)
    low, high = found["rows"][0]["accuracy"]["members"]["interval"]
    assert 0.95 < low < 0.99 < high <= 1
    assert [row["pareto"] for row in found["rows"]] == [False, True]
    unknown = run(given[0], RowScores("margins", entry("margins", 0.2).scores, members))
    assert [pair["statistic"] for pair in unknown["pairs"]] == ["auc", "tpr"]
    assert unknown["rows"][1]["accuracy"] == {"members": None, "non_members": None}
    assert [row["pareto"] for row in unknown["rows"]] == [True, False]
    assert "What is lost in accuracy: it is not known for margins." in unknown["cannot_say"]


def test_strongest_attack_by_each_statistic():
    members = membership()
    rng = np.random.default_rng(0)
    few = members & (rng.random(members.shape) < 0.15)
    noise = rng.normal(size=members.shape)
    both = {"broad": noise + 0.8 * members, "peaked": noise + 6.0 * few}
    found = run(RowScores("one", both, members), RowScores("two", both, members))
    row = found["rows"][0]
    assert (row["attack"], row["auc_attack"]) == ("peaked", "broad")
    assert row["tpr"] == row["attacks"][1]["tpr"]
    assert row["auc"] == row["attacks"][0]["auc"]


def test_refusals():
    plain = entry("plain", 1.0)
    other = membership(seed=5)
    with pytest.raises(InputError, match="at least two recipes to compare, got 1"):
        run(plain)
    with pytest.raises(InputError, match="a name of its own for each recipe, got 'plain' more than once"):
        run(plain, plain)
    with pytest.raises(InputError, match="other: scores: expected at least one attack, got none"):
        run(plain, RowScores("other", {}, plain.members))
    with pytest.raises(
        InputError, match=r"other: expected the membership of plain, got another one in [\d,]+ of 2,400"
    ):
        run(plain, RowScores("other", {"a": np.zeros((T, N))}, other))
    with pytest.raises(
        ShapeError, match=r"other: expected shape \(6, 400\) .* got \(6, 300\): train both with the same"
    ):
        run(plain, entry("other", 1.0, records=300))
    with pytest.raises(UnknownNameError, match="unknown baseline 'plane': did you mean 'plain'"):
        run(plain, entry("decay", 0.3), baseline="plane")
    with pytest.raises(InputError, match="baseline: expected a recipe, got 'early', which is there"):
        run(plain, entry("early", 0.3, role="control"), baseline="early")
    with pytest.raises(InputError, match="replicates: expected at least 100"):
        compare([plain, entry("decay", 0.3)], fpr=0.1, rng=np.random.default_rng(0), replicates=10)
    with pytest.raises(InputError, match="confidence"):
        run(plain, entry("decay", 0.3), confidence=95)
    with pytest.raises(InputError, match="fpr"):
        run(plain, entry("decay", 0.3), fpr=0.0)
    with pytest.raises(ShapeError, match="other: correct: expected shape"):
        run(plain, _with(entry("other", 1.0), correct=np.ones((T, 3), dtype=bool)))


def _with(one, **changes):
    return RowScores(**{**one.__dict__, **changes})


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (0.1395, "14.0"),
        (0.9445 - 0.805, "14.0"),
        (-0.13949, "13.9"),
        (0.0, "0.0"),
        (3e-4, "less than 0.1"),
        (5e-4, "0.1"),
    ],
)
def test_one_rounding_of_one_difference(difference, text):
    assert points(difference) == text


def test_a_recipe_is_named_where_it_might_be_either():
    found = run(
        entry("plain", 0.5, accuracy=0.9),
        entry("decay", 0.5, accuracy=0.9, seed=1),
        entry("early", 1.5, accuracy=0.9, role="control", matches=["decay"]),
    )
    assert found["sentence"].startswith("No difference is shown between decay and plain, and decay leaks less than its")


def test_a_rate_that_equal_scores_decide_is_marked_in_its_row_and_told():
    free, stuck = entry("free", 1.0), entry("stuck", 0.0)
    coarse = replace(stuck, scores={name: np.zeros_like(scores) for name, scores in stuck.scores.items()})
    found = run(free, coarse)
    assert [row["tpr"]["tied"] for row in found["rows"]] == [False, True]
    assert [row["attacks"][0]["tpr"]["tied"] for row in found["rows"]] == [False, True]
    assert "tied" not in found["rows"][1]["auc"]
    told = "The share of members found for stuck at a false positive rate of 5 % is not reliable: too many"
    assert sum(line.startswith(told) for line in found["cannot_say"]) == 1
    assert not any("scores are equal" in line for line in run(free, stuck)["cannot_say"])


@pytest.mark.parametrize(
    ("note", "words"),
    [
        (
            {"note": "baseline is outputs"},
            "There is no early-stopped control, because plain is",
        ),
        (
            {"note": "no epochs"},
            "There is no early-stopped control, because the tr",
        ),
        ({"note": "accuracy unknown", "row": "decay"}, "decay has no early-stopped control: its accuracy is not known"),
        (
            {"note": "baseline stops by itself", "row": "decay"},
            "decay has no early-stopped control: it is at",
        ),
        (
            {"note": "whole baseline", "row": "decay", "epochs": 4 / 3, "of": 5},
            "decay has no early-stopped control: plain is closest to its accuracy at the end of its training (1.33333 "
            "of 5 epochs, by its own stop_after), so the baseline is its control.",
        ),
        (
            {"note": "baseline is defended"},
            "How the rows compare with an undefended model: the baseline, plain,",
        ),
        (
            {"note": "never as accurate", "row": "decay", "reached": 0.8},
            "plain reaches an accuracy of at most 80.0 % at any epoch, and decay has ",
        ),
    ],
)
def test_what_there_is_to_say_of_controls(note, words):
    found = run(entry("plain", 1.0), entry("decay", 0.3), notes=[ControlNote(**note)])
    assert sum(line.startswith(words) for line in found["cannot_say"]) == 1


def test_a_row_with_the_baselines_labels_says_what_an_attacker_of_labels_finds():
    rows = [entry("plain", 1.0), entry("decay", 0.3)]
    found = run(*rows, notes=[ControlNote(note=Note.SAME_LABELS, row="decay")])
    accuracy = found["rows"][1]["accuracy"]
    area = 0.5 + (accuracy["members"]["mean"] - accuracy["non_members"]["mean"]) / 2
    assert found["rows"][1]["notices"] == [
        "It labels the same records correctly as plain, which is therefore its control: an attacker who sees labels "
        f"alone finds as much with it as without it (AUC {area:.3f})."
    ]
    assert found["cannot_say"][0].startswith("decay: It labels the same records")
