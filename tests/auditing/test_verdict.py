"""The verdict: which rate and attack it reports, when it calls a leak, and the words."""

import json

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm

from reticent.auditing.attack_audit import audit_attack
from reticent.auditing.intervals import widened
from reticent.auditing.verdict import allow_for_exchanged, expected_fpr, reported_fpr, with_records
from reticent.auditing.verdict import verdict as judged
from reticent.data.membership import Membership
from reticent.errors import InputError
from reticent.findings.attack import Audit, Overall, Redrawn, TargetAccuracy, TargetAudit
from reticent.findings.audit import ExposureCount, Reason
from reticent.findings.numbers import Area, OverallRate, Rate, ShareEstimate, Spread
from reticent.findings.population import Accuracy, ModelFacts, Population
from reticent.rounding import plain
from reticent.say.limits import OPEN
from reticent.say.verdict import CONCLUSIONS, spoken, word

TIED, UNJUDGED = CONCLUSIONS[Reason.TIES], CONCLUSIONS[Reason.FEW_RECORDS]
TIES, UNSURE = OPEN[Reason.TIES], OPEN[Reason.FEW_RECORDS]


def verdict(audits):
    return spoken(judged(audits), audits, Population(models=64))


def made(
    name="lira", area=(0.6, 0.55, 0.65), tpr=(0.066, 0.05, 0.08), allowed=(89, 8, 0, 0), models=64, confidence=0.95
):
    """An audit with given means and limits at FPR 0.01."""
    rates = tuple(
        OverallRate(
            fpr=fpr,
            measurable=count > 0,
            records_needed=round(1 / fpr),
            members=898,
            non_members=899,
            false_positives_allowed=count,
            tpr=ShareEstimate(mean=tpr[0], std=0.01, interval=tpr[1:]) if count else None,
        )
        for fpr, count in zip((0.1, 0.01, 0.001, 0.0001), allowed, strict=True)
    )
    overall = Overall(auc=ShareEstimate(mean=area[0], std=0.01, interval=area[1:]), tpr_at_fpr=rates)
    targets = (target(898, 899, ()),) * models
    return Audit(name=name, access="logits", strong=True, confidence=confidence, overall=overall, targets=targets)


def target(members, non_members, rates):
    return TargetAudit(
        model=0,
        members=members,
        non_members=non_members,
        auc=Area(value=0.5, interval=(0.45, 0.55)),
        tpr_at_fpr=rates,
        balanced_accuracy=TargetAccuracy(oracle=0.5),
    )


def with_rates(audit, rates):
    return audit.with_(overall=audit.overall.with_(tpr_at_fpr=tuple(rates)))


def test_the_sentence():
    said = verdict([made()])
    assert said.sentence == (
        "An attacker who accepts 1 false alarm in 100 finds 6.6 % of the training records; chance is 1 %."
    )
    assert said.detail == (
        "The 95 % interval is 5.0 to 8.0 %. The area under the ROC curve is 0.600 (95 % interval 0.550 to 0.650; "
        "chance is 0.5). Both are more than chance. Measured on 64 models, each with at least 898 members and "
        "899 non-members."
    )
    assert (said.attack, said.best_of, said.fpr, said.tpr, said.auc) == ("lira", 1, 0.01, 0.066, 0.6)
    assert said.tpr_interval == pytest.approx([0.05, 0.08])
    assert list(said.cannot_say) == [
        "Nothing can be said at a false positive rate of 0.1 %: it needs 1,000 non-members, this audit has 899.",
        "Nothing can be said at a false positive rate of 0.01 %: it needs 10,000 non-members, this audit has 899.",
        "Attacks that were not tried may find more: every figure is a lower bound on the leak.",
        "The rates are averages over records: single records can be far more exposed.",
    ]


