"""The gate's arithmetic: which limit is judged, what is shown above it, and what keeps a pass from meaning anything."""

import copy
import math
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binom, norm, t

import reticent
from reticent.attacks import ATTACKS
from reticent.auditing.attack_audit import audit_attack
from reticent.auditing.intervals import exact_interval
from reticent.errors import CorruptFileError, InputError, MissingFileError, SpecError
from reticent.findings.gate import ALLOWED, ALLOWED_TOGETHER
from reticent.gating.limits import Limits, gather, tpr_at
from reticent.say.gate import weak as weak_alone


def estimate(mean, low, high):
    return {"mean": mean, "std": 0.01, "interval": [low, high]}


def attack(name, auc=(0.55, 0.53, 0.57), tpr=(0.015, 0.011, 0.019), fpr=0.01, others=900, targets=8):
    allowed = math.floor(fpr * others)
    entry = {
        "fpr": fpr,
        "measurable": allowed >= 1,
        "records_needed": math.ceil(1 / fpr),
        "members": others,
        "non_members": others,
        "false_positives_allowed": allowed,
        "tpr": estimate(*tpr) if allowed else None,
    }
    target = {
        "members": others,
        "non_members": others,
        "auc": {"value": auc[0], "interval": list(auc[1:])},
        "tpr_at_fpr": [{"fpr": fpr, "false_positives_allowed": allowed, "records_needed": math.ceil(1 / fpr)}],
        "balanced_accuracy": {"oracle": 0.6},
    }
    return {
        "name": name,
        "strong": name in {"lira", "rmia"},
        "confidence": 0.95,
        "overall": {"auc": estimate(*auc), "tpr_at_fpr": [entry]},
        "targets": [{"model": m} | target for m in range(targets)],
    }


def document(*attacks, **changes):
    attacks = list(attacks) or [attack("lira"), attack("loss", auc=(0.52, 0.5, 0.54))]
    facts = {"attack": attacks[0]["name"], "confidence": attacks[0]["confidence"]}
    base = {
        "schema": "reticent.audit/1",
        "verdict": facts | {"best_of": len(attacks), "auc": 0.55, "leak": "found"},
        "environment": {},
        "data": {"name": "mine.csv", "records": 1800},
        "population": {
            "models": 8,
            "health": [],
            "accuracy": {
                "members": {"mean": 0.99, "std": 0.01},
                "non_members": {"mean": 0.9, "std": 0.02},
                "independent": 1800,
            },
        },
        "attacks": attacks,
    }
    return base | changes


def one(doc, **limits):
    result = reticent.gate(doc, **limits)
    assert len(result.checks) == 1
    return result.checks[0]


@pytest.mark.parametrize(
    ("limit", "outcome", "words"),
    [
        (0.6, "passed", "the upper limit of all 2 attacks is at or below 0.6; the highest is 0.5700 (lira)"),
        (0.57, "passed", "at or below 0.57"),
        (
            0.5699,
            "failed",
            "the interval of lira, 0.5300 to 0.5700 (estimate 0.5500), reaches above 0.5699",
        ),
        (0.54, "failed", "not shown to be below the limit"),
        (0.51, "failed", "above the limit: lira has 0.5500"),
    ],
)
def test_the_upper_limit_of_the_worst_attack_is_judged(limit, outcome, words):
    check = one(document(), max_auc=limit)
    assert check.outcome == outcome
    assert words in check.message
    assert (check.attack, check.estimate, check.bound) == ("lira", 0.55, 0.57)
    assert check.evidence[1] == "loss: 0.5200, 95 % interval 0.5000 to 0.5400"


def test_shown_above_is_said_at_the_limit_widened_for_the_attacks():
    stretch = norm.isf(0.025 / 2) / norm.isf(0.025)
    lower = expit(logit(0.55) + (logit(0.53) - logit(0.55)) * stretch)
    just_below, just_above = lower - 1e-6, lower + 1e-6
    assert one(document(), max_auc=just_below).message.startswith("above the limit")
    assert "widened for 2 attacks, is" in one(document(), max_auc=just_below).message
    assert one(document(), max_auc=just_above).message == (
        "not shown to be below the limit: the whole interval of lira, 0.5300 to 0.5700 (estimate 0.5500), lies above "
        "0.52712; nor shown to be above it: widened for 2 attacks it begins at 0.5271; more models or more records may "
        "settle it"
    )
    assert one(document(), max_auc=0.5301).message.startswith("not shown to be below")
    wide = attack("rmia", auc=(0.6, 0.535, 0.66))  # It begins below lira's when both are widened.
    assert one(document(attack("lira"), wide), max_auc=0.5345).message.startswith(
        "not shown to be below the limit: the whole interval of rmia, 0.5350 to 0.6600"
    )
    alone = document(attack("lira"))
    assert one(alone, max_auc=0.53 - 1e-9).message.startswith(
        "above the limit: lira has 0.5500, and its lower limit is"
    )


