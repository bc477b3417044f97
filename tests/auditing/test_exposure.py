"""Exposure, memorisation and probability of records: against loops, exact checks, calibration, and what is masked."""

import math
from dataclasses import fields
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from reticent.attacks import score
from reticent.attacks.base import Problem
from reticent.auditing import permutation_test
from reticent.auditing.draws import Draws
from reticent.auditing.exposure import count_exposed as counted
from reticent.auditing.exposure import exposure
from reticent.auditing.membership_probability import membership_probability
from reticent.data.membership import Membership
from reticent.errors import InputError, ShapeError
from reticent.say.exposure import spoken
from reticent.signals import matrix as signals_module
from reticent.signals.matrix import Signals


def sets(models, log_odds=0.0):
    return permutation_test.Sets.of(np.zeros(models) + log_odds)


def exposed(found):
    return spoken(counted(found))


def listed(found):
    """One mapping a record; None where a number is not known."""
    names = [one.name for one in fields(found) if one.name not in {"models", "draws"}]
    return [
        dict(zip(names, row, strict=True)) for row in zip(*(getattr(found, n).tolist() for n in names), strict=True)
    ]


def logit(p):
    return np.log(p) - np.log1p(-np.asarray(p))


def case(models=8, records=40, queries=1, seed=0):
    rng = np.random.default_rng(seed)
    membership = Membership.draw(models, records, seed)
    margins = rng.normal(size=(models, records, queries)) + membership.matrix[:, :, None]
    return Signals.from_margins(margins, rng.integers(0, 3, records), classes=3), membership


def test_equals_a_loop_over_records():
    signals, membership = case(queries=2)
    found = exposure(signals, membership)
    table = np.asarray(signals.margins[:, 0:40])[:, :, 0]
    within = [
        table[known, i].var(ddof=1) for i in range(40) for known in (membership.matrix[:, i], ~membership.matrix[:, i])
    ]
    for i in range(40):
        margins = np.asarray(signals.margins[:, i : i + 1])[:, 0, 0]
        inside, outside = margins[membership.matrix[:, i]], margins[~membership.matrix[:, i]]
        chance = [1 / (1 + np.exp(-group)) for group in (inside, outside)]
        pooled = np.sqrt((3 * inside.var(ddof=1) + 3 * outside.var(ddof=1) + 4 * np.mean(within)) / 10)
        distance = (inside.mean() - outside.mean()) / pooled
        assert found.mean_in[i] == pytest.approx(inside.mean())
        assert found.std_out[i] == pytest.approx(outside.std(ddof=1))
        assert found.exposure[i] == pytest.approx(distance)
        assert found.exposure_error[i] == pytest.approx(np.sqrt(0.5 + distance**2 / 20))
        own = np.sqrt((inside.var(ddof=1) + outside.var(ddof=1)) / 2)
        steps = (inside.mean() - outside.mean()) / (max(own, pooled) * np.sqrt(0.5))
        assert found.distance[i] == pytest.approx(steps)
        exact = permutation_test.chance(table[:, i], membership.matrix[:, i], sets(8))
        student = max(stats.t.sf(steps, 6), 1 / 70)
        assert found.distance_p[i] == pytest.approx(student)
        assert found.distance_p_corrected[i] >= min(1, max(student, exact)) * (1 - 1e-9)
        assert found.memorisation_soft[i] == pytest.approx(chance[0].mean() - chance[1].mean())
        error = np.sqrt(chance[0].var(ddof=1) / 4 + chance[1].var(ddof=1) / 4)
        assert found.memorisation_soft_error[i] == pytest.approx(error)


def test_memorisation_of_tabulated_probabilities():
    chance = np.array([0.9, 0.9, 0.9, 0.1, 0.1, 0.9, 0.1, 0.1])[:, None]
    membership = np.repeat((np.arange(8) < 4)[:, None], 2, axis=1)
    membership[:, 1] = ~membership[:, 1]
    signals = Signals.from_margins(np.repeat(logit(chance), 2, axis=1), [0, 1])
    found = exposure(signals, membership)
    assert found.memorisation_soft.tolist() == pytest.approx([0.4, -0.4])


