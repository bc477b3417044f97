"""Groups of records: against loops and the crossed bootstrap, null calibration, power, and what is too small."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from reticent.attacks import score
from reticent.attacks.base import Problem
from reticent.auditing.bootstrap import bootstrap
from reticent.auditing.exposure import exposure
from reticent.auditing.group_rates import seen
from reticent.auditing.groups import against_others, careful, groups, mean, records_needed
from reticent.auditing.intervals import area_interval, clopper_pearson, degenerate
from reticent.auditing.moments import Moments, share_interval
from reticent.auditing.partition import MISSING, by_class, by_column
from reticent.auditing.roc import auc, roc, tpr_at_fpr
from reticent.auditing.training_sets import TrainingSets
from reticent.data.membership import Membership
from reticent.errors import InputError
from reticent.findings.audit import Group, Grouping
from reticent.findings.group_limits import ExposedGroup
from reticent.findings.numbers import ShareEstimate
from reticent.findings.population import Population
from reticent.say.groups import spoken
from reticent.signals.matrix import Signals

SIZES = (1, 2, 3, 5, 8, 10)


def plain(targets=6, records=300, count=4, seed=0, rounded=None):
    """Scores of members one higher, in groups of which each has its own level."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, count, records)
    members = Membership.draw(targets, records, seed).matrix
    scores = rng.normal(size=(targets, records)) + members + codes
    return scores if rounded is None else np.round(scores, rounded), members, codes