@given(st.lists(st.tuples(*[st.floats(0.5, 1)] * 3).map(sorted), min_size=1, max_size=6), st.floats(0.5, 1))
@example([[0.6579423840567996] * 3], 0.6579423840567996)
def test_a_gate_passes_just_if_every_attack_passes_alone(intervals, limit):
    attacks = [attack(f"a{k}", auc=(mid, low, high)) for k, (low, mid, high) in enumerate(intervals)]
    attacks.append(attack("lira", auc=(0.5, 0.5, 0.5)))
    together = one(document(*attacks), max_auc=limit).outcome == "passed"
    assert together == all(high <= limit for _, _, high in intervals)


def with_ties(one):
    changed = copy.deepcopy(one)
    changed["overall"]["tpr_at_fpr"][0]["tpr"]["tied"] = True
    return changed


def test_a_rate_that_equal_scores_decide_passes_nothing():
    low = {"tpr": (0.0, 0.0, 0.004)}
    weak, strong = attack("loss", **low), attack("lira")
    check = one(document(with_ties(attack("lira", **low)), weak), max_tpr={0.01: 0.02})
    assert (check.outcome, check.reason) == ("cannot judge", "ties")
    assert check.message == (
        "lira gives so many records the same score that no threshold comes near a false positive rate of 0.01, so what "
        "can be found there is not known"
    )
    assert check.evidence[0].endswith("interval 0.0000 to 0.0040, decided by equal scores")
    assert one(document(strong, with_ties(weak)), max_tpr={0.01: 0.02}).outcome == "passed"
    both = document(with_ties(attack("lira", **low)), with_ties(weak))
    assert one(both, max_tpr={0.01: 0.02}).reason == "ties"
    assert one(both, max_tpr={0.01: 0.02}, allow=["ties"]).outcome == "passed"
    alone = document(with_ties(weak))
    assert one(alone, max_tpr={0.01: 0.02}, allow=["weak-attacks"]).reason == "ties"
    assert one(both, max_auc=0.6).outcome == "passed"
    # What is above the limit is above it all the same.
    assert one(document(with_ties(attack("lira", tpr=(0.3, 0.2, 0.4)))), max_tpr={0.01: 0.02}).outcome == "failed"


def test_a_rate_of_groups_that_equal_scores_decide_passes_nothing():
    groups = [{"name": str(i), "tpr": estimate(0.0, 0.0, 0.01) | {"tied": True}} for i in range(2)]
    block = {"by": "class", "attack": "rmia", "fpr": 0.01, "confidence": 0.95, "groups": groups}
    check = one(document(groups=[block]), max_group_tpr=0.05)
    assert (check.outcome, check.reason) == ("cannot judge", "ties")
    assert check.message.startswith("rmia gives so many records the same score")
    assert one(document(groups=[block]), max_group_tpr=0.05, allow=["ties"]).outcome == "passed"


def test_an_attack_that_ranks_backwards_is_read_backwards():
    check = one(document(attack("rmia", auc=(0.2, 0.15, 0.25))), max_auc=0.6)
    assert (check.outcome, check.attack, check.bound) == ("failed", "rmia read backwards", 0.85)
    unclear = document(attack("rmia", auc=(0.45, 0.39, 0.51)))
    assert one(unclear, max_auc=0.55).outcome == "passed"


def test_the_lower_limit_of_a_rate_counts_how_its_threshold_was_chosen():
    # Of 100 non-members the second highest is the threshold: guessing then finds 2 in 101 on average, not 1 in 100.
    rng = np.random.default_rng(0)
    found = [
        audit_attack("lira", {}, rng.normal(size=(1, 200)), np.arange(200)[None] < 100, [0], rng=rng, replicates=100)
        .rates[1]
        .tpr.mean
        for _ in range(100)
    ]
    assert np.mean(found) == pytest.approx(2 / 101, abs=4 * np.std(found) / 10)
    low = document(attack("lira", tpr=(0.03, 0.012, 0.05), others=100))
    assert "widened for the choice of its threshold it begins at" in one(low, max_tpr={0.01: 0.01}).message
    high = document(attack("lira", tpr=(0.03, 0.022, 0.05), others=100))
    assert one(high, max_tpr={0.01: 0.01}).message.startswith("above the limit")
    assert "widened for the choice of its threshold, is" in one(high, max_tpr={0.01: 0.01}).message


