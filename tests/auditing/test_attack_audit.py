"""The audit of one attack: numbers against their parts, what is not measurable, the JSON form, the words of errors."""

import json
import math

import numpy as np
import pytest
from balanced_twin import balanced_accuracy_at
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from reticent.auditing import plot_data, roc
from reticent.auditing.attack_audit import audit_attack
from reticent.auditing.intervals import auc_interval, clopper_pearson, degenerate
from reticent.auditing.sorted_scores import Ranked
from reticent.data.membership import Membership
from reticent.errors import InputError, ShapeError


def population(models=6, records=300, distance=1.0, seed=0):
    members = Membership.draw(models, records, seed).matrix
    scores = np.random.default_rng(seed).normal(size=(models, records)) + distance * members
    return scores, members


def run(scores, members, **options):
    options = {"replicates": 200, "rng": np.random.default_rng(1), **options}
    return audit_attack("lira", {"variance": "pooled"}, scores, members, np.arange(len(scores)), **options)


def test_each_target_equals_its_parts():
    scores, members = population()
    audited = run(scores, members)
    for target, row, own in zip(audited.targets, scores, members, strict=True):
        assert target.auc.value == roc.auc(row, own)
        assert target.auc.interval == auc_interval(row, own)
        assert target.balanced_accuracy.oracle == roc.roc(row, own).balanced_accuracy()[0]
        assert target.balanced_accuracy.transferred == balanced_accuracy_at(
            row, own, target.balanced_accuracy.threshold
        )
        assert target.members + target.non_members == 300
        point = roc.tpr_at_fpr(row, own, 0.1)
        rate = target.tpr_at_fpr[0]
        assert (rate.tpr, rate.threshold, rate.realised_fpr) == (point.tpr, point.threshold, point.realised_fpr)
        low, high = clopper_pearson(point.true_positives, point.members)
        assert rate.interval == (float(low), float(high))


def test_overall_is_the_mean_over_targets_with_its_interval():
    scores, members = population()
    audited = run(scores, members)
    each = np.array([target.auc.value for target in audited.targets])
    assert audited.auc.mean == pytest.approx(each.mean(), abs=1e-14)
    assert audited.auc.std == pytest.approx(each.std(ddof=1), abs=1e-14)
    assert audited.auc.interval[0] < norm.cdf(1 / np.sqrt(2)) < audited.auc.interval[1]
    assert audited.auc.interval[1] - audited.auc.interval[0] < np.diff(audited.targets[0].auc.interval)[0]
    tpr = np.array([target.tpr_at_fpr[0].tpr for target in audited.targets])
    assert audited.rates[0].tpr.mean == pytest.approx(tpr.mean(), abs=1e-14)
    assert audited.overall.balanced_accuracy.transferred.mean <= audited.overall.balanced_accuracy.oracle.mean
    assert (audited.bootstrap.replicates, audited.bootstrap.over) == (200, "models and records")


def test_a_rate_without_enough_non_members_is_not_measurable():
    scores, members = population(records=400)
    found = run(scores, members).to_json()["overall"]["tpr_at_fpr"]
    fewest = int((~members).sum(axis=1).min())
    assert [rate["measurable"] for rate in found] == [True, True, False, False]
    assert found[2] == {
        "fpr": 0.001,
        "measurable": False,
        "records_needed": 1000,
        "members": int(members.sum(axis=1).min()),
        "non_members": fewest,
        "false_positives_allowed": 0,
        "realised_fpr": None,
        "tpr": None,
    }
    target = run(scores, members).to_json()["targets"][0]["tpr_at_fpr"][3]
    assert (target["measurable"], target["records_needed"]) == (False, 10_000)
    assert [target[key] for key in ("tpr", "interval", "threshold", "realised_fpr")] == [None] * 4


def test_a_rate_that_some_targets_cannot_measure_has_no_mean():
    members = np.zeros((2, 19), dtype=bool)
    members[0, :9] = members[1, :10] = True
    scores = np.random.default_rng(0).normal(size=(2, 19))
    audited = run(scores, members, fprs=(0.1,))
    assert [target.tpr_at_fpr[0].measurable for target in audited.targets] == [True, False]
    assert (audited.rates[0].measurable, audited.rates[0].tpr, audited.rates[0].realised_fpr) == (False, None, None)


def test_one_target_has_no_spread_and_no_transferred_threshold():
    scores, members = population(models=2)
    audited = run(scores[:1], members[:1])
    assert audited.auc.std is None
    assert audited.overall.balanced_accuracy.transferred is None
    assert audited.targets[0].balanced_accuracy.transferred is None
    assert audited.bootstrap.over == "records"
    assert audited.training_sets == 1
    assert audited.auc.interval == pytest.approx(audited.targets[0].auc.interval, abs=0.03)
    reference = run(scores[:1], members[:1], reference_scores=(scores[1:], members[1:]))
    expected = balanced_accuracy_at(scores[0], members[0], reference.targets[0].balanced_accuracy.threshold)
    assert reference.overall.balanced_accuracy.transferred.mean == expected
    assert reference.targets[0].balanced_accuracy.threshold in scores[1]