def test_the_rate_is_chosen_by_counts_alone():
    assert reported_fpr([made(allowed=(89, 8, 0, 0))]) == 0.01
    assert reported_fpr([made(allowed=(40, 4, 0, 0))]) == 0.1
    assert reported_fpr([made(allowed=(4, 0, 0, 0))]) == 0.1
    assert reported_fpr([made(allowed=(0, 0, 0, 0))]) is None
    assert reported_fpr([made(allowed=(9000, 900, 90, 9)), made(allowed=(9000, 900, 90, 4))]) == 0.001


def test_without_a_measurable_rate_the_sentence_is_about_pairs():
    said = verdict([made(allowed=(0, 0, 0, 0))])
    assert said.sentence == (
        "Given a training record and another record, an attacker tells which is which in 60.0 % of pairs; chance is "
        "50 %."
    )
    assert (said.fpr, said.tpr, said.tpr_interval, said.leak) == (None, None, None, "found")
    assert verdict([made(area=(0.5, 0.49, 0.51), allowed=(0, 0, 0, 0))]).leak == "cannot tell"


def test_best_of_several_is_labelled_and_widened():
    said = verdict([made("loss", tpr=(0.01, 0.005, 0.02)), made("lira"), made("rmia", tpr=(0.06, 0.05, 0.07))])
    assert (said.attack, said.best_of) == ("lira", 3)
    assert "Of 3 attacks tried, 2 show a leak at that rate of false alarms; lira finds" in (said.detail)
    assert "so all these intervals are widened for that." in said.detail
    low, high = said.tpr_interval
    # Arms stretched from 1.960 to 2.394 standard errors, the quantile at 1 - 0.05 / 6.
    assert low == pytest.approx(0.066 - 0.016 * 2.39398 / 1.95996, abs=1e-6)
    assert high == pytest.approx(0.066 + 0.014 * 2.39398 / 1.95996, abs=1e-6)


def test_widened_stays_in_range_and_one_choice_changes_nothing():
    summary = ShareEstimate(mean=0.01, interval=(0.001, 0.9))
    assert widened(summary, 0.95, 1) == pytest.approx((0.001, 0.9))
    assert widened(summary, 0.95, 20) == (0.0, 1.0)


def test_the_interval_of_an_auc_is_widened_on_the_logit_scale():
    ends = expit(logit(0.9) + np.array([-1, 1]))
    summary = ShareEstimate(mean=0.9, interval=tuple(ends))
    stretch = norm.ppf(1 - 0.05 / 6) / norm.ppf(0.975)
    assert widened(summary, 0.95, 3, area=True) == pytest.approx(expit(logit(0.9) + np.array([-1, 1]) * stretch))
    certain = ShareEstimate(mean=1.0, interval=(0.9, 1.0))
    assert widened(certain, 0.95, 3, area=True) == widened(certain, 0.95, 3)


def test_an_interval_of_few_models_is_widened_by_students_quantiles():
    # From Student's table: 2.776445 at 0.975 and 3.495406 at 0.9875, with 4 degrees of freedom.
    summary = ShareEstimate(mean=0.5, interval=(0.4, 0.58), freedom=4.0)
    stretch = 3.495406 / 2.776445
    assert widened(summary, 0.95, 2) == pytest.approx((0.5 - 0.1 * stretch, 0.5 + 0.08 * stretch), abs=1e-6)
    assert widened(summary, 0.95, 1) == pytest.approx((0.4, 0.58))