def test_several_limits_and_the_order_of_outcomes():
    result = reticent.gate(document(), max_auc=0.6, max_tpr={0.01: 0.02, 0.001: 0.01}, max_epsilon=3)
    assert [check.outcome for check in result.checks] == ["passed", "passed", "cannot judge", "cannot judge"]
    assert (result.outcome, result.exit_code, result.passed) == ("cannot judge", 2, False)
    failed = reticent.gate(document(), max_auc=0.55, max_epsilon=3)
    assert (failed.outcome, failed.exit_code) == ("failed", 1)
    assert failed.sentence == "Failed: 1 of 2 checks failed (AUC at most 0.55); 1 cannot be judged (epsilon at most 3)."
    passed = reticent.gate(document(), max_auc=0.6)
    assert (passed.outcome, passed.exit_code, passed.passed, passed.data) == ("passed", 0, True, "mine.csv")
    assert passed.sentence == "Passed: the only check (AUC at most 0.6) passed."


def test_a_rate_that_is_not_measurable_says_what_it_needs_and_passes_only_when_allowed():
    small = document(attack("lira", others=90), attack("loss", others=90))
    check = one(small, max_tpr={0.01: 0.02})
    assert (check.outcome, check.reason) == ("cannot judge", "not-measurable")
    assert "it needs 100 non-members a model, the audit has 90" in check.message
    result = reticent.gate(small, max_tpr={0.01: 0.02}, allow=["not-measurable"])
    assert (result.checks[0].outcome, result.exit_code) == ("skipped", 0)
    assert "cannot be judged, which was allowed" in result.sentence


def test_a_rate_that_the_audit_lacks_is_never_allowed():
    check = one(document(), max_tpr={0.05: 0.1}, allow=list(ALLOWED))
    assert (check.outcome, check.reason) == ("cannot judge", "no-rate")
    assert check.message == "the audit has no false positive rate 0.05; it has 0.01"


def test_weak_attacks_fail_but_do_not_pass():
    weak = document(attack("loss"), attack("correctness"))
    check = one(weak, max_auc=0.6)
    assert (check.outcome, check.reason, check.bound) == ("cannot judge", "weak-attacks", 0.57)
    assert "it ran loss, correctness" in check.message
    assert "run lira or rmia" in check.message
    assert "need the outputs of several models" in weak_alone(["loss"], 1)
    assert one(weak, max_auc=0.51).outcome == "failed"
    allowed = one(weak, max_auc=0.6, allow=["weak-attacks"])
    assert (allowed.outcome, "allowed: no strong attack" in allowed.message) == ("passed", True)


def test_strong_attacks_have_models_that_were_not_trained_on_a_record():
    each = {name: entry.needs(entry.spec()) for name, entry in ATTACKS.items()}
    have = {name for name, needs in each.items() if needs.references_out > 0 or needs.imitators}
    assert have >= {name for name, entry in ATTACKS.items() if entry.strong} >= {"lira", "rmia", "learned"}


def test_the_document_says_which_attacks_are_strong():
    mine = document(attack("mine") | {"strong": True}, attack("loss") | {"strong": False})
    assert one(mine, max_auc=0.6).outcome == "passed"
    for strong in (False, None):
        assert one(document(attack("lira") | {"strong": strong}), max_auc=0.6).reason == "weak-attacks"


def test_of_an_empty_check_the_reason_of_its_emptiness_is_told():
    weak = document(attack("loss", others=50))
    check = one(weak, max_tpr={0.01: 0.05}, allow=["weak-attacks"])
    assert (check.outcome, check.reason) == ("cannot judge", "not-measurable")
    empty = document(attack("loss"), groups=[{"by": "sex", "fpr": 0.01, "confidence": 0.95, "groups": []}])
    check = one(empty, max_group_auc=0.6, allow=["weak-attacks"])
    assert (check.outcome, check.reason) == ("cannot judge", "no-interval")
    assert check.message == "the audit has no number for any of the groups"
    mixed = document(attack("lira", others=50), attack("loss", fpr=0.1))
    check = one(mixed, max_tpr={0.01: 0.05}, allow=["not-measurable"])
    assert (check.outcome, check.reason) == ("cannot judge", "no-rate")


@pytest.mark.parametrize(
    ("targets", "outcome"), [(1, "passed"), (2, "cannot judge"), (4, "cannot judge"), (5, "passed")]
)
def test_two_to_four_models_are_too_few_for_an_interval_over_models(targets, outcome):
    doc = document(attack("lira", targets=targets))
    assert one(doc, max_auc=0.6).outcome == outcome
    assert one(doc, max_auc=0.6, allow=["few-models"]).outcome == "passed"
    assert one(doc, max_auc=0.55).outcome == "failed"