def test_all_equal_scores_are_chance_with_an_honest_interval():
    members = population()[1]
    audited = run(np.zeros(members.shape), members)
    assert audited.auc.mean == 0.5
    assert audited.auc.interval[0] < 0.495
    assert audited.auc.interval[1] > 0.505
    assert audited.rates[0].tpr.mean == 0
    assert 0 < audited.rates[0].tpr.interval[1] < 0.05
    assert audited.to_json()["targets"][0]["tpr_at_fpr"][0]["threshold"] is None


def test_order_of_the_records_and_exchange_of_the_groups():
    scores, members = population()
    order = np.random.default_rng(3).permutation(300)
    one, two = run(scores, members), run(scores[:, order], members[:, order])
    assert [t.to_json() for t in one.targets] == [t.to_json() for t in two.targets]
    exchanged = run(scores, ~members)
    assert exchanged.auc.mean == pytest.approx(1 - one.auc.mean, abs=1e-14)


def test_same_generator_same_audit_and_inputs_unchanged():
    scores, members = population()
    before = scores.copy(), members.copy()
    assert run(scores, members).to_json() == run(scores, members).to_json()
    assert np.array_equal(scores, before[0])
    assert np.array_equal(members, before[1])


def test_json_has_every_agreed_name():
    scores, members = population()
    body = run(scores, members, access="logits").to_json()
    assert body == json.loads(json.dumps(body, allow_nan=False))
    assert {"name", "spec", "access", "overall", "targets", "roc", "histogram", "bootstrap"} <= set(body)
    assert (body["name"], body["spec"], body["access"]) == ("lira", {"variance": "pooled"}, "logits")
    assert set(body["overall"]) == {"auc", "tpr_at_fpr", "balanced_accuracy"}
    assert set(body["overall"]["auc"]) == {"mean", "std", "interval", "freedom"}
    assert set(body["overall"]["balanced_accuracy"]) == {"transferred", "oracle"}
    assert set(body["targets"][0]) == {"model", "members", "non_members", "auc", "tpr_at_fpr", "balanced_accuracy"}
    assert set(body["targets"][0]["auc"]) == {"value", "interval"}
    assert body["bootstrap"] == {"replicates": 200, "over": "models and records"}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-1e300, 1e300), min_size=8, max_size=8), st.lists(st.booleans(), min_size=6, max_size=6))
def test_json_is_finite_whatever_the_scores(scores, some):
    members = np.array([True, False, *some])
    body = run(np.array([scores]), members[None], replicates=100).to_json()
    assert body == json.loads(json.dumps(body, allow_nan=False))
    for summary in (body["overall"]["auc"], body["overall"]["balanced_accuracy"]["oracle"]):
        low, high = summary["interval"]
        assert 0 <= low <= summary["mean"] <= high <= 1


def mean_roc(curves):
    grid = plot_data.grid(max(curve.non_members for curve in curves))
    found = np.stack([plot_data.found_at(curve, grid) for curve in curves])
    return plot_data.mean_roc(grid, found, np.array([curve.members for curve in curves]), 0.95)


def test_mean_curve_of_known_targets():
    first = roc.roc([3, 2, 1, 0], np.array([True, False, True, False]))
    second = roc.roc([3, 2, 1, 0], np.array([False, False, True, True]))
    drawn = mean_roc([first, second])
    assert (drawn.fpr[0], drawn.fpr[-1], len(drawn.fpr)) == (0.5, 1.0, plot_data.POINTS)
    assert drawn.tpr[0] == 0.5
    assert drawn.tpr[-1] == 1
    assert drawn.band == "targets"
    assert drawn.low[0] == pytest.approx(0.025)
    alone = mean_roc([first])
    low, high = clopper_pearson(2, 2)
    assert (alone.band, alone.low[0], alone.high[0]) == ("exact", float(low), float(high))


def test_mean_curve_agrees_with_the_rates():
    scores, members = population(models=4, records=1000)
    own = [roc.roc(row, truth) for row, truth in zip(scores, members, strict=True)]
    drawn = mean_roc(own)
    for fpr, tpr, low, high in zip(drawn.fpr, drawn.tpr, drawn.low, drawn.high, strict=True):
        each = [curve.true_positives[curve.fpr <= fpr * (1 + 1e-9)].max() / curve.members for curve in own]
        assert tpr == pytest.approx(np.mean(each), abs=1e-12)
        assert low <= tpr <= high


@pytest.mark.parametrize("scale", [1.0, 1e-12, 0.0, 1e200])
def test_histogram_is_a_density(scale):
    scores, members = population()
    scores *= scale
    rising = np.sort(scores, axis=None)
    edges = plot_data.edges(scores, rising)
    if scale in {1.0, 1e200}:
        drawn = rising.clip(-plot_data.LARGEST, plot_data.LARGEST)
        assert edges[[0, -1]].tolist() == np.quantile(drawn, [plot_data.CLIPPED, 1 - plot_data.CLIPPED]).tolist()
    counts = sum(plot_data.counted(Ranked.of(*one), edges) for one in zip(scores, members, strict=True))
    for kind, chosen in enumerate((members, ~members)):
        inner = np.digitize(scores[chosen], edges[1:-1])
        assert counts[kind].tolist() == np.bincount(inner, minlength=plot_data.BINS).tolist()
    drawn = plot_data.histogram(edges, counts)
    width = np.diff(drawn.edges)
    assert (len(width), len(drawn.members)) == (plot_data.BINS, plot_data.BINS)
    assert (width > 0).all()
    assert (np.array(drawn.members) * width).sum() == pytest.approx(1)
    assert (np.array(drawn.non_members) * width).sum() == pytest.approx(1)


