"""Near-complements: which references a target is not compared with, and that it is said."""

from dataclasses import replace

import numpy as np
import pytest
from attack_cases import auc, problem

from reticent.attacks import Problem, check_membership, score, unreferenced
from reticent.attacks.complements import complements, designs, near_complements
from reticent.data.membership import Membership
from reticent.data.units import Units
from reticent.errors import TooFewReferencesError
from reticent.signals.matrix import Signals


def pairs(models, records, seed):
    """Draw rows in complementary pairs."""
    first = np.random.default_rng(seed).random((models // 2, records)) < 0.5
    return np.stack([first, ~first], axis=1).reshape(models, records)


def found(matrix):
    every = np.arange(len(matrix))
    return complements(Membership(matrix), every, every)


def test_complementary_rows_copies_and_nearly_such_are_found():
    rows = pairs(6, 200, 0)
    expected = np.kron(np.eye(3), [[0, 1], [1, 0]]).astype(bool)
    np.testing.assert_array_equal(found(rows), expected)
    turned = rows.copy()
    turned[0] = ~turned[0]  # now a copy of its partner
    np.testing.assert_array_equal(found(turned), expected)
    for changed, near in ((30, True), (70, False)):  # agreement on 15 % and on 35 % of 200
        other = rows.copy()
        other[0, :changed] = ~other[0, :changed]
        assert found(other)[0, 1] == near
        assert found(other)[1, 0] == near


@pytest.mark.parametrize(("models", "records"), [(4, 60), (4, 150), (8, 60), (8, 600), (16, 60), (32, 200)])
def test_random_exact_halves_have_none(models, records):
    """The sizes of tests and of real audits: no false alarm in 100 memberships."""
    for seed in range(100):
        assert not found(Membership.draw(models, records, seed).matrix).any()


@pytest.mark.parametrize("share", [0.02, 0.05])
def test_two_members_in_common_of_few_are_no_design(share):
    """Of two members of 100 records, one in common makes a correlation of one half."""
    for seed in range(100):
        rows = np.random.default_rng(seed).random((8, 100)) < share
        rows[:, 0] |= ~rows.any(axis=1)
        assert not found(rows).any()


def test_where_units_are_audited_they_are_counted():
    """Random halves of 30 persons of 20 records each: by records, every second such membership had a false alarm."""
    units = Units.of("person", np.repeat(np.arange(30), 20))
    alarms = 0
    for seed in range(20):
        case = problem(seed, models=8, records=30, population=0)
        matrix = units.expanded(case.membership.matrix)
        alarms += found(matrix).any()
        rng = np.random.default_rng(seed)
        signals = Signals.from_margins(rng.normal(size=matrix.shape), np.arange(600) % 2)
        whole = Problem.make(signals, matrix, units=units)
        assert near_complements(whole) is None
    assert alarms > 2
    units = Units.of("person", np.repeat(np.arange(60), 2))
    paired = units.expanded(pairs(8, 60, 0))
    whole = Problem.make(Signals.from_margins(rng.normal(size=paired.shape), np.arange(120) % 2), paired, units=units)
    assert near_complements(whole).targets == 8
    with pytest.raises(TooFewReferencesError, match="3 of 4 models are no references"):
        check_membership("lira", units.expanded(np.vstack([pairs(2, 60, 0)] * 2)), units=units)


def test_members_of_one_record_by_clusters_or_by_chance_are_no_design():
    rng = np.random.default_rng(0)
    nine_of_ten = rng.random((10, 400)) < 0.9
    assert not found(nine_of_ten).any()


def test_targets_without_any_are_scored_in_one_go_and_the_others_each_alone():
    rows = np.vstack([pairs(4, 100, 1), Membership.draw(8, 100, 2).matrix])
    every = np.arange(12)
    divided = [(chosen.tolist(), left.tolist()) for chosen, left in designs(Membership(rows), every, every)]
    assert divided[0] == (list(range(4, 12)), list(range(12)))
    others = [[m for m in range(12) if m != partner] for partner in (1, 0, 3, 2)]
    assert divided[1:] == [([target], left) for target, left in enumerate(others)]


@pytest.mark.parametrize("name", ["lira", "lira-released", "rmia", "learned"])
def test_strong_attacks_are_not_given_them(name):
    case = problem(3, models=8, membership=pairs(8, 60, 3), population=0)
    margins = case.signals.margins.copy()
    scores = score(name, replace(case, targets=np.array([2])))
    other = np.random.default_rng(0).normal(size=(60, 3))
    margins[3], logits = 0.5, case.signals.logits.copy()
    logits[3] = other
    changed = replace(case.signals, margins=margins, logits=logits)
    again = score(name, replace(case, signals=changed, targets=np.array([2])))
    assert name == "learned" or again.tobytes() == scores.tobytes()  # it draws by what all models say of a record
    alone = replace(case, targets=np.array([2]), references=np.array([0, 1, 2, 4, 5, 6, 7]))
    assert score(name, alone).tobytes() == scores.tobytes()


def test_weak_attacks_are():
    case = problem(3, models=8, membership=pairs(8, 60, 3), population=0, targets=[2])
    fewer = replace(case, references=np.array([0, 1, 2, 4, 5, 6, 7]))
    assert score("confidence", case).tobytes() != score("confidence", fewer).tobytes()


def test_too_few_that_are_left_are_told_before_training():
    rows = np.vstack([pairs(2, 60, 0), pairs(2, 60, 0)])
    with pytest.raises(
        TooFewReferencesError,
        match=r"lira: 3 of 4 models are no references",
    ):
        check_membership("lira", rows)
    case = problem(0, models=4, membership=rows, population=0)
    assert unreferenced("lira", case).all()


def test_what_was_left_out_is_stated():
    assert near_complements(problem(0)) is None
    said = near_complements(problem(3, models=8, membership=pairs(8, 60, 3)))
    assert (said.targets, said.references) == (8, 1)


def styles(seed, models=12, records=700, classes=6):
    """Answers that depend on the other members alone: a complement's are the least like those of its target."""
    rng = np.random.default_rng(seed)
    members = pairs(models, records, seed)
    weights = rng.normal(size=(records, records, 1)) * rng.normal(size=(1, 1, classes)) / np.sqrt(records)
    weights = weights + rng.normal(size=(records, 1, classes)) * 0
    weights[np.arange(records), np.arange(records)] = 0.0
    logits = np.einsum("mj,njc->mnc", 2.0 * members - 1, weights) * 2
    logits += 0.3 * rng.normal(size=logits.shape)
    return Problem.make(Signals.from_logits(logits, rng.integers(0, classes, records)), members)


@pytest.mark.parametrize("name", ["lira", "rmia", "learned"])
def test_complementary_pairs_without_any_effect_give_one_half(name, monkeypatch):
    targets = [0, 1, 8, 9] if name == "learned" else list(range(12))
    case = replace(styles(0), targets=np.array(targets))
    members = case.membership.matrix[targets]
    fair = np.mean([auc(row, inside) for row, inside in zip(score(name, case), members, strict=True)])
    assert abs(fair - 0.5) < 0.02
    if name == "learned":
        none = lambda membership, rows, others: np.zeros((len(rows), len(others)), dtype=bool)  # noqa: E731
        monkeypatch.setattr("reticent.attacks.complements.complements", none)
        monkeypatch.setattr("reticent.attacks.learned.pretenders.complements", none)
        read_off = np.mean([auc(row, inside) for row, inside in zip(score(name, case), members, strict=True)])
        assert read_off > 0.6