def test_intervals_of_a_low_confidence_pass_nothing():
    low = document(*(attack(name) | {"confidence": 0.51} for name in ("lira", "loss")))
    check = one(low, max_auc=0.6, allow=list(ALLOWED_TOGETHER))
    assert (check.outcome, check.reason) == ("cannot judge", "low-confidence")
    assert "hold at 51 %, expected at least 95 %: run it again with --confidence 0.95" in check.message
    assert one(low, max_auc=0.6, allow=["low-confidence"]).outcome == "passed"
    assert one(low, max_auc=0.51).outcome == "failed"


def test_models_that_did_not_learn_cannot_pass():
    doc = document()
    doc["population"]["health"] = [{"model": 3, "problem": "labels 10 % right"}]
    check = one(doc, max_auc=0.6, allow=list(ALLOWED_TOGETHER))
    assert (check.outcome, check.reason) == ("cannot judge", "did-not-learn")
    assert "1 of 8 models did not learn" in check.message
    assert one(doc, max_auc=0.6, allow=["did-not-learn"]).outcome == "passed"
    assert one(doc, max_auc=0.51).outcome == "failed"


def test_copies_with_the_other_membership_cannot_pass():
    doc = document()
    doc["population"]["contradicted"] = 0.06
    check = one(doc, max_auc=0.6, allow=list(ALLOWED_TOGETHER))
    assert (check.outcome, check.reason) == ("cannot judge", "copies")
    assert "6.0 % of members and non-members have an exact copy" in check.message
    assert one(doc, max_auc=0.6, allow=["copies"]).outcome == "passed"
    assert one(doc, max_auc=0.51).outcome == "failed"
    doc["population"]["contradicted"] = 0.05
    assert one(doc, max_auc=0.6).outcome == "passed"


def test_a_failed_control_takes_the_meaning_from_everything():
    doc = document(control={"kind": "null", "passed": False})
    for limit in (0.51, 0.55, 0.6):
        check = one(doc, max_auc=limit, allow=list(ALLOWED))
        assert (check.outcome, check.reason) == ("cannot judge", "failed-control")
    assert (
        one(doc | {"epsilon": bounded(3.5)["epsilon"]}, max_epsilon=3, allow=list(ALLOWED)).reason == "failed-control"
    )
    for control in ({"kind": "null", "passed": True}, None):
        assert one(document(control=control), max_auc=0.6).outcome == "passed"


def test_records_in_unequal_shares_of_the_models_are_not_judged():
    doc = document(control={"kind": "null", "passed": False})
    doc["population"]["shares"] = [0.1, 0.9]
    for limit in (0.51, 0.6):
        check = one(doc, max_auc=limit, allow=list(ALLOWED))
        assert (check.outcome, check.reason) == ("cannot judge", "unequal-shares")


def test_what_guesses_hide_is_added_to_the_upper_limit():
    guesses = document(attack("lira") | {"guessed": 0.1})
    assert one(guesses, max_auc=0.58).bound == pytest.approx(0.5 + 0.07 / 0.9)
    assert one(guesses, max_auc=0.57).outcome == "failed"
    check = one(guesses, max_tpr={0.01: 0.02})
    assert (check.outcome, check.bound) == ("failed", pytest.approx(0.019 / 0.9))
    assert check.attack == "lira, its guesses allowed for"
    low = document(attack("lira", auc=(0.42, 0.4, 0.44)) | {"guessed": 0.1})
    assert one(low, max_auc=0.65).bound == pytest.approx(0.5 + 0.1 / 0.9)


@pytest.mark.parametrize("interval", [[0.6, 0.4], [0.6, 0.7], [0.2, 0.3]])
def test_an_estimate_outside_of_its_interval_is_no_pass(interval):
    doc = document()
    doc["attacks"][1]["overall"]["auc"] = {"mean": 0.5, "interval": interval}
    check = one(doc, max_auc=0.9, allow=list(ALLOWED))
    assert (check.outcome, check.reason) == ("cannot judge", "no-interval")
    assert check.message == "loss lies outside of its own interval"
    doc["attacks"][1]["overall"]["tpr_at_fpr"][0]["tpr"] = {"mean": 0.5, "interval": interval}
    assert one(doc, max_tpr={0.01: 1.0}, allow=list(ALLOWED)).reason == "no-interval"
    assert one(doc, max_auc=0.51).outcome == "failed"