# IN models label the first record correctly 3 times in 4, OUT models once; all label the second one so, none the third.
# The last one is the first with IN and OUT exchanged.
RIGHT = np.array([[1, 1, 1, 0, 0, 1, 0, 0], [1] * 8, [0] * 8, [1, 1, 1, 0, 0, 1, 0, 0]], dtype=bool).T


def alone(matrix):
    """Take each model for a draw."""
    each = np.arange(len(matrix))
    return Draws(matrix, each, each, np.zeros(len(matrix), bool), each, np.zeros(len(matrix)))


HALF = np.array([[True] * 3 + [False]] * 4 + [[False] * 3 + [True]] * 4)


def answers(right, classes):
    """Logits whose label is the largest where an answer is right, with labels 0, 1, ..."""
    labels = np.arange(right.shape[1]) % classes
    logits = np.random.default_rng(0).uniform(-0.4, 0.4, (*right.shape, classes))
    at = (slice(None), np.arange(right.shape[1]), labels)
    logits[at] = np.where(right, 0.5, -0.5)
    return logits, labels


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_memorisation_is_feldmans(classes):
    found = exposure(Signals.from_logits(*answers(RIGHT, classes)), HALF, alone(HALF))
    assert found.memorisation.tolist() == [0.5, 0, 0, -0.5]
    # Agresti and Caffo: one success and one failure more on each side.
    shares = [(4 / 6, 2 / 6), (5 / 6, 5 / 6), (1 / 6, 1 / 6), (2 / 6, 4 / 6)]
    errors = [np.sqrt(sum(p * (1 - p) / 6 for p in pair)) for pair in shares]
    assert found.memorisation_error.tolist() == pytest.approx(errors)
    assert min(errors) > 0.2
    # Models of the same members are one draw: one more of each to one half, or to a quarter.
    found = exposure(Signals.from_logits(*answers(RIGHT, classes)), HALF)
    assert found.memorisation.tolist() == [0.5, 0, 0, -0.5]
    shares = [(1.75 / 3, 1.25 / 3), (2 / 3, 2 / 3), (1 / 3, 1 / 3), (1.25 / 3, 1.75 / 3)]
    errors = [np.sqrt(sum(p * (1 - p) / 3 for p in pair)) for pair in shares]
    assert found.memorisation_error.tolist() == pytest.approx(errors)