def test_found_not_found_cannot_tell():
    chance = {"area": (0.5, 0.49, 0.51), "tpr": (0.01, 0.008, 0.013)}
    assert verdict([made(**chance)]).leak == "not found"
    assert "a leak that matters (an AUC of 0.55, or 2 times as many training" in verdict([made(**chance)]).detail
    wide = {"area": (0.5, 0.42, 0.58), "tpr": (0.01, 0.002, 0.04)}
    told = verdict([made(**wide)])
    assert told.leak == "cannot tell"
    assert "too small to exclude a leak that matters" in told.detail
    assert any(line.startswith("Whether there is a leak") for line in told.cannot_say)
    # One attack of several suffices for "found", and one that cannot tell spoils "not found".
    assert verdict([made(**chance), made("b", **wide)]).leak == "cannot tell"
    other = made("b", area=(0.53, 0.52, 0.54), tpr=(0.009, 0.008, 0.013))
    both = verdict([made(**chance), other])
    # The headline is about the attack that shows the leak, though the other one finds more records.
    assert (both.leak, both.attack, both.tpr) == ("found", "b", 0.009)
    # It quotes the figure that is more than chance, which is not the share of records.
    assert "an attacker tells which is which in 53.0 % of pairs; chance is 50 %." in both.sentence
    assert "An attacker who accepts 1 false alarm in 100 finds 0.9 % of the training records (" in both.detail
    assert "The area is more than chance; the share of training records found may be chance." in both.detail
    # A TPR above the rate is a leak whatever the AUC says.
    only = verdict([made(area=(0.5, 0.49, 0.51), tpr=(0.02, 0.015, 0.025))])
    assert only.leak == "found"
    assert only.sentence.startswith("An attacker who accepts 1 false alarm in 100 finds")
    assert "The share of training records found is more than chance; the area may be chance." in only.detail


def with_ties(audit, strong):
    """The same audit, of which equal scores decide the TPR at 1 %; thresholds accuse 0.3 %."""
    rates = [r.with_(realised_fpr=0.003, tpr=r.tpr and r.tpr.with_(tied=r.fpr == 0.01)) for r in audit.rates]
    return with_rates(audit, rates).with_(strong=strong)


def test_a_rate_that_equal_scores_decide_excludes_nothing():
    chance = {"area": (0.5, 0.49, 0.51), "tpr": (0.0056, 0.003, 0.008)}
    told = verdict([with_ties(made(**chance), strong=False)])
    assert (told.leak, told.tied) == ("cannot tell", True)
    assert TIED in told.detail
    assert TIES in told.cannot_say
    assert (
        "Equal scores decide what is found at 1 false alarm in 100: a threshold "
        "flags either 0.3 % of the non-members or more than 1 %, so a low share is no sign of safety."
    ) in told.detail
    # An attack that asks one model alone, and ties, takes nothing from the others; one that compares models does.
    weak, strong = (with_ties(made("b", **chance), strong=one) for one in (False, True))
    full = {"area": (0.5, 0.49, 0.51), "tpr": (0.01, 0.008, 0.013)}
    assert verdict([made(**full), weak]).leak == "not found"
    assert verdict([made(**full), weak]).tied is False
    assert verdict([made(**full), strong]).leak == "cannot tell"
    # Too wide an interval is told as that.
    wide = with_ties(made(area=(0.5, 0.42, 0.58), tpr=(0.01, 0.002, 0.04)), strong=True)
    assert TIED not in verdict([wide]).detail
    assert TIES not in verdict([wide]).cannot_say


def test_few_models_exclude_nothing_and_every_verdict_on_them_says_why():
    chance = {"area": (0.5, 0.49, 0.51), "tpr": (0.01, 0.008, 0.013)}
    warned = "How much models differ is hardly known from 4: to exclude a leak, audit 5 or more."
    few = verdict([made(models=4, **chance)])
    assert few.leak == "cannot tell"
    assert warned in few.detail
    assert "is excluded" not in few.detail
    assert any("More models would settle it" in line for line in few.cannot_say)
    found = verdict([made(models=4)])
    assert found.leak == "found"
    assert warned in found.detail
    for models in (1, 5):
        assert "hardly known" not in verdict([made(models=models, **chance)]).detail


