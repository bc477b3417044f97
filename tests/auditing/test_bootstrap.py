"""The bootstrap: weighted sums against records written out, the weights' law, the variance, coverage, determinism."""

import numpy as np
import pytest
from balanced_twin import balanced_accuracy_at
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logit, stdtrit
from scipy.stats import binom, ks_2samp, norm, poisson

from reticent.auditing import bootstrap as module
from reticent.auditing import roc, weighted_roc
from reticent.auditing.bootstrap import Bootstrap, affordable, bootstrap
from reticent.auditing.intervals import auc_interval, degenerate, exact_interval
from reticent.auditing.sorted_scores import Ranked
from reticent.auditing.training_sets import TrainingSets
from reticent.auditing.weighted_roc import FIXED, HEAVIEST, PIECE, _deal, _layers, _running, rank, statistics

FPRS = (0.3, 0.1, 0.02)


def targets(rng, count, records, distance=0.0, between=0.0, levels=None):
    """Scores of several models of the same records; `between` moves whole models."""
    members = rng.random((count, records)) < 0.5
    shift = distance + between * rng.normal(size=(count, 1))
    scores = rng.normal(size=(count, records)) + shift * members
    return (scores if levels is None else np.round(scores * levels)), members


@pytest.mark.parametrize("levels", [None, 1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_weights_equal_records_written_out_as_often(seed, levels):
    rng = np.random.default_rng(seed)
    (scores,), (members,) = targets(rng, 1, 70, 0.8, levels=levels)
    weights = np.minimum(rng.poisson(1, (70, 6)), HEAVIEST).astype(np.uint8)
    got = statistics(rank(Ranked.of(scores, members), 0.4), weights, FPRS)
    for column in range(6):
        again = np.repeat(np.arange(70), weights[:, column].astype(int))
        curve = roc.roc(scores[again], members[again])
        expected = [
            float(roc.auc(scores[again], members[again])),
            curve.balanced_accuracy()[0],
            balanced_accuracy_at(scores[again], members[again], 0.4),
            *[curve.at_fpr(fpr).tpr for fpr in FPRS],
        ]
        assert got[:, column] == pytest.approx(expected, abs=1e-6)


def test_unit_weights_give_the_plain_numbers():
    rng = np.random.default_rng(0)
    (scores,), (members,) = targets(rng, 1, 2000, 0.5)
    got = statistics(rank(Ranked.of(scores, members)), np.ones((2000, 2), dtype=np.uint8), (0.5, 0.1, 0.01, 1.0))
    expected = [roc.tpr_at_fpr(scores, members, fpr).tpr for fpr in (0.5, 0.1, 0.01, 1.0)]
    assert got[0] == pytest.approx(float(roc.auc(scores, members)), abs=1e-12)
    assert got[3:, 0] == pytest.approx(expected, abs=1e-12)
    assert np.array_equal(got[:, 0], got[:, 1])


def test_the_interval_of_a_large_auc_is_as_skew_as_delongs():
    """Replicates of few records and a large AUC lie too high: their quantiles are no limits."""
    ends = []
    for seed in range(8):
        scores, members = targets(np.random.default_rng(seed), 1, 100, 2.8)
        observed = np.atleast_1d(roc.auc(scores, members))
        drawn = bootstrap(scores, members, (), 400, np.random.default_rng(seed), oracle=False)
        ends.append([drawn.estimate(0, observed, 50, 0.95).interval, auc_interval(scores[0], members[0])])
    ours, delongs = logit(ends).mean(axis=0)
    assert ours == pytest.approx(delongs, abs=0.15)
    replicates = np.quantile(drawn.values[:, 0, 0], 0.025)
    assert logit(replicates) - logit(ends[-1][0][0]) > 0.2


@settings(deadline=None)
@given(
    records=st.integers(2, 3 * PIECE + 5),
    share=st.floats(0, 1),
    levels=st.sampled_from([None, 0, 1, 4]),
    heaviest=st.integers(1, HEAVIEST),
    fpr=st.floats(0, 1),
    seed=st.integers(0, 2**32),
)
def test_any_number_of_records_weights_and_ties(records, share, levels, heaviest, fpr, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=records)
    scores = scores if levels is None else np.round(levels * scores)
    members = rng.random(records) < share
    members[:2] = True, False
    weights = rng.integers(0, heaviest + 1, (records, 3)).astype(np.uint8)
    weights[:2, 0] = heaviest
    got = statistics(rank(Ranked.of(scores, members), 0.1), weights, (fpr,))
    without = statistics(rank(Ranked.of(scores, members), 0.1), weights, (fpr,), oracle=False)
    assert np.array_equal(got[[0, 2, 3]], without[[0, 2, 3]], equal_nan=True)
    for column in range(3):
        again = np.repeat(np.arange(records), weights[:, column])
        if len(set(members[again])) < 2:
            assert np.isnan(got[:3, column]).all()
            continue
        curve = roc.roc(scores[again], members[again])
        expected = [
            float(roc.auc(scores[again], members[again])),
            curve.balanced_accuracy()[0],
            balanced_accuracy_at(scores[again], members[again], 0.1),
            curve.at_fpr(fpr).tpr,
        ]
        assert got[:, column] == pytest.approx(expected, abs=1e-6)


def test_the_heaviest_weights_overflow_nothing():
    rng = np.random.default_rng(0)
    (scores,), (members,) = targets(rng, 1, 5000, 0.5)
    scores[members] += 10
    weights = np.full((5000, 2), HEAVIEST, dtype=np.uint8)
    got = statistics(rank(Ranked.of(scores, members)), weights, (0.01,))
    assert got[[0, 1, 3], 0] == pytest.approx([1, 1, 1], abs=1e-12)
    got = statistics(rank(Ranked.of(-scores, members)), weights, (0.01,))
    assert got[[0, 1, 3], 0] == pytest.approx([0, 0.5, 0], abs=1e-12)


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 101, 2500])
def test_running_sums(count):
    weights = np.random.default_rng(count).integers(0, HEAVIEST + 1, (count, 5)).astype(np.uint8)
    sums = _running(_layers(weights, _deal(np.arange(len(weights))), len(weights)))
    expected = np.concatenate([np.zeros((1, 5)), np.cumsum(weights, axis=0)])
    assert np.array_equal(sums.first(np.arange(count + 1)), expected)
    assert np.array_equal(sums.total, expected[-1])
    positions = np.random.default_rng(0).integers(0, count + 1, 5)
    assert np.array_equal(sums.first_of_each(positions), expected[positions, np.arange(5)])
    for limits in (expected[count // 2], np.maximum(expected[-1] - 1, 0), expected[count // 3] + 0.5):
        reached = np.minimum(sums.reach(limits), count)
        assert np.array_equal(reached, (expected <= limits).sum(axis=0) - 1)


def test_weights_have_mean_and_variance_one_and_are_nearly_poisson():
    share = np.diff(np.concatenate([[0], module._STEPS, [256]])) / 256
    values = np.arange(6)
    assert share @ values == 1
    assert share @ (values - 1) ** 2 == 1
    assert share @ (values - 1) ** 3 == pytest.approx(1, abs=0.02)
    assert share == pytest.approx(poisson.pmf(values, 1), abs=0.0045)
    counts = module.poisson(np.random.default_rng(0), (1001, 999))
    assert counts.max() == len(share) - 1 <= HEAVIEST
    seen = np.bincount(counts.ravel()) / counts.size
    assert np.abs(seen - share).max() < 5 * np.sqrt(0.25 / counts.size)
    # Neighbours, in the order of the bytes and across it, are independent.
    for one, two in ((counts[1:], counts[:-1]), (counts[:, 1:], counts[:, :-1])):
        assert abs(np.corrcoef(one.ravel(), two.ravel())[0, 1]) < 5 / np.sqrt(one.size)


@pytest.mark.parametrize("bit_generator", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_any_generator_will_do(bit_generator):
    counts = module.poisson(np.random.Generator(bit_generator(0)), (300, 300))
    assert counts.mean() == pytest.approx(1, abs=5 / 300)
    assert counts.var() == pytest.approx(1, abs=0.05)


def test_the_same_generator_gives_the_same_replicates():
    scores, members = targets(np.random.default_rng(0), 3, 100, 0.5)
    one, two = (bootstrap(scores, members, FPRS, 100, np.random.default_rng(7)) for _ in range(2))
    other = bootstrap(scores, members, FPRS, 100, np.random.default_rng(8))
    assert np.array_equal(one.values, two.values)
    assert np.array_equal(one.drawn, two.drawn)
    assert not np.array_equal(one.values, other.values)
    assert one.values.shape == (100, 3, len(FIXED) + 3)
    assert (one.drawn.sum(axis=1) == 3).all()
    assert one.over == "models and records"


def test_the_size_of_blocks_changes_no_law(monkeypatch):
    scores, members = targets(np.random.default_rng(0), 2, 200, 0.5)
    whole = bootstrap(scores, members, FPRS, 600, np.random.default_rng(7))
    monkeypatch.setattr(module, "BLOCK_COLUMNS", (1, 16))
    monkeypatch.setattr(module, "_BYTES", 64)
    monkeypatch.setattr(weighted_roc, "_CELLS", 40)
    small = bootstrap(scores, members, FPRS, 600, np.random.default_rng(7))
    assert np.array_equal(whole.drawn, small.drawn)
    for one, two in zip(whole.values.reshape(600, -1).T, small.values.reshape(600, -1).T, strict=True):
        assert ks_2samp(one, two).pvalue > 1e-4


def test_the_oracle_is_left_out_on_request():
    scores, members = targets(np.random.default_rng(0), 2, 200, 0.5)
    full, short = (bootstrap(scores, members, FPRS, 100, np.random.default_rng(7), oracle=o) for o in (True, False))
    assert (full.values[:, :, 1] >= 0.5).all()
    assert (short.values[:, :, 1] == 0).all()
    assert np.array_equal(np.delete(full.values, 1, axis=2), np.delete(short.values, 1, axis=2))


def test_spread_over_records_is_delongs():
    rng = np.random.default_rng(5)
    (scores,), (members,) = targets(rng, 1, 800, 0.7)
    drawn = bootstrap(scores[None], members[None], (), 2000, rng)
    from reticent.auditing.intervals import auc_interval

    assert drawn.over == "records"
    found = drawn.estimate(0, roc.auc(scores[None], members[None]), 1, 0.95)
    assert found.freedom is None  # of one model only records are redrawn
    low, high = found.interval
    exact = auc_interval(scores, members, 0.95)
    assert (low, high) == pytest.approx(exact, abs=0.06 * (exact[1] - exact[0]))


def test_transferred_column_uses_the_threshold():
    scores, members = targets(np.random.default_rng(1), 2, 300, 1.0)
    given = np.array([0.2, 0.9])
    drawn = bootstrap(scores, members, (), 400, np.random.default_rng(0), given)
    expected = [balanced_accuracy_at(scores[t], members[t], given[t]) for t in range(2)]
    assert drawn.values[:, :, 2].mean(axis=0) == pytest.approx(expected, abs=0.01)


def test_replicates_without_members_keep_the_observed_value():
    scores, members = np.arange(6.0)[None], (np.arange(6) == 5)[None]
    drawn = bootstrap(scores, members, (0.5,), 300, np.random.default_rng(0))
    lost = np.isnan(drawn.values[:, 0, 0])
    assert 60 < lost.sum() < 160
    assert drawn.estimate(0, np.array([1.0]), 7, 0.95).interval == degenerate(1.0, 7, 0.95)


def test_fewer_replicates_for_huge_audits():
    assert affordable(1000, 64, 1800) == 1000
    assert affordable(1000, 128, 50_000) == module.CELLS // (128 * 50_000)
    assert affordable(1000, 1000, 10**6) == module.FEWEST
    assert affordable(80, 1000, 10**6) == 80


def normal_replicates(rng, count, observed, by_records, by_cell):
    """Replicates of targets that share a move, and each have a move of their own."""
    values = observed + by_records * rng.normal(size=(count, 1)) + by_cell * rng.normal(size=(count, len(observed)))
    size = len(observed)
    drawn = rng.multinomial(size, np.full(size, 1 / size), size=count)
    return Bootstrap(values[:, :, None], drawn, TrainingSets.apart(values.shape[1]))


def test_variance_is_not_counted_three_times():
    rng = np.random.default_rng(2)
    observed = 0.5 + 0.01 * rng.normal(size=50)
    boot = normal_replicates(rng, 20_000, observed, 0.0, 0.01)
    low, high = boot.estimate(0, observed, 1, 0.95).interval
    # Noise of model and record together only: var = (2 s^2 - (s^2 + 0.01^2) + 0.01^2) / T = s^2 / T.
    exact = 2 * 1.96 * np.sqrt(observed.var(ddof=1) / 50)
    assert high - low == pytest.approx(exact, rel=0.05)
    means = (boot.drawn * boot.values[:, :, 0]).mean(axis=1)
    assert 2 * 1.96 * means.std() > 1.5 * exact


def test_few_models_are_paid_for_by_students_quantile():
    rng = np.random.default_rng(3)
    observed = np.array([0.4, 0.5, 0.6, 0.5])
    boot = normal_replicates(rng, 20_000, observed, 1e-4, 1e-4)
    found = boot.estimate(0, observed, 1, 0.95)
    low, high = found.interval
    assert found.freedom == pytest.approx(3, rel=0.05)
    assert (high - low) / 2 == pytest.approx(-stdtrit(3, 0.025) * observed.std(ddof=1) / 2, rel=0.12)


def test_checkpoints_of_one_run_are_no_more_models():
    """24 targets of six training sets have an interval as wide as six targets; it was half as wide."""
    misses = {1: 0, 4: 0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        members = rng.random((6, 300)) < 0.5
        scores = rng.normal(size=(6, 300)) + (0.5 + 0.3 * rng.normal(size=(6, 1))) * members
        widths = []
        for copies in misses:
            one, own = scores.repeat(copies, axis=0), members.repeat(copies, axis=0)
            drawn = bootstrap(one, own, (), 200, np.random.default_rng(seed), oracle=False)
            low, high = drawn.estimate(0, roc.auc(one, own), 1, 0.95).interval
            misses[copies] += not low <= 0.638 <= high
            widths.append(high - low)
        assert drawn.training_sets.count == 6
        assert widths[1] == pytest.approx(widths[0], rel=0.3)
    assert max(misses.values()) <= 7
    alone = bootstrap(one[:4], own[:4], (0.1,), 200, np.random.default_rng(0), oracle=False)
    assert (alone.training_sets.count, alone.over) == (1, "records")
    inside = int(own[0].sum())
    low, high = alone.estimate(len(FIXED), np.full(4, 1 / inside), inside, 0.95).interval
    exact = exact_interval(1, inside)
    assert low <= exact[0] < exact[1] <= high


def covers(rng, count, records, distance, between, statistic, truth, runs):
    inside = 0
    for _ in range(runs):
        scores, members = targets(rng, count, records, distance, between)
        drawn = bootstrap(scores, members, (0.1, 0.02), 200, rng)
        observed = (
            roc.auc(scores, members)
            if statistic == 0
            else np.array([roc.tpr_at_fpr(s, m, 0.1).tpr for s, m in zip(scores, members, strict=True)])
        )
        low, high = drawn.estimate(statistic, observed, 1, 0.95).interval
        inside += low <= truth <= high
    return inside


def test_auc_interval_covers_under_the_null():
    inside = covers(np.random.default_rng(4), 4, 120, 0.0, 0.0, 0, 0.5, 120)
    assert binom.ppf(0.0005, 120, 0.95) <= inside


@pytest.mark.calibration
@pytest.mark.parametrize("count", [1, 2, 8, 32])
@pytest.mark.parametrize(("distance", "between"), [(0.0, 0.0), (1.0, 0.0), (0.5, 0.3)])
def test_auc_interval_covers(count, distance, between):
    if count == 1 and between:
        pytest.skip("one model says nothing about the next")
    # Mean over models of Phi(d / sqrt 2) with d ~ N(distance, between).
    truth = norm.cdf(distance / np.sqrt(2 + between**2))
    inside = covers(np.random.default_rng(5), count, 200, distance, between, 0, truth, 300)
    # Few models hardly show by how much models differ: where they do not, their interval is wider than it need be.
    assert 0.91 <= inside / 300 <= (1 if 1 < count <= 8 else 0.995)


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(1, marks=pytest.mark.calibration),
        pytest.param(8, marks=pytest.mark.slow),
        pytest.param(32, marks=pytest.mark.calibration),
    ],
)
def test_tpr_interval_covers(count):
    truth = norm.cdf(norm.ppf(0.1) + 0.7)
    inside = covers(np.random.default_rng(6), count, 600, 0.7, 0.0, len(FIXED), truth, 300)
    # That of one model contains Clopper and Pearson's, which covers more often than it need.
    assert 0.91 <= inside / 300 <= (1 if count == 1 else 0.995)


@pytest.mark.parametrize("hits", [1, 2, 5])
def test_the_interval_of_one_models_rate_holds_the_exact_one(hits):
    members = np.arange(1000) < 200
    scores = np.where(members, 0.0, 1.0) + np.arange(1000) / 1e6
    scores[:hits] = 2.0
    found = bootstrap(scores[None], members[None], (0.01,), 200, np.random.default_rng(0))
    low, high = found.estimate(len(FIXED), np.array([hits / 200]), 200, 0.95).interval
    exact = exact_interval(hits, 200)
    assert low <= exact[0]
    assert high >= exact[1]