@pytest.mark.parametrize(
    ("auc", "words"),
    [
        (None, ": expected an object, got null"),
        ({"mean": 0.5}, ".interval: it is missing"),
        ({"mean": 0.5, "interval": None}, ".interval: expected a list, got null"),
        ({"mean": 0.5, "interval": [0.4, 0.5, 0.6]}, ".interval: expected "),
        ({"mean": 0.5, "interval": [0.4]}, ".interval[1]: it is missing"),
        ({"mean": 0.5, "interval": [None, 0.6]}, ".interval[0]: expected a number, got null"),
        ({"mean": 0.5, "interval": "no"}, ".interval: expected a list, got 'no'"),
        ({"mean": 0.5, "interval": [-1, 0.6]}, ".interval[0]: expected greater than or equal to 0, got -1"),
        ({"mean": "0.7", "interval": [0, 1]}, ".mean: expected a number, got '0.7'"),
        ({"mean": True, "interval": [0, 1]}, ".mean: expected a number, got true"),
        ({"mean": 5, "interval": [0, 1]}, ".mean: expected less than or equal to 1, got 5"),
        ({"mean": float("nan"), "interval": [0.4, 0.6]}, ".mean: expected "),
    ],
)
def test_an_estimate_of_another_kind_is_refused_with_its_place_and_value(auc, words):
    doc = document()
    doc["attacks"][1]["overall"]["auc"] = auc
    with pytest.raises(InputError) as error:
        reticent.gate(doc, max_auc=0.9)
    assert f"attacks[1].overall.auc{words}" in str(error.value)
    assert "run the command again" in str(error.value)


@pytest.mark.parametrize("value", [-1, 2.0, "0.9"])
def test_an_accuracy_that_is_none_is_refused_with_its_place_and_value(value):
    doc = document()
    doc["population"]["accuracy"]["non_members"]["mean"] = value
    with pytest.raises(InputError, match=rf"^population\.accuracy\.non_members\.mean: expected .*, got {value!r}: "):
        reticent.gate(doc, min_accuracy=0.5)


@pytest.mark.parametrize("part", ["confidence", "name"])
def test_an_attack_that_lacks_a_part_is_refused(part):
    doc = document()
    del doc["attacks"][0][part]
    with pytest.raises(InputError, match=rf"attacks\[0\]\.{part}: it is missing"):
        reticent.gate(doc, max_auc=0.9)


def test_groups_are_called_as_in_the_report_and_long_names_shortened():
    doc = grouped(group("0", 0.6), group("1", 0.9), group("2", None), by="class")
    doc["data"]["class_names"] = ["zwei", "ünï", "y" * 10_000]
    check = one(doc, max_group_auc=0.65)
    assert check.attack == "class ünï"
    assert check.evidence[0].startswith("class zwei: 0.5000, 95 % interval 0.5000 to")
    assert one(doc, max_group_auc=0.95).message == f"too few records to measure: {'y' * 59}…"
    long = reticent.gate(grouped(group("x" * 10_000, 0.6), by="g" * 10_000), max_group_auc=0.5)
    assert len(repr(long)) < 2000
    assert f"{'x' * 59}…" in long.checks[0].message


def bounded(lower=1.0, delta=1e-5, accountant=None, consistent=None):
    return document(
        epsilon={
            "lower": lower,
            "delta": delta,
            "confidence": 0.95,
            "attack": "lira",
            "accountant": accountant,
            "consistent": consistent,
        }
    )


def spent(epsilon, delta=1e-5):
    return {"epsilon": epsilon, "delta": delta, "source": "accountant"}


@pytest.mark.parametrize(
    ("doc", "limit", "outcome", "words"),
    [
        (bounded(3.5), 3, "failed", "above the limit: epsilon is at least 3.5 (confidence 0.95), above 3"),
        (bounded(1.0), 3, "cannot judge", "never that it is below; it shows that epsilon is at least 1"),
        (document(), 3, "cannot judge", "never that it is below; a pass needs"),
        (bounded(1.0, accountant=spent(2.5)), 3, "passed", "the accountant's epsilon is 2.5, at or below 3"),
        (
            bounded(1.0, accountant=spent(8)),
            3,
            "failed",
            "not shown to be below the limit: the accountant's epsilon is 8",
        ),
        (bounded(2.9, accountant=spent(2.5)), 3, "cannot judge", "contradicts the accountant"),
        (bounded(1.0, accountant=spent(2.5), consistent=False), 3, "cannot judge", "contradicts the accountant"),
        (bounded(4.0, accountant=spent(2.5)), 3, "failed", "above the limit"),
        (bounded(1.0, accountant=spent(2.5, 1e-6)), 3, "passed", "does not contradict it"),
        (bounded(1.0, accountant=spent(2.5, 1e-4)), 3, "cannot judge", "says nothing at the delta asked for"),
        (document(epsilon={"accountant": spent(2), "delta": 1e-5}), 3, "cannot judge", "no lower bound"),
        # At a smaller delta epsilon is larger: the bound at 1e-5 holds there too; at a larger delta it does not.
        (bounded(3.5), "3@1e-6", "failed", "above the limit"),
        (bounded(3.5), "3@1e-4", "cannot judge", "never that it is below"),
        (bounded(1.0, accountant=spent(2.5)), "3@1e-4", "passed", "does not contradict it"),
        (bounded(1.0, accountant=spent(2.5)), "3@1e-6", "cannot judge", "says nothing at the delta asked for"),
    ],
)
def test_epsilon_is_bounded_from_below_by_an_audit_and_from_above_by_an_accountant(doc, limit, outcome, words):
    check = one(doc, max_epsilon=limit)
    assert check.outcome == outcome
    assert words in check.message