def test_checkpoints_of_few_runs_are_few_models_whatever_their_number():
    chance = {"area": (0.5, 0.49, 0.51), "tpr": (0.01, 0.008, 0.013)}

    def audits(apart):
        drawn = Redrawn(replicates=1000, over="models and records", training_sets=apart)
        return [made(models=24, **chance).with_(bootstrap=drawn)]

    few = verdict(audits(3))
    assert (few.leak, few.reason) == ("cannot tell", "few-models")
    assert "They have 3 training sets: those of nearly the same members count as one." in few.detail
    assert "hardly known from 3: to exclude a leak, audit 5 or more." in few.detail
    assert (
        "Only 24 models, which have 3 training sets, were audited: how much they differ is hardly known."
        in few.cannot_say
    )
    one = verdict(audits(1))
    told = "The 24 models have nearly the same members: how much another training run would differ is not known."
    assert told in one.cannot_say
    assert verdict(audits(6)).leak == "not found"
    assert "nearly the same" not in verdict([made(models=24, **chance)]).detail


@pytest.mark.parametrize(("members", "leak"), [(2, "cannot tell"), (19, "cannot tell"), (20, "found")])
def test_one_model_with_few_records_is_not_judged(members, leak):
    """Two members that happen to score highest are no evidence, whatever an interval over two records says."""
    for inside in (members, 500):
        others = 500 if inside == members else members
        scores = np.concatenate([np.linspace(2, 3, inside), np.linspace(0, 1, others)])[None]
        own = (np.arange(inside + others) < inside)[None]
        one = audit_attack("loss", {}, scores, own, np.arange(1), rng=np.random.default_rng(0), replicates=100)
        said = verdict([one])
        assert said.leak == leak
        assert (UNJUDGED in said.detail) == (UNSURE in said.cannot_say) == (leak == "cannot tell")
        assert "No attack did better" not in said.detail


def test_checkpoints_of_one_run_with_few_records_are_not_judged_either():
    drawn = Redrawn(replicates=1000, over="records", training_sets=1)
    few = made(models=4).with_(bootstrap=drawn, targets=(target(8, 8, ()),) * 4)
    assert verdict([few]).reason == "few-records"
    assert verdict([few.with_(bootstrap=None)]).leak == "found"


def test_attacks_that_compare_no_models_exclude_nothing():
    chance = {"area": (0.5, 0.49, 0.51), "tpr": (0.01, 0.008, 0.013)}
    weak = made("loss", **chance).with_(strong=False)
    said = verdict([weak])
    assert (said.leak, said.reason) == ("cannot tell", "weak-attacks")
    assert CONCLUSIONS[Reason.WEAK_ATTACKS] in said.detail
    assert OPEN[Reason.WEAK_ATTACKS] in said.cannot_say
    assert verdict([weak, made(**chance)]).leak == "not found"
    assert verdict([made("loss").with_(strong=False)]).leak == "found"


def test_who_is_a_member_was_not_drawn_here_only_attacks_that_compare_models_show_a_leak():
    weak, none, some = (
        made("loss").with_(strong=False),
        made(area=(0.5, 0.47, 0.53), tpr=(0.01, 0.0, 0.02)),
        made("rmia"),
    )
    said = judged([weak, none], drawn=False)
    assert (said.leak, said.reason, said.attack) == ("cannot tell", "weak-alone", "loss")
    said = spoken(said, [weak, none], Population(models=64))
    assert CONCLUSIONS[Reason.WEAK_ALONE] in said.detail
    assert OPEN[Reason.WEAK_ALONE] in said.cannot_say
    assert judged([weak, none]).leak == "found"
    assert judged([weak], drawn=False).leak == "found"  # None that compares models ran; what is assumed is said.
    assert judged([weak, none, some], drawn=False).attack == "rmia"


def test_what_an_attack_guesses_excludes_less():
    close = made(area=(0.5, 0.458, 0.542), tpr=(0.01, 0.008, 0.013))
    assert verdict([close.with_(guessed=0.1)]).leak == "not found"
    assert verdict([close.with_(guessed=0.17)]).leak == "cannot tell"
    assert verdict([made(area=(0.5, 0.49, 0.51), tpr=(0.01, 0.0, 0.0175)).with_(guessed=0.13)]).leak == "cannot tell"