def test_memorisation_of_exactly_one_half_is_no_less_by_rounding():
    """7 of 10 less 2 of 10 is 0.49999999999999994 as a difference of two floats, and would not count as memorised."""
    for half in range(2, 33, 2):
        hits = [(k + half // 2, k) for k in range(half // 2 + 1)]
        right = np.array([[i < a for i in range(half)] + [i < b for i in range(half)] for a, b in hits]).T
        membership = np.repeat([[True], [False]], half, axis=0).repeat(len(hits), axis=1)
        right, membership = np.hstack([right, right]), np.hstack([membership, ~membership])
        labels = np.zeros(2 * len(hits), int)
        found = exposure(Signals.from_margins(np.where(right, 1.0, -1.0), labels, 2), membership)
        assert found.memorisation.tolist() == [0.5] * len(hits) + [-0.5] * len(hits)


def test_memorisation_of_two_classes_is_known_from_margins():
    logits, labels = answers(RIGHT, 2)
    margins = Signals.from_logits(logits, labels).margins[:, 0:4][:, :, 0]
    found = exposure(Signals.from_margins(margins, labels, 2), HALF)
    assert found.memorisation.tolist() == [0.5, 0, 0, -0.5]


def test_memorisation_is_unknown_from_margins_of_more_classes():
    signals, membership = case()
    found = exposure(signals, membership)
    assert found.memorisation.tolist() == found.memorisation_error.tolist() == [None] * 40
    assert found.memorisation_soft.count() == 40


def test_a_tie_is_no_right_answer():
    logits = np.zeros((4, 2, 3))
    logits[2:, :, 2] = -1
    membership = np.array([[True, False], [True, False], [False, True], [False, True]])
    assert exposure(Signals.from_logits(logits, [2, 0]), membership).memorisation.tolist() == [0, 0]


def test_memorisation_of_a_record_that_is_never_out_is_none():
    membership = HALF.copy()
    membership[:, 1] = True
    membership[:, 2] = False
    found = exposure(Signals.from_logits(*answers(RIGHT, 3)), membership)
    assert found.memorisation.tolist() == [0.5, None, None, -0.5]
    assert found.distance.tolist()[1:3] == [None, None]
    assert found.distance_p_corrected.tolist()[1:3] == [None, None]


def test_a_constant_record_has_no_memorisation_and_no_exposure():
    signals = Signals.from_margins(np.full((4, 3), 3.0), [0, 1, 0])
    matrix = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]) > 0
    found = exposure(signals, matrix, alone(matrix))
    assert found.memorisation.tolist() == found.memorisation_soft.tolist() == [0, 0, 0]
    assert found.exposure.tolist() == found.distance.tolist() == [None, None, None]
    told = exposed(found)
    assert (told.records, told.same) == (0, True)
    assert told.sentence.startswith("No single record is judged: the models that were trained on a record all say")
    assert "three models" not in told.sentence
    few = exposed(exposure(signals, np.array([[True, False, False]] * 4)))
    assert not few.same
    assert "at least three models" in few.sentence


@pytest.mark.parametrize("models", [6, 10, 12, 64])
@pytest.mark.parametrize("value", [0.1, 0.7, 1e-3, -1234.567])
@pytest.mark.parametrize("apart", [0.0, 0.2])
def test_what_rounding_leaves_of_equal_margins_is_no_spread(models, value, apart):
    membership = Membership.draw(models, 64, 0)
    margins = value + apart * membership.matrix
    found = exposure(Signals.from_margins(margins, np.zeros(64, int), 2), membership)
    assert found.exposure.tolist() == found.distance.tolist() == [None] * 64
    assert found.std_in.tolist() == found.std_out.tolist() == [0] * 64
    assert exposed(found).same
    margins[:, 0] = np.random.default_rng(0).normal(size=models)
    assert exposure(Signals.from_margins(margins, np.zeros(64, int), 2), membership).exposure.count() == 64


def test_what_too_few_models_say_is_none():
    by_record = [[True, False, True, False], [True, False, False, False], [True] * 4, [False] * 4]
    membership = np.array(by_record).T
    signals = Signals.from_margins(np.arange(16.0).reshape(4, 4) ** 2 / 10, [0, 1, 0, 1])
    rows = listed(exposure(signals, membership, alone(membership)))
    assert [(row["k_in"], row["k_out"]) for row in rows] == [(2, 2), (1, 3), (4, 0), (0, 4)]
    assert all(value is not None for value in rows[0].values())
    assert [name for name, value in rows[1].items() if value is None] == ["std_in", "memorisation_soft_error"]
    assert [name for name, value in rows[2].items() if value is None] == [
        "mean_out",
        "std_out",
        "exposure",
        "exposure_error",
        "distance",
        "distance_p",
        "distance_p_corrected",
        "memorisation",
        "memorisation_error",
        "memorisation_soft",
        "memorisation_soft_error",
    ]
    assert [rows[3][name] for name in ("mean_in", "std_in", "exposure", "memorisation")] == [None] * 4
    found = exposure(signals, membership)
    assert np.isfinite(found.exposure.data).all()
    assert np.flatnonzero(~np.ma.getmaskarray(found.exposure)).tolist() == [0, 1]