def case(seed, targets=8, records=600, sizes=SIZES, shift=1.0, extra=0.0, attack="lira", lift=0.0):
    """An audit of simulated margins: models that leak more or less, records that are harder or easier."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(len(sizes), records, p=np.array(sizes) / sum(sizes))
    members = Membership.draw(targets, records, seed)
    strength = 1 + 0.3 * rng.normal(size=(targets, 1))
    trace = shift * np.exp(0.5 * rng.normal(size=records)) + extra * (codes == len(sizes) - 1)
    margins = 2 * rng.normal(size=records) + lift * codes + rng.normal(size=(targets, records))
    signals = Signals.from_margins(margins + strength * trace * members.matrix, np.zeros(records, dtype=int), 2)
    scores = score(attack, Problem.make(signals, members))
    return by_column("g", codes, records), scores, members.matrix, exposure(signals, members)


def found(seed, fpr=0.1, **options):
    partition, scores, members, exposed = case(seed, **options)
    return said(groups(partition, scores, members, exposed, attack="a", fpr=fpr))


def said(grouping, names=()):
    return spoken(grouping, names, Population(models=8))


@pytest.mark.parametrize("rounded", [None, 0])
def test_areas_equal_the_auc_of_each_group(rounded):
    scores, members, codes = plain(rounded=rounded)
    area = seen(scores, members, codes, 4).area
    for g in range(4):
        expected = auc(scores[:, codes == g], members[:, codes == g])
        assert area.observed[:, g].tolist() == pytest.approx(expected.tolist())


@pytest.mark.parametrize("rounded", [None, 0])
def test_variances_of_areas_are_delongs(rounded):
    scores, members, codes = plain(rounded=rounded)
    area = seen(scores, members, codes, 4).area
    total = np.zeros((4, 300))
    for t in range(6):
        for g in range(4):
            inside, outside = (np.flatnonzero((codes == g) & (members[t] == kind)) for kind in (True, False))
            wins = np.sign(scores[t, inside][:, None] - scores[t, outside]) / 2 + 0.5
            v10, v01 = wins.mean(axis=1), wins.mean(axis=0)
            m, n = len(inside), len(outside)
            assert area.each[t, g] == pytest.approx(v10.var(ddof=1) / m + v01.var(ddof=1) / n)
            total[g, inside] += (v10 - v10.mean()) / np.sqrt(m * (m - 1)) / 6
            total[g, outside] += (v01 - v01.mean()) / np.sqrt(n * (n - 1)) / 6
    assert area.mean.tolist() == pytest.approx((total**2).sum(axis=1).tolist())


def test_the_difference_from_other_groups_has_their_variances_by_their_records():
    rng, records, chosen = np.random.default_rng(0), np.array([40, 100, 300]), np.arange(3)
    mean, each = rng.uniform(0.001, 0.002, 3), rng.uniform(0.002, 0.004, (4, 3))
    area = Moments(0.7 + 0.2 * rng.random((4, 3)), each, mean, records, TrainingSets.apart(4))
    gap, variance, _ = against_others(area, chosen)
    for g in chosen:
        rest = chosen != g
        share = records[rest] / records[rest].sum()
        apart = area.observed[:, g] - area.observed[:, rest] @ share
        shared = mean[g] + mean[rest] @ share**2
        interaction = 4 / 3 * ((each[:, g] + each[:, rest] @ share**2).mean() - shared)
        assert apart.var(ddof=1) > interaction
        assert gap[g] == pytest.approx(apart.mean())
        models = (apart.var(ddof=1) - interaction) / 4
        assert variance[g] == pytest.approx(careful(area, chosen)[g] + mean[rest] @ share**2 + models)


@pytest.mark.parametrize("fpr", [0.1, 0.01])
def test_rates_are_those_of_one_threshold_for_all_records(fpr):
    scores, members, codes = plain()
    rate = seen(scores, members, codes, 4, fpr).found
    for t in range(6):
        called = scores[t] >= tpr_at_fpr(scores[t], members[t], fpr).threshold
        for g in range(4):
            assert rate.observed[t, g] == pytest.approx(called[members[t] & (codes == g)].mean())
    overall = seen(scores, members, np.zeros(300, dtype=int), 1, fpr).found.observed[:, 0]
    assert overall.tolist() == [roc(s, m).at_fpr(fpr).tpr for s, m in zip(scores, members, strict=True)]


@pytest.mark.parametrize(("targets", "records"), [(1, 800), (8, 400), (16, 500)])
@pytest.mark.parametrize("kind", ["nothing", "alike", "unlike"])
def test_closed_form_equals_the_crossed_bootstrap(targets, records, kind):
    rng = np.random.default_rng(records)
    members = Membership.draw(max(targets, 2), records, 0).matrix[:targets]
    strength = {"nothing": 0, "alike": 1, "unlike": 1 + 0.5 * rng.normal(size=(targets, 1))}[kind]
    scores = rng.normal(size=(targets, records)) + strength * members + rng.normal(size=records)
    area = seen(scores, members, np.zeros(records, dtype=int), 1).area
    drawn = bootstrap(scores, members, (), 3000, rng, oracle=False).estimate(0, area.observed[:, 0], 1, 0.95).interval
    variance, freedom = area.variance()
    closed = area_interval(area.value[0], variance[0], freedom[0], records // 2, 0.95)
    width = drawn[1] - drawn[0]
    assert closed[1] - closed[0] == pytest.approx(width, rel=0.1)
    assert np.abs(np.subtract(closed, drawn)).max() < 0.12 * width


def test_the_variance_of_a_rate_is_the_bootstraps_with_the_threshold_redrawn():
    scores, members, codes = plain(8, 1200, 3, 2)
    rate = seen(scores, members, codes, 3, 0.1).found
    rng, drawn = np.random.default_rng(0), []
    for _ in range(400):
        rows = rng.integers(0, 1200, 1200)
        own = members[:, rows]
        called = [s >= roc(s, m).at_fpr(0.1).threshold for s, m in zip(scores[:, rows], own, strict=True)]
        hits = np.array(called) & own
        drawn.append([
            (hits[:, codes[rows] == g].sum(axis=1) / own[:, codes[rows] == g].sum(axis=1)).mean() for g in range(3)
        ])
    assert rate.mean.tolist() == pytest.approx(np.var(drawn, axis=0).tolist(), rel=0.3)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_order_and_names_of_groups_and_monotone_scores_change_nothing(seed):
    scores, members, codes = plain(4, 120, 3, seed % 1000)
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(120), rng.permutation(3)
    one = seen(scores, members, codes, 3).area
    other = seen(np.exp(scores[:, order]), members[:, order], names[codes[order]], 3).area
    assert np.allclose(other.observed[:, names], one.observed)
    assert other.mean[names].tolist() == pytest.approx(one.mean.tolist())
    flipped = seen(scores, ~members, codes, 3).area
    assert np.allclose(flipped.observed, 1 - one.observed)
    assert flipped.mean.tolist() == pytest.approx(one.mean.tolist())


def test_an_entry_has_every_number_and_its_count():
    partition, scores, members, exposed = case(3)
    entry = groups(partition, scores, members, exposed, attack="lira", fpr=0.1)
    assert (entry.by, entry.attack, entry.fpr, entry.confidence) == ("g", "lira", 0.1, 0.95)
    assert sum(group.records for group in entry.groups) == 600
    for g, group in enumerate(entry.groups):
        chosen = partition.codes == g
        assert group.members == pytest.approx(members[:, chosen].sum(axis=1).mean())
        assert group.members + group.non_members == group.records == chosen.sum()
        if group.auc is None:
            continue
        assert group.auc.mean == pytest.approx(auc(scores[:, chosen], members[:, chosen]).mean())
        assert group.exposure.mean == pytest.approx(exposed.exposure[chosen].mean())
        assert group.memorisation.mean == pytest.approx(exposed.memorisation[chosen].mean())
        for key in ("auc", "tpr", "exposure", "memorisation", "difference"):
            low, high = getattr(group, key).interval
            assert low < getattr(group, key).mean < high


def test_the_difference_is_from_the_mean_of_the_others_own_areas():
    partition, scores, members, exposed = case(3)
    entry = groups(partition, scores, members, exposed, attack="lira")
    known = [group for group in entry.groups if group.auc is not None]
    for one in known:
        others = [group for group in known if group is not one]
        rest = np.average([g.auc.mean for g in others], weights=[g.records for g in others])
        assert one.difference.mean == pytest.approx(one.auc.mean - rest)
    p = sorted(group.difference.p for group in known)
    assert min(group.difference.p_corrected for group in known) == pytest.approx(min(1, len(p) * p[0]))
    assert all(group.tpr is None for group in known)


NULLS = [
    pytest.param({"targets": 4}, marks=pytest.mark.slow),
    pytest.param({"records": 300, "sizes": (1,) * 10}, marks=pytest.mark.slow),
    *(
        pytest.param(options, marks=pytest.mark.calibration)
        for options in (
            {"shift": 0.0},
            {"targets": 16},
            {"targets": 16, "shift": 4.0},
            {"sizes": (1, 1)},
            {"attack": "loss", "lift": 1.5},
        )
    ),
]


@pytest.mark.parametrize("options", NULLS, ids=str)
def test_no_group_is_named_where_groups_are_alike(options):
    named = [found(seed, None, **options).most_exposed is not None for seed in range(200)]
    assert sum(named) <= stats.binom.ppf(0.99, 200, 0.05)


@pytest.mark.parametrize("options", [{"shift": 0.5, "extra": 1.0}, {"shift": 0.0, "extra": 1.5, "targets": 16}])
def test_a_planted_group_is_named(options):
    entries = [found(seed, **options) for seed in range(20)]
    assert [entry.most_exposed for entry in entries].count("5") >= 19
    assert all(entry.groups[5].stands_out == "more" for entry in entries if entry.most_exposed)


@pytest.mark.parametrize(
    "targets", [pytest.param(4, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.calibration)]
)
def test_intervals_cover_where_there_is_nothing_to_find(targets):
    entries = [found(seed, targets=targets, shift=0.0) for seed in range(80)]
    known = [group for entry in entries for group in entry.groups if group.auc is not None]
    assert len(known) > 440
    for key, truth in (("auc", 0.5), ("tpr", 0.1), ("exposure", 0.0), ("difference", 0.0)):
        covered = [getattr(group, key).interval[0] <= truth <= getattr(group, key).interval[1] for group in known]
        assert np.mean(covered) >= 0.93, key


def test_limits_are_widened_by_the_quantile_that_made_them():
    """By the normal one, a gate called one of ten groups of 5 models above a limit in 9 % of cases, not 2.5 %."""
    known = [value for group in found(0, targets=5).groups for value in (group.auc, group.tpr) if value is not None]
    assert known
    assert {value.freedom for value in known} == {4}


def test_small_groups_are_not_measurable():
    partition, scores, members, exposed = case(0, records=200, sizes=(1, 60))
    entry = groups(partition, scores, members, exposed, attack="a", fpr=0.1)
    small, large = entry.groups
    assert small.records < 10
    assert [getattr(small, key) for key in ("auc", "tpr", "difference", "stands_out")] == [None] * 4
    assert large.auc.mean > 0.5
    assert large.difference is None
    assert said(entry).sentence == (
        "The groups by g cannot be compared: each needs about 22 records, and only 1 of 2 has enough."
    )


def test_records_needed_makes_a_group_measurable():
    rng = np.random.default_rng(0)
    for targets, share in ((8, 0.5), (64, 0.5), (8, 0.1)):
        n = records_needed(targets, share)
        inside = rng.binomial(n, share, (4000, targets))
        enough = ((inside >= 5) & (n - inside >= 5)).all(axis=1).mean()
        assert 0.93 < enough <= 0.985


def test_a_small_group_that_is_told_apart_perfectly_by_chance_does_not_stand_out():
    named = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        codes = np.repeat(np.arange(20), 12)
        members = rng.permuted(np.tile([True, False], (20, 6)), axis=1).reshape(1, -1)
        scores = rng.normal(size=members.shape) + 2 * members
        signals = Signals.from_margins(np.concatenate([scores, scores]), np.zeros(240, dtype=int), 2)
        exposed = exposure(signals, np.concatenate([members, ~members]))
        entry = groups(by_class(codes), scores, members, exposed, attack="a")
        assert sum(group.auc.mean == 1 for group in entry.groups) < 20
        named += entry.most_exposed is not None
    assert named <= stats.binom.ppf(0.99, 200, 0.05)


def test_perfect_and_constant_scores_give_finite_numbers():
    members = np.random.default_rng(0).permuted(np.tile([True, False], (8, 30)), axis=1).reshape(4, 120)
    codes = np.repeat([0, 1], 60)
    scores = np.where(codes == 0, members * 1.0, 0.5)
    signals = Signals.from_margins(scores, np.zeros(120, dtype=int), 2)
    entry = groups(by_class(codes), scores, members, exposure(signals, members), attack="a", fpr=0.1)
    perfect, blind = entry.groups
    assert perfect.auc.mean == 1
    assert blind.auc.mean == 0.5
    assert 0.8 < perfect.auc.interval[0] < 1 == perfect.auc.interval[1]
    assert (perfect.stands_out, blind.stands_out) == ("more", "less")
    assert 0 < perfect.difference.p < 1e-4
    # All of the second group have one score, below the threshold.
    assert (blind.tpr.mean, blind.tpr.interval[0]) == (0, 0)
    assert 0.01 < blind.tpr.interval[1] < 0.2


def test_one_group_cannot_be_compared():
    _, scores, members, exposed = case(0)
    entry = groups(by_class(np.zeros(600, dtype=int)), scores, members, exposed, attack="a")
    assert said(entry).sentence == "The classes cannot be compared: there is only one."
    assert entry.groups[0].auc.mean == pytest.approx(auc(scores, members).mean())


def test_a_class_that_is_too_small_is_named():
    known = ShareEstimate(mean=0.5, interval=(0.4, 0.6))
    large = [Group(name=name, records=99, auc=known) for name in "01"]
    small = [Group(name=name, records=2) for name in "23"]
    needed = {"by": "class", "attack": "a", "records_needed": 28}
    assert said(Grouping(groups=[*large, small[0]], **needed)).doubts == (
        'Nothing can be said of class "2": about 28 records are needed, and it has 2.',
    )
    assert said(Grouping(groups=[*large, *small], **needed), ["ant", "bee", "cat", "dog"]).doubts == (
        'Nothing can be said of 2 of 4 classes ("cat", "dog"): about 28 records are needed, and they have fewer.',
    )
    unnamed = Group(name=MISSING, records=2)
    by = needed | {"by": "sex", "records_needed": 1028}
    assert spoken(Grouping(groups=[*large, unnamed], **by), (), Population(models=8), what="patient").doubts == (
        "Nothing can be said of the one without a value by sex: about 1,028 patients are needed, and it has 2.",
    )
    alone = spoken(Grouping(groups=[large[0], *small], **by), (), Population(models=8), what="patient").sentence
    assert "each needs about 1,028 patients, and" in alone
    assert said(Grouping(groups=small, **needed)).doubts == ()  # The sentence says it of all.


def test_sentences_name_the_group_or_say_that_none_stands_out():
    clear = found(0, shift=0.0, extra=2.0)
    assert clear.sentence.startswith('The most exposed group by g is "5": a tells its members from its')
    assert "corrected for all 6 groups" in clear.sentence
    none = found(1, shift=0.0)
    assert none.most_exposed is None
    assert re.match(r"No group by g is shown to leak more than the others, by [a-z]+: chance", none.sentence)
    partition, scores, members, exposed = case(2, sizes=(1, 1), shift=0.0, extra=2.0)
    classes = groups(by_class(partition.codes), scores, members, exposed, attack="a")
    text = said(classes, ("cats\nand dogs", "o" * 10000)).sentence
    assert "of the other class in" in text
    assert len(text) < 400
    assert "\n" not in text


def test_where_the_verdict_names_another_group_the_sentence_says_why():
    entry = found(0, shift=0.0, extra=2.0)
    named = ExposedGroup(
        by="g",
        name="4",
        records=100,
        attack="a",
        auc=0.8,
        auc_least=0.6,
        others=0.5,
        p_corrected=0.01,
        groups=6,
        attacks=7,
    )
    same, other = (
        spoken(entry, (), Population(models=8), named.with_(**one)).sentence for one in ({"name": "5"}, {"by": "h"})
    )
    assert same == other == spoken(entry, (), Population(models=8)).sentence
    stricter = spoken(entry, (), Population(models=8), named).sentence
    assert stricter.startswith(same)
    assert stricter.endswith(
        'The verdict names the group "4": of those that still stand out after a correction for all 6 groups and '
        "7 attacks, it is the furthest above the others."
    )
    assert spoken(entry, (), Population(models=8), named.with_(attack="b")).sentence.endswith(
        'The verdict names the group "4": b shows that one, and all that is said here is of a.'
    )


def test_the_most_exposed_group_is_of_those_that_stand_out_where_another_is_higher():
    entry = found(0, shift=0.0, extra=2.0)
    groups_ = list(entry.groups)
    groups_[0] = groups_[0].with_(auc=groups_[5].auc.with_(mean=0.999), stands_out=None)
    text = said(entry.with_(groups=tuple(groups_))).sentence
    assert text.startswith('The most exposed group by g of those that stand out is "5": a tells')
    assert "1 of the others has a higher value, which chance may explain." in text
    groups_[1] = groups_[1].with_(auc=groups_[0].auc, stands_out=None)
    text = said(entry.with_(groups=tuple(groups_))).sentence
    assert "2 of the others have a higher value, which" in text
    groups_[1:3] = (one.with_(stands_out="more") for one in entry.groups[1:3])
    text = said(entry.with_(groups=tuple(groups_))).sentence
    assert '2 more stand out as well ("1", "2"). 1 of the others has a higher value' in text


def test_shares_without_a_hit_have_clopper_and_pearsons_limit():
    low, high = share_interval(0.0, 0.0, 1e9, (40, 400), 0.95)
    assert (low, high) == (0, pytest.approx(float(clopper_pearson(0, 40)[1])))
    low, high = share_interval(0.25, 0.25 * 0.75 / 100, 1e9, (40, 400), 0.95)
    assert [low, high] == pytest.approx([float(limit) for limit in clopper_pearson(25, 100)], rel=1e-6)
    assert share_interval(1.0, 0.0, 1e9, (40, 400), 0.95)[0] == pytest.approx(float(clopper_pearson(40, 40)[0]))


def masked(values, known):
    return np.ma.MaskedArray(np.array(values, dtype=float), mask=~np.array(known, dtype=bool))


def test_means_over_records_are_students():
    values, errors = masked([1, 2, 4, 9, 9], [1, 1, 1, 0, 1]), masked([0.1] * 5, [1] * 5)
    chosen = np.array([True, True, True, True, False])
    got = mean(values, errors, chosen, 0.9)
    arm = stats.t.isf(0.05, 2) * np.std([1, 2, 4], ddof=1) / np.sqrt(3)
    assert got.mean == pytest.approx(7 / 3)
    assert got.interval == pytest.approx([7 / 3 - arm, 7 / 3 + arm])
    equal = mean(masked([0, 0], [1, 1]), masked([0.3, 0.3], [1, 1]), np.ones(2, dtype=bool), 0.95, limit=1.0)
    assert equal.interval == (-1, 1)
    assert mean(values, errors, np.array([False] * 3 + [True] * 2), 0.95) is None


def test_bad_scores_are_refused():
    partition, scores, members, exposed = case(0)
    with pytest.raises(InputError, match="scores"):
        groups(partition, np.full_like(scores, np.nan), members, exposed, attack="a")
    with pytest.raises(InputError, match=r"codes: expected shape \(599\)"):
        groups(partition, scores[:, 1:], members[:, 1:], exposed, attack="a")


def test_a_group_that_is_told_apart_perfectly_is_bounded_by_its_smaller_kind():
    members = np.tile(np.arange(24) % 12 < 8, (2, 1))
    signals = Signals.from_margins(members.astype(float), np.zeros(24, int), classes=2)
    kinds = by_column("kind", ["a"] * 12 + ["b"] * 11 + ["c"], 24)
    both, _, one = groups(kinds, members.astype(float), members, exposure(signals, members), attack="a").groups
    assert both.auc is None  # 4 non-members are too few
    assert one.auc is None
    kinds = by_column("kind", ["a"] * 24, 24)
    (whole,) = groups(kinds, members.astype(float), members, exposure(signals, members), attack="a").groups
    assert whole.auc.interval == pytest.approx(degenerate(1.0, 8, 0.95), abs=1e-12)