def test_an_epsilon_that_the_user_states_is_not_called_an_accountants():
    said = spent(2.5) | {"source": "given"}
    words = "epsilon as stated by the user, not computed, is 2.5, at or below 3"
    assert words in one(bounded(1.0, accountant=said), max_epsilon=3).message
    for lower, limit in ((1.0, 2), (2.9, 3), (1.0, "3@1e-6")):
        message = one(bounded(lower, accountant=said), max_epsilon=limit).message
        assert "as stated by the user, not computed" in message
        assert "accountant" not in message


def test_a_pass_by_a_statement_says_what_training_proves():
    doc = bounded(1.0, accountant={"epsilon": 2.5, "delta": 1e-5, "source": "given"})
    doc["epsilon"]["proven"] = {"epsilon": 7.8894, "delta": 1e-5, "source": "prv"}
    assert one(doc, max_epsilon=3).message.endswith("; training proves at most 7.89 at delta 0.00001")


def test_only_a_missing_accountant_can_be_allowed_for_epsilon():
    assert one(bounded(1.0), max_epsilon=3, allow=["no-accountant"]).outcome == "skipped"
    assert one(bounded(2.9, accountant=spent(2.5)), max_epsilon=3, allow=list(ALLOWED)).outcome == "cannot judge"


def test_the_lower_limit_of_the_accuracy_is_judged():
    arm = t.ppf(0.975, 7) * math.sqrt(0.02**2 / 8 + 0.9 * 0.1 / 1800)
    for limit, outcome in ((0.9 - arm - 1e-9, "passed"), (0.9 - arm + 1e-9, "failed"), (0.95, "failed")):
        check = one(document(), min_accuracy=limit)
        assert check.side == "at least"
        assert check.outcome == outcome
        assert (check.estimate, check.bound) == (0.9, pytest.approx(0.9 - arm, abs=1e-12))
    assert one(document(), min_accuracy=0.95).message.startswith("below the limit")
    assert one(document(), min_accuracy=0.9).message.startswith("not shown to be above the limit")
    single = document()
    single["population"] |= {
        "models": 1,
        "accuracy": {"members": {"mean": 0.9, "std": 0.0}, "non_members": {"mean": 0.9, "std": 0.0}},
    }
    low = one(single, min_accuracy=0.5).bound
    assert binom.sf(809, 900, low) == pytest.approx(0.025, abs=1e-9)


def test_the_accuracy_is_bounded_by_the_independent_non_members_else_by_those_of_one_model():
    for told, records in ((200.5, 200.5), (None, 900)):
        some = document()
        some["population"]["accuracy"]["independent"] = told
        arm = t.ppf(0.975, 7) * math.sqrt(0.02**2 / 8 + 0.9 * 0.1 / records)
        assert one(some, min_accuracy=0.5).bound == pytest.approx(0.9 - arm, abs=1e-12)


def test_an_accuracy_of_no_known_count_is_bounded_by_one_record():
    some = document(attack("loss", others=0, targets=8))
    some["population"]["accuracy"]["independent"] = None
    arm = t.ppf(0.975, 7) * math.sqrt(0.02**2 / 8 + 0.9 * 0.1)
    assert one(some, min_accuracy=0.5).bound == pytest.approx(0.9 - arm, abs=1e-12)


def test_an_accuracy_of_checkpoints_is_bounded_by_their_training_sets():
    """Two runs of 8 checkpoints: taken for 16 models, the lower limit was above the truth in 18 % of cases."""
    for sets, freedom in ((4, 3), (2, 1)):
        some = document()
        for one_attack in some["attacks"]:
            one_attack["bootstrap"] = {"replicates": 1000, "over": "models and records", "training_sets": sets}
        arm = t.ppf(0.975, freedom) * math.sqrt(0.02**2 * 7 / (8 * freedom) + 0.9 * 0.1 / 1800)
        bound = max(0.0, 0.9 - arm)
        assert one(some, min_accuracy=0.5).bound == pytest.approx(bound, abs=1e-12)
        assert one(some, max_auc=0.9).message.startswith(f"8 models were audited, which have {sets} training sets:")
    some["attacks"][0]["bootstrap"]["training_sets"] = 1
    assert one(some, min_accuracy=0.5).bound == pytest.approx(exact_interval(0.9 * 1800, 1800)[0], abs=1e-12)