def test_of_records_in_unequal_shares_only_what_goes_beyond_permuted_membership_is_a_leak():
    seen, low, same = made(), made(area=(0.5, 0.46, 0.54), tpr=(0.01, 0.0, 0.02)), made(tpr=(0.06, 0.045, 0.07))
    found = judged([seen], [[low]])
    assert (found.leak, found.shown_by, found.chance) == ("found", ("auc", "tpr"), 0.01)
    assert (found.unequal.auc, found.unequal.tpr) == (0.54, 0.02)
    told = spoken(found, [seen], Population(models=64, shares=(0.25, 0.75), overall_confidence=0.531))
    assert told.sentence == (
        "An attacker who accepts 1 false alarm in 100 finds 6.6 % of the training records; with permuted membership, "
        "up to 2.0 %."
    )
    assert (
        "Records are in different shares of the models and how sure a model is of all records goes with which of them "
        "it holds (by that alone a likelihood ratio reaches an AUC of 0.531; chance is 0.5), so that members are told "
        "without a leak, too: with the membership permuted, where nothing leaks, lira reaches an AUC of up to 0.540, "
        "and up to 2.0 % found at that rate of false alarms."
    ) in told.detail
    for nulls in ([[same]], [[low], [same]], [[made("rmia", area=(0.5, 0.46, 0.54))]], [[low], []], []):
        said = judged([seen], nulls)
        assert (said.leak, said.reason) == ("cannot tell", "unequal-shares")
    assert judged([made(area=(0.5, 0.49, 0.51), tpr=(0.01, 0.008, 0.013))], [[low]]).leak == "cannot tell"
    assert judged([made(area=(0.4, 0.38, 0.42), tpr=(0.01, 0.008, 0.013))], [[low]]).reason == "unequal-shares"
    # The headline is of an attack that shows it.
    more = made("loss", area=(0.8, 0.78, 0.82), tpr=(0.3, 0.28, 0.32))
    assert judged([seen, more], [[low, more]]).attack == "lira"


def test_bonferroni_makes_a_close_call_chance():
    close = {"area": (0.52, 0.5005, 0.5395), "tpr": (0.011, 0.008, 0.015)}
    assert verdict([made(**close)]).leak == "found"
    assert verdict([made(**close), made("b", area=(0.5, 0.49, 0.51), tpr=(0.01, 0.008, 0.013))]).leak != "found"


def test_limits_name_few_models_few_false_alarms_and_a_wrong_sign():
    lines = verdict([made(models=1, allowed=(14, 1, 0, 0), tpr=(0.1, 0.05, 0.2))]).cannot_say
    assert (
        "The figure at a false positive rate of 1 % rests on few records: it allows each model only 1 false alarm."
        in lines
    )
    assert "One model was audited: how much another training run would differ is not known." in lines
    assert "Only 4 models were audited: how much they differ is hardly known." in verdict([made(models=4)]).cannot_say


def test_an_attack_that_works_backwards_is_a_leak_in_every_part_of_the_verdict():
    chance, wrong = {"area": (0.5, 0.49, 0.51), "tpr": (0.01, 0.008, 0.013)}, {"area": (0.4, 0.38, 0.42)}
    assert verdict([made(**chance), made("rmia", **chance)]).leak == "not found"
    said = verdict([made(**chance), made("loss", **{**chance, **wrong})])
    assert (said.leak, said.reason, said.wrong_sign) == ("cannot tell", "backwards", ("loss",))
    assert word(said) == "Leak, backwards"
    assert said.sentence == (
        "Given a training record and another record, an attacker who reads loss backwards tells which is which in "
        "60.0 % of pairs; chance is 50 %."
    )
    told = "loss (AUC 0.400) ranks members below non-members, by more than chance: read backwards, that gives members"
    assert told in said.detail
    assert "whoever reads backwards finds members: that is a leak." in said.detail
    found = verdict([made(), made("loss", **wrong)])  # A leak as attacks are meant goes first, and the other is told.
    assert (found.leak, found.reason) == ("found", "more-than-chance")
    assert told in found.detail
    assert "loss" not in found.sentence


