"""The blind baseline: known shifts, none, folds, its interval, and what attacks find beyond it."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import rankdata

from reticent.auditing.blind import baseline as blind
from reticent.auditing.blind.baseline import FOLDS, baseline, folds
from reticent.auditing.blind.excess import Beyond
from reticent.auditing.blind.features import of_records
from reticent.auditing.bootstrap import poisson, replicated
from reticent.auditing.intervals import delong
from reticent.auditing.roc import tpr_at_fpr
from reticent.findings.blind import Known

RNG = np.random.default_rng


@pytest.fixture(scope="module")
def shifted():
    """One column of 15 shifted by one standard deviation for members; a label that says nothing."""
    rng = RNG(1)
    x, members = rng.normal(size=(2_000, 15)), rng.random(2_000) < 0.5
    x[members, 0] += 1
    return x, members, rng.integers(0, 3, 2_000)


@pytest.fixture(scope="module")
def found(shifted):
    x, members, labels = shifted
    return baseline(members[None], labels, x.__getitem__, seed=0)


def test_a_column_shifted_by_one_standard_deviation_is_found(found):
    assert found.found.auc == pytest.approx(ndtr(1 / np.sqrt(2)), abs=0.03)
    low, high = found.found.interval
    assert low < ndtr(1 / np.sqrt(2)) < high
    assert found.found.shift
    assert found.found.detectable is None
    assert (found.found.by, found.found.folds, found.found.records, found.found.models) == (Known.RECORDS, 5, 2_000, 1)
    assert found.found.labels.interval[0] < 0.5 < found.found.labels.interval[1]


def test_area_and_interval_are_the_formulas(found, shifted):
    _, members, _ = shifted
    told = found.told[0]
    areas, variances = zip(
        *(delong(told.scores[told.folds == k], members[told.folds == k]) for k in range(5)), strict=True
    )
    error = np.sqrt(np.mean(variances) * (1 / 5 + 1 / 4))
    assert found.found.auc == pytest.approx(np.mean(areas), rel=1e-12)
    assert found.found.interval == pytest.approx((np.mean(areas) - 1.959964 * error, np.mean(areas) + 1.959964 * error))


def test_constant_features_say_nothing():
    members = np.arange(200) % 2 == 0
    said = baseline(members[None], np.zeros(200, int), np.ones((200, 4)).__getitem__, seed=0).found
    assert said.auc == said.labels.auc == 0.5
    assert not said.shift
    assert said.interval[0] < 0.5 < said.interval[1]
    assert said.detectable is None  # nothing could have been found


def test_other_labels_are_a_shift_by_the_labels_alone():
    rng = RNG(1)
    members = rng.random(4_000) < 0.5
    labels = (rng.random(4_000) < np.where(members, 0.7, 0.4)).astype(int)
    said = baseline(members[None], labels, seed=0).found
    assert said.auc == pytest.approx(0.65, abs=0.02)  # (1 + .7 - .4) / 2
    assert said.shift
    assert (said.by, said.labels) == (Known.LABELS, None)


def test_a_label_of_one_record_says_nothing():
    """What is known of a label is counted in the other folds, and there it does not occur."""
    members = np.arange(200) % 2 == 0
    assert baseline(members[None], np.arange(200), seed=0).found.auc == 0.5


def test_no_shift_tells_how_large_one_would_have_been_found():
    rng = RNG(2)
    members = rng.random(3_000) < 0.5
    said = baseline(members[None], rng.integers(0, 10, 3_000), seed=0).found
    assert not said.shift
    _, high = said.interval
    assert said.detectable == pytest.approx(0.5 + high - said.auc)


def test_the_direction_of_a_shift_does_not_matter(shifted):
    x, members, labels = (values[:500] for values in shifted)
    areas = [baseline(rows[None], labels, x[:, :2].__getitem__, seed=0).found.auc for rows in (members, ~members)]
    assert areas[0] > 0.7
    assert areas[1] == pytest.approx(areas[0], abs=0.01)


def test_duplicates_stay_in_one_fold_and_folds_are_even():
    rng = RNG(3)
    members, groups = rng.random(1_003) < 0.3, rng.integers(0, 700, 1_003)
    dealt = folds(members, groups, RNG(0))
    assert all(len(set(dealt[groups == group])) == 1 for group in np.unique(groups))
    alone = folds(members, np.arange(1_003), RNG(0))
    for kind in (members, ~members):
        counts = np.bincount(alone[kind], minlength=FOLDS)
        assert counts.max() - counts.min() <= 1


def test_duplicates_count_once():
    """A record that stands there five times would be recognised if its copies were learned from."""
    rng = RNG(4)
    x, members = rng.normal(size=(100, 3)).repeat(5, axis=0), (rng.random(100) < 0.5).repeat(5)
    apart = baseline(members[None], np.zeros(500, int), x.__getitem__, np.arange(500), seed=0).found
    together = baseline(members[None], np.zeros(500, int), x.__getitem__, np.arange(100).repeat(5), seed=0).found
    assert (apart.records, together.records) == (500, 100)
    assert apart.shift
    assert not together.shift
    members[:5] = True, False, True, True, False  # the first record is a member, and again none: both count
    assert baseline(members[None], np.zeros(500, int), None, np.arange(100).repeat(5), seed=0).found.records == 101


def test_the_same_seed_gives_the_same_baseline_and_few_records_none(shifted):
    x, members, labels = (values[:300] for values in shifted)
    first, second = (baseline(members[None], labels, x.__getitem__, seed=5) for _ in range(2))
    assert first.found == second.found
    assert np.array_equal(first.told[0].scores, second.told[0].scores)
    few = np.arange(300) < 19
    assert baseline(few[None], labels, x.__getitem__, seed=5) is None
    assert baseline(~few[None], labels, x.__getitem__, seed=5) is None


def test_of_many_records_and_models_some_are_looked_at(monkeypatch, shifted):
    _, members, labels = shifted
    monkeypatch.setattr(blind, "RECORDS", 500)
    rows = np.stack([np.roll(members, k) for k in range(9)])
    said = baseline(rows, labels, seed=0)
    assert said.found.records == len(said.ids) == 500
    assert said.targets.tolist() == [0, 3, 5, 8]
    assert said.found.models == 4


def test_rare_members_are_all_looked_at(monkeypatch):
    """Of a hundred members among 300,000 records, 20,000 drawn without looking hold seven."""
    rng = RNG(1)
    members = np.zeros((2, 30_000), dtype=bool)
    members[0, rng.choice(30_000, 100, replace=False)] = True
    members[1] = rng.random(30_000) < 0.5
    monkeypatch.setattr(blind, "RECORDS", 2_000)
    labels = np.where(rng.random(30_000) < 0.8, members[0], rng.integers(0, 2, 30_000)).astype(int)
    asked = []

    def features(rows):
        asked.append(rows)
        return rng.normal(size=(len(rows), 2))

    one, both = baseline(members[:1], labels, features, seed=0), baseline(members, labels, seed=0)
    assert members[0, one.ids].sum() == members[0, both.ids].sum() == 100
    assert len(one.ids) == len(both.ids) == 2_000
    assert one.found.shift
    assert members[1, both.ids].mean() == pytest.approx(0.5, abs=0.05)
    assert np.array_equal(asked[0], one.ids)  # nothing is made of the other records


def test_members_that_are_duplicates_of_each_other_are_few():
    rng = RNG(2)
    members, groups = np.arange(400) < 30, np.maximum(np.arange(400) - 29, 0)
    assert baseline(members[None], rng.integers(0, 3, 400), None, groups, seed=0) is None
    assert baseline(members[None], rng.integers(0, 3, 400), seed=0) is not None


def attack(found, shifted, leak, scale=1.0):
    """What an attack finds that sees the shifted column, with noise, and the membership itself, as far as it leaks."""
    x, members, _ = shifted
    scores = x[:, 0] + leak * members + RNG(7).normal(size=len(x)) * scale
    return Beyond(found, members[None], (0.1, 0.01, 0.0001), RNG(8), 500).excess(scores[None], 0.95), scores


def test_a_shift_alone_is_no_excess_and_a_leak_beside_it_is_one(found, shifted):
    _, members, _ = shifted
    none, scores = attack(found, shifted, 0.0, 0.0)
    assert none.blind_auc == found.found.auc
    assert none.auc.difference == pytest.approx(delong(scores, members)[0] - found.found.auc, rel=1e-9)
    assert none.auc.interval[0] < 0 < none.auc.interval[1]
    assert [rate.fpr for rate in none.rates] == [0.1, 0.01]  # .0001 allows no false positive
    assert all(rate.tpr.interval[0] < 0.01 for rate in none.rates)
    some, scores = attack(found, shifted, 1.5)
    assert some.auc.interval[0] > 0
    assert some.at(0.1).tpr.interval[0] > 0
    expected = tpr_at_fpr(scores, members, 0.1).tpr - some.at(0.1).blind_tpr
    assert some.at(0.1).tpr.difference == pytest.approx(expected, rel=1e-12)
    assert some.at(0.3) is None


def test_the_excess_allows_for_another_training_of_the_baseline(found, shifted):
    """Its variance is more than that of the difference of two fixed scores on the same records."""
    _, members, _ = shifted
    said, scores = attack(found, shifted, 1.5)
    _, fixed = delong(scores, members)
    arm = (said.auc.interval[1] - said.auc.interval[0]) / 2 / 1.96
    assert arm > fixed**0.5


def test_an_attack_that_finds_what_the_baseline_does_is_uncertain_by_its_training_alone(found, shifted):
    """Replicates of both take the same records, so that the difference of two equal scores has no spread of its own."""
    _, members, _ = shifted
    told, ranks = found.told[0], np.empty(2_000)
    for fold in range(FOLDS):
        part = told.folds == fold
        ranks[part] = rankdata(told.scores[part]) / (part.sum() + 1)  # folds on one scale
    said = Beyond(found, members[None], (0.1,), RNG(8), 500).excess(ranks[None], 0.95).at(0.1)
    weights = poisson(RNG(8), (2_000, 500))
    own = replicated(ranks[None], members[None], (0.1,), weights)[:, 0, -1]
    arm = 1.959964 * np.sqrt(own.var(ddof=1) * FOLDS / (FOLDS - 1))
    assert said.blind_tpr == tpr_at_fpr(ranks, members, 0.1).tpr
    assert said.tpr.difference == 0
    assert said.tpr.interval == pytest.approx((-arm, arm), rel=1e-6)


def test_targets_are_averaged(shifted):
    x, members, labels = shifted
    x, members, labels = x[:400, :2], members[:400], labels[:400]
    rows = np.stack([members, ~members])
    both = baseline(rows, labels, x.__getitem__, seed=0)
    beyond = Beyond(both, rows, (0.1,), RNG(0), 200)
    said = beyond.excess(np.stack([x[:, 0], -x[:, 0]]), 0.95)
    areas = [delong(sign * x[:, 0], row)[0] for sign, row in zip((1, -1), rows, strict=True)]
    assert said.auc.difference == pytest.approx(np.mean(areas) - both.found.auc, rel=1e-9)


def test_features_of_pictures():
    x = np.zeros((2, 3, 16, 16), dtype=np.uint8)
    x[1, 0] = 255
    x[1, :, :2, :2] = 32
    found = of_records("image", x)
    assert found.shape == (2, 3 + 3 + 8 * 3 + 64)
    assert found[0, :6].tolist() == [0] * 6
    assert found[0, 6:9].tolist() == [1, 1, 1]
    assert found[1, 6 + 3 * 1] == 4 / 256  # the first channel's share of values from 32 to 63
    assert found[1, 6 + 3 * 7] == 252 / 256
    assert found[1, 30] == 32  # the thumbnail's first pixel
    assert found[1, 31] == pytest.approx(255 / 3)
    assert of_records("image", np.full((1, 1, 3, 5), 9, np.uint8)).shape == (1, 1 + 1 + 8 + 15)


def test_features_of_texts():
    x = np.array([[5, 5, 7, 0], [7, 9, 0, 0], [7, 7, 7, 7]])
    found = of_records("tokens", x)
    assert found[:, -1].tolist() == [3, 2, 4]
    assert found[:, 0].tolist() == pytest.approx(np.log1p([1, 1, 4]))  # token 7 stands in most records
    assert found.shape == (3, 5)


def test_features_of_tables_are_the_columns():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(of_records("tabular", x), x)