def test_the_planted_record_is_the_most_exposed():
    signals, membership = case(models=32, records=200, seed=1)
    margins = np.asarray(signals.margins[:, 0:200]).copy()
    margins[:, 17, 0] += 8 * membership.matrix[:, 17]
    found = exposure(Signals.from_margins(margins, signals.labels, classes=3), membership)
    assert found.exposure.argmax() == 17


def test_records_whose_few_models_agree_by_chance_are_not_the_most_exposed():
    signals, membership = case(models=4, records=2000, seed=3)
    found = exposure(signals, membership)
    assert found.exposure.max() < 6  # the plain ratio goes beyond 50 here
    assert found.exposure.mean() == pytest.approx(1, abs=0.1)


def test_exposure_estimates_the_distance_within_its_error():
    signals, membership = case(models=32, records=2000, seed=2)
    found = exposure(signals, membership)
    z = (found.exposure - 1) / found.exposure_error
    assert z.mean() == pytest.approx(0, abs=0.1)
    assert z.std() == pytest.approx(1, abs=0.06)


def test_blocks_change_nothing(monkeypatch):
    signals, membership = case()
    whole = listed(exposure(signals, membership))
    monkeypatch.setattr(signals_module, "BLOCK_BYTES", 8 * 8 * 8 * 7)
    assert listed(exposure(signals, membership)) == whole


def test_shapes_must_agree():
    signals, _ = case()
    with pytest.raises(ShapeError, match=r"membership: expected shape \(8, 40\) \(models, records\), got \(8, 41\)"):
        exposure(signals, Membership.draw(8, 41, 0))


def exact_chances(margins, inside, drawn):
    return np.array([permutation_test.chance(*one, drawn) for one in zip(margins.T, inside.T, strict=True)])


def test_distances_are_corrected_by_holm_over_the_records_that_have_one():
    signals, membership = case(models=32, records=50, seed=5)
    table = np.asarray(signals.margins[:, 0:50])[:, :, 0] + 3 * membership.matrix * (np.arange(50) < 3)
    found = exposure(Signals.from_margins(table, signals.labels, 3), membership)
    limits = permutation_test.limits(table, membership.matrix, sets(32))
    exact = np.where(limits <= 1e-3 / 50, limits, exact_chances(table, membership.matrix, sets(32)))
    enough = np.sort(found.distance_p.data) * (50 - np.arange(50)) < 0.5  # Only where it could count.
    could = np.isin(np.arange(50), np.argsort(found.distance_p.data)[np.logical_and.accumulate(enough)])
    p, expected = np.where(could, np.maximum(found.distance_p.data, exact), found.distance_p.data), np.zeros(50)
    for rank, record in enumerate(np.argsort(p)):
        expected[record] = min(1, max(p[record] * (50 - rank), expected.max(initial=0)))
    assert could.sum() >= 3
    assert found.distance_p_corrected.tolist() == pytest.approx(expected.tolist())
    told = exposed(found)
    assert told.records == 50
    assert told.exposed == np.count_nonzero(expected <= 0.05) >= 3
    assert told.distance_needed == pytest.approx(stats.t.isf(0.05 / 50, 30))
    assert told.sentence.startswith(f"{told.exposed} of 50 records leak beyond doubt (95 % sure")


def test_the_chance_never_rises_with_the_distance_though_some_records_are_judged_exactly():
    signals, membership = case(models=12, records=300, seed=4)
    table = np.asarray(signals.margins[:, 0:300])[:, :, 0] + 2 * membership.matrix
    table[:, ::2] = np.sign(table[:, ::2]) * 5  # Two modes: here the exact chance is far above Student's.
    found = exposure(Signals.from_margins(table, signals.labels, 3), membership)
    order = np.argsort(-found.distance.data, kind="stable")
    p, corrected = found.distance_p.data[order], found.distance_p_corrected.data[order]
    assert (np.diff(p) >= 0).all()
    assert p[0] == pytest.approx(1 / math.comb(12, 6))
    assert (np.diff(corrected) < 0).any()  # What a record is judged by does, where margins are not normal.
    assert (corrected >= p).all()