def test_the_accuracy_of_references_is_not_judged():
    some = document()
    some["population"]["targets"] = [0, 3]
    assert one(some, min_accuracy=0.1).reason == "no-accuracy"
    some["population"]["accuracy_of_targets"] = {side: {"mean": 0.5, "std": 0.0} for side in ("members", "non_members")}
    check = one(some, min_accuracy=0.1)
    arm = t.ppf(0.975, 1) * math.sqrt(0.5 * 0.5 / 900)
    assert (check.estimate, check.bound) == (0.5, pytest.approx(0.5 - arm, abs=1e-12))


def test_without_an_accuracy_nothing_is_said_of_it():
    check = one(document(population={"models": 8, "health": []}), min_accuracy=0.5, allow=list(ALLOWED))
    assert (check.outcome, check.reason) == ("cannot judge", "no-accuracy")


def grouped(*groups, by="sex"):
    return document(groups=[{"by": by, "fpr": 0.01, "confidence": 0.95, "groups": list(groups)}])


def group(name, high, tpr=None):
    return {"name": name, "non_members": 300, "auc": None if high is None else estimate(0.5, 0.5, high), "tpr": tpr}


def test_every_group_must_be_below():
    check = one(grouped(group("f", 0.6), group("m", 0.7)), max_group_auc=0.65)
    assert (check.name, check.outcome) == ("AUC of each group by sex at most 0.65", "failed")
    assert (check.attack, check.bound) == ("sex m", 0.7)
    assert one(grouped(group("f", 0.6), group("m", 0.64)), max_group_auc=0.65).outcome == "passed"
    small = grouped(group("f", 0.6), group("x", None))
    check = one(small, max_group_auc=0.65)
    assert (check.outcome, check.message) == ("cannot judge", "too few records to measure: x")
    assert one(small, max_group_auc=0.65, allow=["not-measurable"]).outcome == "passed"
    assert one(small, max_group_auc=0.55).outcome == "failed"
    check = one(grouped(group("f", 0.6, estimate(0.02, 0.01, 0.04))), max_group_tpr=0.05)
    assert (check.name, check.outcome) == ("TPR at FPR 0.01 of each group by sex at most 0.05", "passed")
    assert one(document(), max_group_auc=0.6).reason == "no-groups"
    assert one(grouped(), max_group_auc=0.6).reason == "no-interval"
    both = document(groups=[*grouped(group("f", 0.6))["groups"], *grouped(group("0", 0.6), by="class")["groups"]])
    assert len(reticent.gate(both, max_group_auc=0.65).checks) == 2


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({}, "give a limit, such as --max-auc 0.6"),
        ({"allow": ["not-measurable"]}, "give a limit"),
        ({"max_auc": 1.5}, "gate: max_auc: expected less than or equal to 1"),
        ({"max_auc": 0.4}, "gate: max_auc: expected greater than or equal to 0.5"),
        ({"max_auc": float("nan")}, "max_auc"),
        ({"max_tpr": {0.01: 0.001}}, "TPR@FPR such as 0.02@0.01, not 0.001@0.01"),
        ({"max_tpr": {0.0: 0.001}}, "rates above 0 and up to 1"),
        ({"max_tpr": ["0.02"]}, "max_tpr: expected TPR@FPR such as 0.02@0.01, got '0.02'"),
        ({"max_tpr": ["x@0.01"]}, "got 'x@0.01'"),
        ({"max_tpr": ["0.02@0.01", "0.03@0.01"]}, "one limit a false-positive rate"),
        ({"max_epsilon": "3@"}, "max_epsilon: expected such as 3@1e-5"),
        ({"max_epsilon": "-1"}, "max_epsilon: expected greater than or equal to 0"),
        ({"max_epsilon": "3@2"}, "delta: expected less than 1"),
        ({"max_auc": 0.6, "delta": 1e-5}, "delta: it belongs to --max-epsilon"),
        ({"max_auc": 0.6, "allow": ["weak-atacks"]}, "did you mean 'weak-attacks'?"),
        ({"max_auc": 0.6, "allow": ["failed-control"]}, "a doubt that can be allowed"),
    ],
)
def test_bad_limits_are_refused(limits, words):
    with pytest.raises(InputError) as error:
        reticent.gate(document(), **limits)
    assert words in str(error.value)