RIGHT, LOW = (0.6, 0.7), {"area": (0.4, 0.38, 0.42)}
"""Accuracies on members and non-members of models that may have the two exchanged; the AUC of an attack on them."""


def test_checkpoints_of_one_run_that_do_worse_on_members_are_no_proof():
    drawn = Redrawn(replicates=100, over="records", training_sets=1)
    chance = {"area": (0.5, 0.48, 0.52), "tpr": (0.01, 0.008, 0.013)}
    assert brought([made(models=8, **chance)], accuracies=RIGHT).exchanged
    assert not brought([made(models=8, **chance).with_(bootstrap=drawn)], accuracies=RIGHT).exchanged


def brought(audits, models=8, accuracies=(0.7, 0.6), targets=True):
    """The verdict on models that were brought, each as often right about members and non-members as is told."""
    inside, outside = accuracies
    each = [
        ModelFacts(model=m, members=90, accuracy_members=inside, accuracy_non_members=outside) for m in range(models)
    ]
    facts = Population(
        models=models, targets=tuple(range(models)) if targets else None, health=(), per_model=tuple(each)
    )
    facts = facts.with_(accuracy=Accuracy(members=Spread(mean=inside), non_members=Spread(mean=outside)))
    return spoken(allow_for_exchanged(judged(audits), audits, facts), audits, facts)


def test_membership_that_may_be_the_wrong_way_round_is_said_first():
    lira, loss = made().with_(strong=True), made("loss", **LOW).with_(strong=False)
    said = brought([lira, loss])
    assert (said.exchanged, said.leak, word(said)) == (True, "found", "Check who is a member")
    assert said.sentence.startswith(
        "Members and non-members may be exchanged: loss (AUC 0.400) ranks members below non-members, by more than "
        "chance. Check that True in membership stands for trained on. As it stands: An attacker who"
    )
    assert "check that higher margins mean a surer model" in said.detail
    by_labels = brought([lira], accuracies=RIGHT)
    assert by_labels.sentence.startswith(
        "Members and non-members may be exchanged: each of the 8 models is more often right about non-members (70.0 % "
        "against 60.0 % on average). Check"
    )
    for other in (
        brought([lira], models=7, accuracies=RIGHT),
        brought([lira, made("confidence").with_(strong=False), made("entropy", **LOW).with_(strong=False)]),
        brought([lira, made("rmia", **LOW).with_(strong=True)]),  # It learns which way round it is.
        brought([lira, loss], targets=False),  # Who trained on what was drawn by reticent.
    ):
        assert (other.exchanged, word(other), "exchanged" in other.sentence) == (False, "Leak found", False)


def test_numbers_for_people():
    assert [plain(x) for x in (0.0001, 1e-9, 0.1, 2.0)] == ["0.0001", "0.000000001", "0.1", "2"]


def test_errors():
    with pytest.raises(InputError, match="audits: expected at least one attack, got none"):
        verdict([])
    with pytest.raises(InputError, match=r"expected one confidence for all attacks, got \[0.9, 0.95\]"):
        verdict([made(), made(confidence=0.9)])


def simulated(seed, distance, models=8, records=400):
    rng = np.random.default_rng(seed)
    members = Membership.draw(models, records, seed).matrix
    audits = []
    for name in ("a", "b", "c"):
        scores = rng.normal(size=members.shape) + distance * members
        audits.append(audit_attack(name, {}, scores, members, np.arange(models), rng=rng, replicates=200))
    return verdict(audits)


