"""What single groups are shown to leak: limits against closed forms, a planted rare class, and what shows nothing."""

import numpy as np
import pytest
from scipy.stats import t

import reticent
from reticent.auditing.group_limits import group_limits, limited
from reticent.auditing.group_rates import seen
from reticent.auditing.groups import against_others
from reticent.auditing.intervals import area_interval
from reticent.auditing.moments import share_interval
from reticent.auditing.partition import by_class, by_column
from reticent.auditing.roc import roc
from reticent.data.membership import Membership
from reticent.findings.audit import Group, Grouping
from reticent.findings.numbers import ShareEstimate
from reticent.findings.population import Population
from reticent.rounding import down, fraction
from reticent.say.groups import spoken


def made(seed=0, targets=8, records=2000, sizes=(1, 9), shift=0.0, extra=0.0, attacks=2, lift=0.0):
    """Scores of correlated attacks; members of the first group get `extra` on top, under the last attack only."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(len(sizes), records, p=np.array(sizes) / sum(sizes))
    members = Membership.draw(targets, records, seed).matrix
    base = rng.normal(size=(targets, records))
    scores = {
        f"a{k}": 0.6 * base + 0.8 * rng.normal(size=base.shape) + shift * members + lift * (codes == 0)
        for k in range(attacks)
    }
    scores[f"a{attacks - 1}"] = scores[f"a{attacks - 1}"] + extra * members * (codes == 0)
    return by_column("g", codes, records), scores, members


def test_limits_stand_at_the_level_of_all_groups_and_attacks():
    partition, scores, members = made(shift=1.0)
    shown = group_limits([partition, partition], scores, members, first="a0").areas[0][1]
    area = seen(scores[shown.attack], members, partition.codes, 2).area
    variance, freedom = area.variance()
    # 2 partitions x 2 groups x 2 attacks; the larger group's own variance is the smaller one of the two here.
    low, _ = area_interval(area.value[1], variance[1], freedom[1], 1, 1 - 0.05 / 8)
    assert shown.auc == pytest.approx(area.value[1])
    assert shown.least <= low
    assert shown.least == pytest.approx(low, abs=0.003)
    single = group_limits([partition], {"a0": scores["a0"]}, members, first="a0").areas[0][1]
    assert single.attack != shown.attack or single.least > shown.least


def test_the_two_limits_of_an_excess_share_its_level():
    partition, scores, members = made(extra=1.0, attacks=1)
    found = group_limits([partition], scores, members, first="a0", fpr=0.05).excesses[0][0]
    limits = []
    told = seen(scores["a0"], members, partition.codes, 2, 0.05)
    for kind, rate in ((members, told.found), (~members, told.wrong)):
        variance, free = rate.variance()
        counts = (int(rate.records[0]), int((kind & (partition.codes == 0)).sum()))
        # 2 groups and 1 attack, then two limits.
        limits.append(share_interval(rate.value[0], variance[0], free[0], counts, 1 - 0.05 / 4))
    assert (found.tpr_least, found.fpr_most) == pytest.approx((limits[0][0], limits[1][1]), rel=1e-9)


def test_a_group_that_is_told_apart_well_has_the_spread_that_others_records_would_have():
    partition, scores, members = made(sizes=(1, 40), extra=3.0, attacks=1)
    area = seen(scores["a0"], members, partition.codes, 2).area
    few, many = area.records
    found = group_limits([partition], scores, members, first="a0").areas[0][0]
    arm = t.isf(0.05 / 4, min(few - 2, len(members) - 1)) * np.sqrt(area.mean[1] * many / few)  # 2 groups and 1 attack
    assert area.by_models()[0] == 0
    assert found.least == pytest.approx(area.value[0] - arm, rel=1e-9)


def test_one_model_needs_more_records_of_a_group():
    partition, scores, members = made(sizes=(1, 80))
    alone = {name: one[:1] for name, one in scores.items()}
    assert group_limits([partition], scores, members, first="a0").areas[0][0] is not None
    assert group_limits([partition], alone, members[:1], first="a0").areas[0][0] is None


@pytest.mark.parametrize(
    ("sizes", "shift", "extra"), [((1, 9, 9), 1.5, -0.5), ((1, 4), -0.6, 0.6)], ids=["leaks less", "leaks nothing"]
)
def test_a_group_that_differs_is_not_named_unless_it_leaks_and_leaks_more(sizes, shift, extra):
    partition, scores, members = made(sizes=sizes, shift=shift, extra=extra, attacks=1)
    chosen = np.arange(len(sizes))
    gap, variance, free = against_others(seen(scores["a0"], members, partition.codes, len(sizes)).area, chosen)
    assert 2 * t.sf(abs(gap[0]) / np.sqrt(variance[0]), free[0]) < 0.001
    assert group_limits([partition], scores, members, first="a0").exposed is None


def test_a_group_that_ranks_backwards_is_told_under_the_attack_that_shows_it():
    partition, scores, members = made(shift=1.0, extra=-3.0)
    limits = group_limits([partition], scores, members, first="a0")
    below, other = limits.backwards[0]
    assert other is None
    assert (below.attack, below.auc < below.most < 0.5) == ("a1", True)
    area = seen(scores["a1"], members, partition.codes, 2).area
    variance, freedom = area.variance()
    _, high = area_interval(area.value[0], variance[0], freedom[0], 1, 1 - 0.05 / 4)
    assert below.most >= high
    groups = [Group(name=name, records=9, auc=ShareEstimate(mean=0.5, interval=(0, 1))) for name in "01"]
    grouping = limited(Grouping(by="g", attack="a0", groups=groups), limits, 0)
    told = f'In group "0" by g members rank below non-members (AUC {fraction(below.auc)}, by a1), by more than chance.'
    whose = Population(models=8, targets=tuple(range(8)))
    assert spoken(grouping, (), whose).doubts == (f"{told} Check who is a member there.",)
    drawn = spoken(grouping, (), Population(models=8)).doubts
    assert drawn == (f"{told} Read backwards, that gives members away as well.",)
    assert spoken(grouping, (), whose, wrong_sign=("a1",)).doubts == ()  # The verdict tells it of all records.


def test_a_group_is_named_under_the_attack_that_shows_it():
    partition, scores, members = made(extra=2.0)
    found = group_limits([partition], scores, members, first="a0", fpr=0.01).exposed
    assert (found.by, found.name, found.attack, found.groups, found.attacks) == ("g", "0", "a1", 2, 2)
    assert 0.5 < found.auc_least < found.auc
    assert found.others == pytest.approx(0.5, abs=0.02)
    assert found.tpr > 5 * found.false_alarms
    own = partition.codes == 0
    called = [scores["a1"][t] >= roc(scores["a1"][t], members[t]).at_fpr(0.01).threshold for t in range(8)]
    wrong = [(hit & own & ~members[t]).sum() / (own & ~members[t]).sum() for t, hit in enumerate(called)]
    assert found.false_alarms == pytest.approx(np.mean(wrong))


@pytest.mark.parametrize(("sizes", "comparisons"), [((1, 9), 2), ((2, 4, 4), 6)])
def test_a_difference_is_corrected_for_all_groups_and_attacks(sizes, comparisons):
    """Two-sided; two groups make one comparison."""
    partition, scores, members = made(sizes=sizes, shift=0.8, extra=0.2)
    found = group_limits([partition], scores, members, first="a0").exposed
    count = len(sizes)
    gap, variance, free = against_others(seen(scores["a1"], members, partition.codes, count).area, np.arange(count))
    p = 2 * t.sf(gap[0] / np.sqrt(variance[0]), free[0])
    assert found.p_corrected == pytest.approx(comparisons * p, rel=1e-9)
    strict = [1 - factor * found.p_corrected for factor in (1.01, 0.99)]
    named = [group_limits([partition], scores, members, first="a0", confidence=one).exposed for one in strict]
    assert named[0] is not None
    assert named[1] is None


def test_the_verdicts_attack_goes_first_where_it_shows_the_group():
    partition, scores, members = made(extra=2.0)
    scores["a0"] = scores["a1"] + 1e-3 * scores["a0"]
    assert group_limits([partition], scores, members, first="a0").exposed.attack == "a0"
    assert group_limits([partition], scores, members, first="a1").exposed.attack == "a1"


def test_a_class_that_scores_high_as_a_whole_shows_no_excess():
    partition, scores, members = made(lift=2.0)
    found = group_limits([partition], scores, members, first="a0", fpr=0.05)
    assert seen(scores["a0"], members, partition.codes, 2, 0.05).found.value[0] > 0.3
    assert found.exposed is None
    assert found.excesses[0][0].fpr > 0.3
    assert found.excesses[0][0].least < 0.02


def test_false_alarms_of_all_records_have_no_variance_of_their_own():
    partition, scores, members = made(lift=1.0)
    codes = np.zeros_like(partition.codes)
    moments = seen(scores["a0"], members, codes, 1, 0.05).wrong
    assert moments.value[0] == pytest.approx(0.05, abs=0.002)
    # Whoever is flagged moves the threshold: a record's influence on the rate that it is chosen by is nearly nothing.
    assert moments.each.max() < 0.2 * 0.05 * 0.95 / 1000


def test_small_groups_and_one_group_show_nothing():
    partition, scores, members = made(sizes=(1, 400))
    found = group_limits([partition], scores, members, first="a0", fpr=0.01)
    assert found.areas[0][0] is None is found.excesses[0][0] is found.exposed
    alone = group_limits([by_class(np.zeros(2000, dtype=int))], scores, members, first="a0")
    assert alone.exposed is None
    assert alone.excesses == ((None,),)
    assert group_limits([], scores, members, first="a0").areas == ()


def rare(seed=0, records=4000, rarest=40, shift=6.0, models=8):
    """Outputs of models that give away a rare class, and nothing else."""
    rng = np.random.default_rng(seed)
    labels = (np.arange(records) < rarest).astype(int)
    members = Membership.draw(models, records, seed).matrix
    margins = rng.normal(size=(models, records)) + 3 + shift * members * labels
    return {"labels": labels, "membership": members, "margins": margins, "attacks": ["lira"], "classes": 2} | {
        "replicates": 100
    }


@pytest.fixture(scope="module")
def audited():
    return reticent.attack(**rare())


def test_a_rare_class_that_leaks_is_in_the_verdict(audited):
    said = audited.findings.verdict
    assert said.group.name == "1"
    assert said.group.records == 40
    assert said.group.auc > 0.98
    assert said.leak == "found"
    assert 'Class "1" (40 records) leaks more: there, an attacker tells a training record' in said.sentence
    assert "That limit and p allow for having looked at 2 groups and 1 attack." in said.detail


def test_where_only_a_group_leaks_the_group_is_the_verdict():
    said = reticent.attack(**rare(rarest=30, shift=1.5)).findings.verdict
    assert (said.leak, said.reason) == ("found", "in-a-group")
    assert said.sentence.startswith('Class "1" (30 records) leaks more')
    assert "Over all records no attack is shown to do better than chance: the leak is of this group." in said.detail


def test_a_rare_class_that_leaks_fails_the_gate(audited):
    document = audited.document
    document["population"]["health"] = []
    found = reticent.gate(document, max_auc=0.6, max_tpr={0.01: 0.1})
    outcomes = {check.name: check.outcome for check in found.checks}
    assert outcomes["AUC at most 0.6"] == "passed"
    assert outcomes["AUC of no group shown above 0.6"] == "failed"
    assert outcomes["TPR at FPR 0.01 of no group shown above 0.1"] == "failed"
    assert found.exit_code == 1
    failed = next(check for check in found.checks if check.name.startswith("AUC of no group"))
    assert failed.attack == "lira in class 1"
    assert failed.bound == audited.findings.groups[0].groups[1].area_shown.least
    failed, found = found.checks[3], audited.findings.groups[0].groups[1].excess_shown
    assert failed.bound == found.tpr_least - found.fpr_most
    assert failed.message.startswith(
        f"above the limit: lira has {fraction(found.tpr, 4)} in class 1, with false alarms at "
        f"{fraction(found.fpr, 4)}, at least {down(failed.bound, 0.1)} beyond these by a lower limit"
    )
    # Who asks for upper limits of groups gets those alone.
    names = [check.name for check in reticent.gate(document, max_auc=0.6, max_group_auc=0.9).checks]
    assert names == ["AUC at most 0.6", "AUC of each group by class at most 0.9"]


def test_groups_that_are_not_resolved_are_listed_and_pass():
    outputs = rare(shift=0.5)
    document = reticent.attack(**outputs).document
    document["population"]["health"] = []
    check = reticent.gate(document, max_auc=0.55).checks[1]
    assert check.outcome == "passed"
    assert check.unresolved == ("class 1",)
    assert "; class 1 is not resolved, and may be below or above" in check.message
    told = "all 2 checks passed. 1 group may still be above a limit (class 1): the audit is too small to tell. With"
    assert told in reticent.gate(document, max_auc=0.55).sentence
    # Of groups that are all too small nothing is shown, which is said, too.
    for group in document["groups"][0]["groups"]:
        group |= {"auc": None, "area_shown": None}
    check = reticent.gate(document, max_auc=0.55).checks[1]
    assert (check.outcome, check.unresolved) == ("passed", ("class 0", "class 1"))
    assert check.message.startswith("no group is large enough for anything to be shown of it; class 0, class 1 are not")
    # At a rate with fewer false alarms than the groups were looked at nothing is known of them.
    assert len(reticent.gate(document, max_tpr={0.0001: 0.5}).checks) == 1