def test_records_that_cannot_be_judged_are_counted():
    signals, membership = case(models=8, records=30, seed=5)
    matrix = membership.matrix.copy()
    matrix[:, 7] = False
    told = exposed(exposure(signals, matrix))
    assert told.records == 29
    assert told.sentence.endswith(
        " 1 of all 30 records is not judged: that takes at least three models, some that were trained on the record "
        "and some that were not."
    )
    assert "not judged" not in exposed(exposure(signals, membership)).sentence


@pytest.mark.parametrize("kind", ["normal", "unequal", "heavy", "skewed"])
@pytest.mark.parametrize("models", [4, 12])
def test_records_without_a_trace_are_rarely_called_exposed(kind, models):
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        shape = (models, 200)
        noise = {
            "normal": lambda rng=rng, shape=shape: rng.normal(size=shape),
            "unequal": lambda rng=rng, shape=shape: rng.normal(size=shape) * np.exp(rng.normal(size=200)),
            "heavy": lambda rng=rng, shape=shape: rng.standard_t(3, size=shape),
            "skewed": lambda rng=rng, shape=shape: rng.exponential(size=shape),
        }[kind]()
        signals = Signals.from_margins(noise + rng.normal(size=200), np.zeros(200, dtype=int), 2)
        alarms += exposed(exposure(signals, Membership.draw(models, 200, seed))).exposed > 0
    assert alarms <= stats.binom.ppf(0.99, 200, 0.05)


def test_too_few_models_for_any_record_are_said_to_be_too_few():
    signals, membership = case(models=4, records=300, seed=4)
    told = exposed(exposure(signals, membership))
    assert (told.exposed, told.distance_needed) == (0, None)
    assert told.sentence == (
        "4 models are too few to show that a single record leaks: among 300 records, one may look exposed by chance. "
        "At least 15 models are needed, half of them trained on each record. Single records may leak all the same."
    )


def test_models_that_hold_nearly_all_records_are_not_said_to_be_too_few():
    """20-fold cross-validation was told that 20 models are too few, and 20 needed."""
    folds = Membership(np.arange(1000) % 20 != np.arange(20)[:, None])
    signals = Signals.from_margins(np.random.default_rng(0).normal(size=(20, 1000)), np.zeros(1000, dtype=int), 2)
    told = exposed(exposure(signals, folds))
    assert told.distance_needed is None
    assert told.sentence.startswith(
        "No single record can be shown to leak: 20 models could show it if each record were in half of them."
    )


def test_the_chance_over_memberships_of_the_algorithms_page():
    margins = np.array([0.0, 0, 1, 1])
    assert permutation_test.chance(margins, margins > 0, sets(4)) == pytest.approx(1 / 6, rel=1e-12)