def test_limits_from_a_file_and_single_values_that_win(tmp_path):
    file = tmp_path / "gate.toml"
    file.write_text(
        '[gate]\nmax_auc = 0.7\nmax_tpr = {"0.01" = 0.02, "0.1" = 0.2}\nmax_epsilon = "3@1e-5"\nmin_accuracy = 0\n'
        'allow = ["few-models"]\n'
    )
    limits = gather(file, {"max_tpr": ["0.03@0.01"], "max_auc": 0.6, "allow": ["weak-attacks"], "min_accuracy": None})
    assert limits == Limits(
        max_auc=0.6,
        max_tpr=((0.1, 0.2), (0.01, 0.03)),
        max_epsilon=3.0,
        delta=1e-5,
        min_accuracy=0.0,
        allow=("few-models", "weak-attacks"),
    )
    assert gather(file, {"max_epsilon": 2.0}).delta is None
    file.write_text('[gate]\nmax_tpr = ["0.02@0.01"]\n')
    assert gather(file, {}).max_tpr == ((0.01, 0.02),)
    assert tpr_at("1e-2@1e-3") == (0.001, 0.01)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[gate]\nmax_acu = 0.6", "gate: unknown key 'max_acu': did you mean 'max_auc'"),
        ("max_auc = 0.6", "unknown key 'max_auc': it belongs into a [gate] table"),
        ("[gates]\nmax_auc = 0.6", "unknown key 'gates': did you mean 'gate'?"),
        ("gate = 3", "expected a table [gate], got gate = 3"),
        ("[gate]\n", "there is nothing to judge"),
        ("", "there is nothing to judge"),
        ("[gate]\nmax_auc = '0.6'", "max_auc: expected"),
        ("[gate]\nmax_tpr = {0.01 = 0.02}", 'write the rate in quotes: max_tpr = {"0.01" = 0.02}'),
        ("[gate]\nmax_tpr = {'x' = 0.02}", "max_tpr: expected such as 0.01, got 'x'"),
        ("[gate]\nmax_tpr = 0.02", "max_tpr: expected"),
        ("[gate", "not a TOML file"),
    ],
)
def test_bad_files_of_limits_are_refused(tmp_path, content, words):
    (tmp_path / "gate.toml").write_text(content)
    with pytest.raises((SpecError, InputError)) as error:
        reticent.gate(document(), thresholds=tmp_path / "gate.toml")
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema": "reticent.audit/2"}, "expected 'reticent.audit/1', got 'reticent.audit/2'; use the version"),
        ({"schema": "reticent.comparison/1"}, "gated row by row"),
        ({"schema": None}, "got none"),
        ({"attacks": []}, "at least one attack"),
        ({"attacks": None}, "attacks: expected a list, got null"),
        ({"attacks": [3]}, "attacks[0]: expected an object, got 3"),
    ],
)
def test_what_is_no_audit_is_refused(changes, words):
    with pytest.raises(InputError) as error:
        reticent.gate(document(**changes), max_auc=0.6)
    assert words in str(error.value)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(MissingFileError, match=r"no file .*audit\.json"):
        reticent.gate(tmp_path, max_auc=0.6)
    for content, words in (
        (b"{", "not the JSON of an audit: it was cut off or edited at line 1, column 2"),
        (b"", "is empty (0 bytes): copy or download it again"),
        (b"\xff", "expected UTF-8 text, got the byte 0xff in line 1"),
        (b'{"schema": NaN}', "not the JSON of an audit: NaN is not a number that an audit may hold"),
        (
            b"[" * 100000,
            "not the JSON of an audit: it holds a number of thousands of digits, or lists in lists too deep",
        ),
        (b'{"a": ' + b"1" * 5000 + b"}", "not the JSON of an audit: it holds a number of thousands of digits"),
        (b"[]", "expected a JSON object, got list"),
        (b"\xef\xbb\xbf[]", "expected a JSON object, got list"),
    ):
        (tmp_path / "audit.json").write_bytes(content)
        with pytest.raises(CorruptFileError, match=re.escape(words)):
            reticent.gate(tmp_path, max_auc=0.6)


def test_of_the_page_of_an_audit_its_folder_is_asked_for(tmp_path):
    (tmp_path / "report.html").write_text("<!DOCTYPE html>")
    with pytest.raises(CorruptFileError, match=r"got a web page: give it, or the folder that holds it"):
        reticent.gate(tmp_path / "report.html", max_auc=0.6)


def test_a_document_is_not_changed():
    doc = document()
    kept = copy.deepcopy(doc)
    reticent.gate(doc, max_auc=0.6, max_tpr={0.01: 0.02}, max_epsilon=3, min_accuracy=0.5, max_group_auc=0.6)
    assert doc == kept


def test_a_bound_on_epsilon_is_rounded_to_the_side_where_it_holds():
    assert "epsilon is at least 3.45 " in one(bounded(3.4599), max_epsilon=3).message
    assert "the accountant's epsilon is 2.46, at" in one(bounded(1.0, accountant=spent(2.4501)), max_epsilon=3).message
    assert "it shows that" not in one(bounded(0.0), max_epsilon=3).message