def test_errors_say_what_to_do():
    scores, members = population()
    full = members.copy()
    full[3] = True
    with pytest.raises(InputError, match="got no non-members among 300 records in row 3; audit records of both kinds"):
        run(scores, full)
    with pytest.raises(InputError, match="scores: expected finite numbers, got 1800 NaN or infinite"):
        run(np.full(scores.shape, math.nan), members)
    with pytest.raises(ShapeError, match=r"members: expected shape \(6, 300\).*got \(5, 300\)"):
        run(scores, members[:5])
    with pytest.raises(ShapeError, match=r"scores: expected 2 axes, got shape \(300,\)"):
        run(scores[0], members[0])
    with pytest.raises(ShapeError, match=r"targets: expected shape \(6\).*one a row of `scores`, got \(5,\)"):
        audit_attack("x", {}, scores, members, np.arange(5), rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="replicates: expected at least 100 for an interval, got 10"):
        run(scores, members, replicates=10)
    with pytest.raises(InputError, match=r"fprs: expected distinct rates, got \[0.1, 0.1\]"):
        run(scores, members, fprs=(0.1, 0.1))
    with pytest.raises(InputError, match="confidence: expected a number between 0 and 1"):
        run(scores, members, confidence=1.0)


def planted(block, before):
    """Two targets of 100 members and 100 others; `before` others score above a block of equal scores, `block` in it.

    10 % allow 10 false positives. 30 members lie above the block, 20 in it.
    """
    others = np.concatenate([np.arange(before) / 100 + 3, np.full(block, 2.0), -np.arange(100.0 - before - block)])
    own = np.concatenate([np.arange(30) + 4.0, np.full(20, 2.0), np.full(50, -100.0)])
    scores = np.concatenate([own, others])[None].repeat(2, axis=0)
    members = (np.arange(200) < 100)[None].repeat(2, axis=0)
    return audit_attack("a", {}, scores, members, [0, 1], rng=np.random.default_rng(0), fprs=(0.1, 0.5), replicates=100)


@pytest.mark.parametrize(
    ("block", "before", "realised", "tpr", "ties"),
    [
        (20, 5, 0.05, 0.3, True),  # the next threshold accuses 25
        (5, 5, 0.1, 0.5, False),  # the block ends where the rate does
        (2, 9, 0.09, 0.3, False),  # a tenth is left unused, no more
        (3, 8, 0.08, 0.3, True),
        (60, 0, 0.0, 0.3, True),  # nothing but the members above everybody
    ],
)
def test_a_rate_that_equal_scores_decide_is_the_step_below_it_and_marked(block, before, realised, tpr, ties):
    rate = planted(block, before).rates[0]
    assert rate.realised_fpr == pytest.approx(realised)
    assert rate.tpr.mean == pytest.approx(tpr)
    assert (rate.tied, rate.tpr.to_json()["tied"]) == (ties, ties)


def test_a_rate_between_the_possible_ones_is_marked():
    """Of two models one has no threshold below 60 %, the other has all: their mean is of no threshold at all."""
    free, stuck = np.arange(200.0)[::-1], np.concatenate([np.arange(100.0), np.full(100, 200.0)])
    members = np.arange(200) % 2 == 0
    points = [roc.tpr_at_fpr(free, members, 0.1), roc.tpr_at_fpr(stuck, np.arange(200) < 100, 0.1)]
    assert [point.false_positives for point in points] == [10, 0]
    assert roc.tied(points)
    assert not roc.tied(points[:1])
    rows = np.stack([members, np.arange(200) < 100])
    rate = run(np.stack([free, stuck]), rows, fprs=(0.1,)).rates[0]
    assert (rate.realised_fpr, rate.tied) == (0.05, True)


@pytest.mark.parametrize(("inside", "outside"), [(60, 20), (20, 60)])
def test_where_nothing_varies_the_group_that_a_number_is_about_bounds_it(inside, outside):
    scores = np.arange(2.0 * (inside + outside)).reshape(2, -1)
    members = np.tile(np.arange(inside + outside) >= outside, (2, 1))
    found = run(scores, members, fprs=(0.1, 0.02))
    assert found.auc.interval == pytest.approx(degenerate(1.0, 20, 0.95), abs=1e-12)
    assert found.auc.freedom is None
    assert found.rates[0].tpr.interval == pytest.approx(degenerate(1.0, inside, 0.95), abs=1e-12)
    assert (found.rates[1].false_positives_allowed, found.rates[1].measurable) == (outside // 50, outside >= 50)
    assert (found.rates[1].members, found.rates[1].non_members) == (inside, outside)