@pytest.mark.parametrize("spread", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("law", ["normal", "whole numbers", "two modes"])
def test_the_chance_over_memberships_equals_full_enumeration(law, spread):
    rng = np.random.default_rng(1)
    for _ in range(60):
        models = int(rng.integers(3, 11))
        inside = rng.permutation(models) < rng.integers(1, models)
        margins = {
            "normal": lambda n=models: rng.normal(size=n),
            "whole numbers": lambda n=models: rng.integers(-2, 3, n).astype(float),
            "two modes": lambda n=models: 10.0 * (rng.random(n) < 0.5) + 0.3 * rng.normal(size=n),
        }[law]()
        step = np.ptp(margins) / permutation_test.STEPS
        rounded = np.rint((margins - margins.min()) / step) if step else np.zeros(models)
        log_odds = spread * rng.normal(size=models)
        each = [list(one) for one in combinations(range(models), int(inside.sum()))]
        sums = np.array([rounded[one].sum() for one in each])
        weights = np.exp([log_odds[one].sum() for one in each])
        share = weights[sums >= rounded[inside].sum()].sum() / weights.sum()
        drawn = sets(models, log_odds)
        assert permutation_test.chance(margins, inside, drawn) == pytest.approx(share, rel=1e-9 if spread else 1e-12)
        limit = permutation_test.limits(margins[:, None], inside[:, None], drawn)
        assert limit[0] >= share * (1 - 1e-9)
        assert np.exp(drawn.log_least(inside.sum())) == pytest.approx(weights.min() / weights.sum())
        assert np.exp(drawn.log_chance(inside)) == pytest.approx(np.exp(log_odds[inside].sum()) / weights.sum())


def test_the_chance_over_memberships_of_very_many_models_stays_a_number():
    inside = np.arange(1200) < 300
    expected = 1 / math.comb(1200, 300)
    assert permutation_test.chance(np.where(inside, 1.0, 0.0), inside, sets(1200)) == pytest.approx(expected, rel=1e-9)
    far = sets(1200, np.where(np.arange(1200) % 2, 4.0, -4.0))
    chance = permutation_test.chance(np.random.default_rng(0).normal(size=1200), inside, far)
    assert 0.1 < chance < 0.9


def test_rounding_to_the_grid_hardly_moves_the_chance(monkeypatch):
    rng = np.random.default_rng(4)
    inside = np.repeat(np.arange(32)[:, None] < 16, 20, axis=1)
    margins = rng.normal(size=(32, 20)) + inside
    found = exact_chances(margins, inside, sets(32))
    monkeypatch.setattr(permutation_test, "STEPS", 5000)
    apart = np.log(found) - np.log(exact_chances(margins, inside, sets(32)))
    assert np.abs(apart).max() < 0.5
    assert 0 < apart.mean() < 0.15


def test_the_quick_limit_is_above_the_chance_and_near_it():
    rng = np.random.default_rng(3)
    inside = np.arange(40) < 20
    for shift in (0.0, 1.0, 3.0):
        margins = rng.normal(size=(40, 20)) + shift * inside[:, None]
        both = np.repeat(inside[:, None], 20, axis=1)
        exact, limits = exact_chances(margins, both, sets(40)), permutation_test.limits(margins, both, sets(40))
        assert (limits >= exact).all()
        assert shift == 0 or (limits <= 300 * exact).all()


def split(models, apart=10.0):
    """Give one record of 2,000 high margins in all IN models, and low ones in all OUT models."""
    signals, membership = case(models=models, records=2000, seed=7)
    margins = np.asarray(signals.margins[:, 0:2000])[:, :, 0] - membership.matrix
    margins[:, 5] = apart * membership.matrix[:, 5] + 0.01 * np.arange(models)
    return exposure(Signals.from_margins(margins, signals.labels, 3), membership)


@pytest.mark.parametrize(("models", "ways", "count"), [(16, 12_870, 0), (18, 48_620, 1), (32, 601_080_390, 1)])
def test_no_record_counts_that_chance_explains(models, ways, count):
    found = split(models)
    assert 1 - 1e-9 <= found.distance_p[5] * ways <= (1 + 1e-9 if models < 32 else 300)
    told = exposed(found)
    assert told.exposed == count
    assert (
        ("At least 18 models are needed" in told.sentence) == (round(told.memberships or 0) == 12870) == (models == 16)
    )


def test_a_record_in_a_quarter_of_the_models_has_fewer_ways():
    rng = np.random.default_rng(2)
    matrix = rng.permuted(np.tile((np.arange(16) < 4)[:, None], (1, 50)), axis=0)
    margins = rng.normal(size=(16, 50))
    margins[:, 3] = 10.0 * matrix[:, 3] + 0.01 * rng.normal(size=16)
    found = exposure(Signals.from_margins(margins, np.zeros(50, int), 2), matrix)
    assert found.distance_p[3] == pytest.approx(1 / 1820, rel=1e-9)
    assert exposed(found).exposed == 1


def beliefs(models=8, shift=2.0, records=60, seed=0):
    rng = np.random.default_rng(seed)
    membership = Membership.draw(models, records, seed)
    margins = rng.normal(size=(models, records)) + shift * membership.matrix
    problem = Problem.make(Signals.from_margins(margins, np.zeros(records, dtype=int), 2), membership)
    return score("lira", problem), membership.matrix


def test_probability_equals_a_loop():
    ratios, members = beliefs()
    found = membership_probability(ratios, members, 0.9)
    for i in range(60):
        chances = 1 / (1 + np.exp(-ratios[members[:, i], i]))
        padded = np.append(chances, [0, 1])
        arm = stats.t.isf(0.05, 5) * padded.std(ddof=1) / np.sqrt(6)
        assert found.probability[i] == pytest.approx(chances.mean())
        assert found.low[i] == pytest.approx(max(0, min(padded.mean() - arm, chances.mean())))
        assert found.high[i] == pytest.approx(min(1, max(padded.mean() + arm, chances.mean())))


def test_probability_of_ratios_beyond_all_bounds_stays_finite():
    ratios = np.array([[1e308, -1e308, 0.0], [1e308, -1e308, 0.0]])
    found = membership_probability(ratios, np.ones((2, 3), dtype=bool))
    assert found.probability.tolist() == [1, 0, 0.5]
    assert found.low.tolist() == [0, 0, 0]
    assert found.high.tolist() == [1, 1, 1]


def test_probability_needs_two_targets_with_the_record():
    members = np.array([[True, True, False], [True, False, False]])
    found = membership_probability(np.zeros((2, 3)), members)
    assert found.probability.tolist() == [0.5, None, None]
    assert found.low.tolist()[1:] == found.high.tolist()[1:] == [None, None]
    assert np.isfinite(found.high.data).all()


def test_probability_takes_no_nan():
    with pytest.raises(InputError, match="ratios: expected finite numbers"):
        membership_probability(np.full((2, 2), np.nan), np.ones((2, 2), dtype=bool))


@pytest.mark.parametrize(("models", "shift"), [(4, 0.0), (8, 1.0), (8, 5.0), (32, 1.0)])
def test_intervals_of_probabilities_cover(models, shift):
    found = [membership_probability(*beliefs(models, shift, 400, seed)) for seed in range(20)]
    truth = np.mean([f.probability.mean() for f in found])
    # Records of one seed share their models, so a few points less than 95 % are left to chance.
    assert np.mean([(f.low <= truth) & (truth <= f.high) for f in found]) >= 0.91


def test_without_a_trace_the_probability_is_one_half():
    ratios, members = beliefs(16, 0.0, 2000, 1)
    assert membership_probability(ratios, members).probability.mean() == pytest.approx(0.5, abs=0.01)
    assert expit(ratios)[~members].mean() == pytest.approx(0.5, abs=0.01)


def test_models_that_hold_all_or_none_were_in_no_draw_and_test_nothing():
    matrix = np.repeat([True, True, False, False], 5).reshape(4, 5)
    found = exposure(Signals.from_margins(np.random.default_rng(0).normal(size=(4, 5)), np.zeros(5, int), 2), matrix)
    assert found.distance.count() == 5
    assert found.distance_p.count() == found.distance_p_corrected.count() == 0
    assert exposed(found).exposed == 0


def test_models_of_the_same_members_are_said_to_count_as_one():
    signals, membership = case(models=2, records=60, seed=1)
    table = np.asarray(signals.margins[:, 0:60])[:, :, 0].repeat(8, axis=0)
    table += np.random.default_rng(0).normal(size=table.shape)
    told = exposed(exposure(Signals.from_margins(table, signals.labels, 3), membership.matrix.repeat(8, axis=0)))
    assert (told.records, told.copies, told.same) == (0, 15, False)
    assert told.sentence == (
        "No single record is judged: that takes at least three models, some that were trained on the record and some "
        "that were not. Models that were trained on nearly the same records, or on nearly all the others, count as one "
        "here, which takes 15 models off the count."
    )
    assert "copies" not in exposed(exposure(*case(models=6, records=60, seed=1))).model_dump()