def test_a_planted_leak_is_found_and_the_verdict_is_plain_json():
    said = simulated(0, 0.8)
    assert (said.leak, said.fpr) == ("found", 0.1)
    assert said.to_json() == json.loads(json.dumps(said.to_json(), allow_nan=False))


@pytest.mark.calibration
def test_no_leak_is_found_at_most_at_the_nominal_rate():
    called = sum(simulated(seed, 0.0).leak == "found" for seed in range(300))
    # The 99.9 % binomial limit at 5 % of 300.
    assert called <= 28


def test_the_attack_is_the_one_that_finds_most_by_the_figure_of_the_sentence():
    wide = {"tpr": (0.06, 0.001, 0.12), "area": (0.539, 0.45, 0.62)}
    only = verdict([made("rmia", **wide), made("correctness", tpr=(0.0, 0.0, 0.002), area=(0.52, 0.515, 0.525))])
    assert (only.leak, only.attack, only.best_by, only.best_among) == ("found", "correctness", "auc", 1)
    assert "an attacker tells which is which" in only.sentence
    assert "only correctness shows a leak in telling pairs apart; rmia has the" in only.detail
    assert "largest AUC, 0.539." in only.detail
    # Of attacks that show the same figure, the one with most of it, whatever the other figure says.
    some = [
        made("a", area=(0.6, 0.59, 0.61), tpr=(0.01, 0.005, 0.03)),
        made("b", area=(0.7, 0.69, 0.71), tpr=(0.009, 0, 0.03)),
    ]
    told = verdict([*some, made("c", area=(0.5, 0.4, 0.6), tpr=(0.012, 0.0, 0.05))])
    assert (told.attack, told.best_by, told.best_among) == ("b", "auc", 2)
    assert "2 show a leak in telling pairs apart; b tells most pairs apart." in told.detail
    # A share of records that is more than chance goes before any area.
    told = verdict([*some, made("d", area=(0.5, 0.4, 0.6))])
    assert (told.attack, told.best_by, told.best_among) == ("d", "tpr", 1)


def test_an_attack_that_may_show_no_leak_is_not_told_as_no_better_than_chance():
    """Outputs that were brought: one that compares no models does better than chance, and does not count."""
    brought = [made("rmia"), made("loss").with_(strong=False)]
    found = spoken(judged(brought, drawn=False), brought, Population(models=64))
    assert (found.leak, found.best_among) == ("found", 1)
    assert "Of 2 attacks tried, only rmia shows a leak" in found.detail
    alone = [made("rmia", area=(0.5, 0.45, 0.55), tpr=(0.01, 0.0, 0.02)), brought[1]]
    told = spoken(judged(alone, drawn=False), alone, Population(models=64))
    assert (told.leak, told.best_among) == ("cannot tell", 1)
    assert "Of 2 attacks tried, only loss is shown to do better than chance" in told.detail


def test_equal_or_unknown_shares_leave_the_choice_to_the_area():
    zero = {"tpr": (0.0, 0.0, 0.02), "models": 4}
    told = verdict([made("a", area=(0.48, 0.4, 0.6), **zero), made("b", area=(0.51, 0.4, 0.6), **zero)])
    assert (told.leak, told.attack, told.best_by, told.best_among) == ("cannot tell", "b", "tpr", 2)
    none = {"allowed": (0, 0, 0, 0)}
    told = verdict([made("a", area=(0.48, 0.4, 0.6), **none), made("b", area=(0.51, 0.4, 0.6), **none)])
    assert (told.attack, told.best_by) == ("b", "auc")
    more = verdict([made("a", area=(0.476, 0.4, 0.6), tpr=(0.02, 0.0, 0.1)), made("b", area=(0.5, 0.4, 0.6), **zero)])
    assert (more.attack, more.best_by) == ("a", "tpr")
    assert "a finds most at that rate of false alarms; b has the largest AUC," in more.detail


def few(non_members=250, allowed=2, fpr=0.01):
    rate = Rate(fpr=fpr, records_needed=round(1 / fpr), false_positives_allowed=allowed)
    return target(non_members, non_members, (rate,))


def test_guessing_finds_more_than_the_rate_asked_for_where_few_false_positives_are_allowed():
    """A threshold that lets 2 of 250 pass lies just above the third: 3 in 251 are expected beyond it, not 1 in 100."""
    assert expected_fpr(made().with_(targets=(few(),)), 0.01) == pytest.approx(3 / 251, abs=1e-15)
    assert expected_fpr(made().with_(targets=(few(), few(999, 9))), 0.01) == pytest.approx((3 / 251 + 0.01) / 2)
    assert expected_fpr(made().with_(targets=(few(),)), 0.1) == 0.1
    assert expected_fpr(made().with_(targets=(few(1000, 4),)), 0.01) == 0.01


@pytest.mark.parametrize(("low", "leak"), [(0.0119, "cannot tell"), (0.0121, "found")])
def test_what_guessing_finds_is_no_leak(low, leak):
    audit = made(area=(0.5, 0.45, 0.55), tpr=(low + 0.004, low, low + 0.008), allowed=(25, 2, 0, 0))
    rates = [rate for rate in audit.rates if rate.fpr == 0.01]
    assert verdict([with_rates(audit, rates).with_(targets=(few(),) * 64)]).leak == leak


def test_the_chance_that_is_told_is_the_one_that_the_share_is_held_against():
    """5 of 500 non-members allowed: guessing finds 6 in 501, and an interval from 1.1 % on is not above that."""
    rate = few(500, 5)

    def told(least):
        return verdict([made("a", area=(0.502, 0.498, 0.507), tpr=(0.0135, least, 0.0161)).with_(targets=(rate,) * 8)])

    for least, shown in ((0.0113, False), (0.0119, False), (0.0121, True)):
        said = told(least)
        assert said.fpr == 0.01
        assert said.chance == pytest.approx(6 / 501, abs=1e-15)
        assert (said.leak == "found") is shown
        assert "; chance is 1.2" in said.sentence
        assert "chance is 1 %" not in said.sentence + said.detail
    assert "The 95 % interval is 1.2 to 1.6 %." in told(0.0121).detail
    assert "The 95 % interval is 1.19 to 1.6 %." in told(0.0119).detail


def test_a_rate_that_equal_scores_decide_is_no_headline():
    tied = with_ties(made("loss", area=(0.5, 0.48, 0.52), tpr=(0.0, 0.0, 0.0)), strong=True)
    assert (judged([tied]).best_by, judged([tied]).best_among) == ("auc", 1)
    other = judged([tied, made(area=(0.5, 0.48, 0.52), tpr=(0.0, 0.0, 0.001))])
    assert (other.attack, other.best_by, other.best_among) == ("lira", "tpr", 2)


def test_single_records_that_leak_beyond_doubt_are_a_leak_where_nothing_else_is():
    exposed = ExposureCount(records=500, exposed=7, confidence=0.95)
    nothing = judged([made(area=(0.5, 0.49, 0.51), tpr=(0.01, 0.009, 0.011))])
    fair = Population(models=64)
    said = with_records(nothing, exposed, fair)
    assert (nothing.leak, said.leak, said.reason) == ("not found", "found", "in-records")
    told = spoken(said, [made(area=(0.5, 0.49, 0.51), tpr=(0.01, 0.009, 0.011))], fair, (), "record", exposed)
    assert told.sentence.startswith("7 of 500 records leak beyond doubt. An attacker who accepts 1 false alarm in 100")
    assert told.detail.endswith("Over all records no attack is shown to do better than chance: the leak is of these.")
    assert with_records(nothing, exposed.with_(exposed=0), fair) == nothing
    assert with_records(nothing, exposed, fair.with_(shares=(0.1, 0.9))) == nothing
    found = judged([made()])
    assert with_records(found, exposed, fair) == found
