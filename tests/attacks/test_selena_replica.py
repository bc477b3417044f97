"""SELENA's adaptive attack: against a slow twin, by hand, and on models that give themselves away by their replicas."""

from dataclasses import replace

import numpy as np
import pytest
from attack_cases import auc, problem, used

from reticent.attacks import Problem, check_membership, score
from reticent.attacks.lira import FLOOR
from reticent.attacks.random_effects import RandomEffects
from reticent.attacks.selena_replica import SelenaReplica
from reticent.attacks.selena_replica.discriminant import Discriminant, Sums
from reticent.attacks.selena_replica.replicas import Seen, walk
from reticent.auditing.verdict import verdict
from reticent.data.membership import Membership
from reticent.errors import InputError, ShapeError, TooFewReferencesError
from reticent.jobs import control
from reticent.jobs.scoring import Settings, attacked
from reticent.signals.matrix import Signals

CASES = {
    "even": lambda: problem(31, models=8, records=40),
    "odd": lambda: problem(32, models=9, records=40),
    "some references": lambda: problem(33, models=14, records=40, targets=[1, 12], references=range(12)),
    "drawn one by one": lambda: problem(
        34, records=40, membership=np.random.default_rng(3).random((24, 40)) < 0.4, targets=[0, 5]
    ),
}


def softmax(logits):
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)


def close(case, target, floor):
    """F by the definition, model by model and record by record; and the margins, and who is kept."""
    kept = used(case, target, online=True)
    answers, inside = softmax(case.signals.logits), case.membership.matrix
    near = np.full(inside.shape, np.nan)
    for model in range(len(inside)):
        for i in range(case.signals.records):
            replicas = [r for r in np.flatnonzero(kept[:, i] & inside[:, i]) if r != model]
            if model == target or kept[model, i]:
                gaps = [np.abs(answers[model, i] - case.replicas[r, i]).sum() for r in replicas]
                near[model, i] = np.mean([-np.log(gap + floor) for gap in gaps])
    return near, case.signals.margins[:, :, 0], kept & inside, kept & ~inside


def ratio(value, inside, outside, law):
    """The log-likelihood ratio of one value, from IN and OUT values of its record, each normal."""
    v_in, v_out, shift, spread = law
    parts = []
    for own, other, v, w, sign in ((inside, outside, v_in, v_out, 1), (outside, inside, v_out, v_in, -1)):
        first, second = v / len(own), w / len(other) + spread
        centre = (np.mean(own) * second + (np.mean(other) + sign * shift) * first) / (first + second)
        parts.append(-0.5 * (value - centre) ** 2 / (v + first * second / (first + second)) - 0.5 * np.log(v))
    return parts[0] - parts[1]


def twin(case, target, features=(0, 1), floor=1e-3):
    """The whole attack, slowly."""
    *values, inside, outside = close(case, target, floor)
    records = range(case.signals.records)
    rows, judged = [], []
    for feature in features:
        x = values[feature]
        groups = [[x[mask[:, i], i] for i in records] for mask in (inside, outside)]
        variances = [
            max(FLOOR, sum(len(g) * np.var(g) for g in group) / sum(len(g) - 1 for g in group)) for group in groups
        ]
        shifts = np.array([np.mean(a) - np.mean(b) for a, b in zip(*groups, strict=True)])
        noise = np.mean([variances[0] / len(a) + variances[1] / len(b) for a, b in zip(*groups, strict=True)])
        law = (*variances, shifts.mean(), max(0.0, shifts.var(ddof=1) - noise))
        rows.append([ratio(x[target, i], groups[0][i], groups[1][i], law) for i in records])
        judged.append([
            [ratio(a[j], np.delete(a, j), b, law) for a, b in zip(*groups, strict=True) for j in range(len(a))],
            [ratio(b[j], a, np.delete(b, j), law) for a, b in zip(*groups, strict=True) for j in range(len(b))],
        ])
    if len(features) == 1:
        return np.array(rows[0])
    means = [np.array([np.mean(one[kind]) for one in judged]) for kind in (0, 1)]
    spread = sum(np.cov([one[kind] for one in judged], ddof=0) for kind in (0, 1)) / 2
    return np.linalg.solve(spread, means[0] - means[1]) @ np.array(rows)


@pytest.mark.parametrize("name", CASES)
def test_against_a_slow_twin(name):
    case = CASES[name]()
    found = score(SelenaReplica(), case)
    for row, target in enumerate(case.targets[:3]):
        np.testing.assert_allclose(found[row], twin(case, target), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("features", "rows"), [("distance", (0,)), ("margin", (1,))])
def test_one_feature_against_a_slow_twin(features, rows):
    case = CASES["even"]()
    found = score(SelenaReplica(features=features, floor=0.1), case)
    np.testing.assert_allclose(found[2], twin(case, 2, rows, floor=0.1), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("models", [6, 8, 9, 12])
def test_members_and_non_members_of_a_target_have_equally_many_replicas(models):
    case = problem(35, models=models, records=50)
    for _, row, seen in walk(case, 1e-3, slice(0, 2)):
        assert len(set(seen.inside.sum(axis=0))) == 1
        assert len(set(seen.outside.sum(axis=0))) == 1
        assert not seen.inside[row].any()
        assert not seen.outside[row].any()


def test_how_close_by_hand():
    """Two classes, all replicas (0.8, 0.2): whoever answers (0.5, 0.5) is 0.6 away, and the rest are as told."""
    known = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]], dtype=bool)
    logits = np.tile(np.log([0.8, 0.2]), (6, 2, 1))
    logits[[0, 4]] = 0.0
    replicas = np.where(known[:, :, None], [0.8, 0.2], np.nan)
    case = Problem.make(Signals.from_logits(logits, [0, 0]), known, replicas=replicas)
    floor = 0.01
    for _, row, seen in walk(case, floor, slice(0, 1)):
        far, as_told = -np.log(0.6 + floor), -np.log(floor)
        np.testing.assert_allclose(seen.target[0], far if row in {0, 4} else as_told, atol=1e-12)
        np.testing.assert_allclose(seen.references[0, 4], far if row != 4 else seen.references[0, 4], atol=1e-12)
        np.testing.assert_allclose(seen.references[0, 5], as_told if row != 5 else seen.references[0, 5], atol=1e-12)


def test_a_law_without_a_spread_shares_one_shift_and_one_with_a_large_spread_is_liras():
    value, centres, counts = np.array([1.0]), (np.array([2.0]), np.array([-1.0])), (np.array([5.0]), np.array([5.0]))
    shared = RandomEffects((0.5, 0.5), 1.0, 0.0).ratio(value, centres, counts)
    # Both kinds together put the OUT centre at the mean of -1 and 2 - 1, and the IN centre one above it.
    assert shared[0] == pytest.approx((1.0 - 0.0) ** 2 / (2 * 0.5 * 1.1) - (1.0 - 1.0) ** 2 / (2 * 0.5 * 1.1))
    own = RandomEffects((0.5, 2.0), 1.0, 1e15).ratio(value, centres, counts)
    plain = (1 + 1) ** 2 / (2 * 2.0 * 1.2) - (1 - 2) ** 2 / (2 * 0.5 * 1.2) + 0.5 * np.log(2.0 / 0.5)
    assert own[0] == pytest.approx(plain)


def seen(rng, records=4000, count=5, shift=0.7, spread=0.3, noise=0.8):
    """Draw a feature by the law that the test supposes; the target holds the first half of the records."""
    level, shifts = rng.normal(0, 2, records), rng.normal(shift, spread, records)
    kind = np.repeat([True, False], count)[:, None] & np.ones(records, dtype=bool)
    references = level + kind * shifts + rng.normal(0, noise, (2 * count, records))
    held = np.arange(records) < records // 2
    return Seen((level + held * shifts + rng.normal(0, noise, records))[None], references[None], kind, ~kind), held


def test_a_law_is_learned_and_its_ratios_are_what_they_say():
    given, held = seen(np.random.default_rng(7))
    sums = Sums(1)
    sums.add(given)
    (effects,) = sums.effects()
    assert effects.variances == pytest.approx((0.64, 0.64), rel=0.05)
    assert effects.shift == pytest.approx(0.7, abs=0.04)
    assert effects.between == pytest.approx(0.09, abs=0.03)
    ratios = Discriminant([effects]).judge(given)[0]
    # E exp(-ratio) over members is 1 for a likelihood ratio, and so is E exp(ratio) over non-members.
    assert np.exp(-ratios[held]).mean() == pytest.approx(1, abs=0.06)
    assert np.exp(ratios[~held]).mean() == pytest.approx(1, abs=0.06)


def test_shared_shifts_beat_those_of_single_records():
    given, held = seen(np.random.default_rng(8), spread=0.0)
    sums = Sums(1)
    sums.add(given)
    (effects,) = sums.effects()
    alone = replace(effects, between=1e9)
    areas = [auc(Discriminant([one]).judge(given)[0], held) for one in (effects, alone)]
    assert areas[0] > areas[1] + 0.02


def population(seed, *, told=0.15, easier=0.0, models=10, records=1000, classes=6):
    """Make models that answer a member as their own Split-AI told them to, with noise `told`, and others by themselves.

    What Split-AI says differs from model to model a quarter as much as answers to records that a model does not hold.
    """
    rng = np.random.default_rng(seed)
    known, labels = Membership.draw(models, records, seed), rng.integers(0, classes, records)
    base = rng.normal(size=(records, classes))
    base[np.arange(records), labels] += 2
    taught = base + rng.normal(0, 0.3, (models, records, classes))
    others = base + rng.normal(0, 1.2, (models, records, classes))
    logits = np.where(known.matrix[:, :, None], taught + rng.normal(0, told, taught.shape), others)
    logits[:, np.arange(records), labels] += easier * known.matrix
    replicas = np.where(known.matrix[:, :, None], softmax(taught), np.nan)
    return Problem.make(Signals.from_logits(logits, labels), known, replicas=replicas)


def areas(case, *specs):
    return [
        np.mean([auc(row, held) for row, held in zip(score(spec, case), case.membership.matrix, strict=True)])
        for spec in specs
    ]


def test_replicas_find_what_the_margin_hides():
    distance, margin, both, lira = areas(
        population(1), *(SelenaReplica(features=name) for name in ("distance", "margin", "both")), "lira"
    )
    assert distance > 0.9
    assert margin < distance - 0.07
    assert both > distance - 0.005
    assert both > lira + 0.07


def test_replicas_that_belong_to_no_record_take_nothing_away():
    case = population(2, told=2.0, easier=1.0)
    rng = np.random.default_rng(0)
    nothing = softmax(rng.normal(size=case.replicas.shape))
    case = replace(case, replicas=np.where(case.membership.matrix[:, :, None], nothing, np.nan))
    margin, both, lira = areas(case, SelenaReplica(features="margin"), SelenaReplica(), "lira")
    assert margin > 0.55
    assert both > margin - 0.01
    assert both > lira - 0.01


@pytest.mark.parametrize("seed", range(3))
def test_the_null_control_stays_a_null_where_replicas_give_everything_away(seed):
    case = population(seed, told=0.0, records=600)
    specs, settings = (SelenaReplica(), SelenaReplica(features="distance")), Settings(seed, replicates=100)
    for spec in specs:
        audits = attacked(case, (spec,), settings).audits
        assert audits[0].auc.mean > 0.9
        found = control.control(control.nulls(case, (spec,), settings), verdict(audits))
        assert found.passed
        assert found.attacks[0].auc.mean == pytest.approx(0.5, abs=0.03)


def test_a_null_control_that_left_the_replicas_where_they_were_would_be_noticed():
    case = population(3, records=100)
    permuted = control._permuted(case, 0)
    with pytest.raises(InputError, match="replicas: expected soft targets of every record that a model holds, got non"):
        score("selena-replica", replace(permuted, replicas=case.replicas))
    assert score("selena-replica", permuted).shape == (10, 100)


def test_what_does_not_fit_is_refused():
    case = problem(36, models=8)
    with pytest.raises(
        ShapeError, match=r"replicas: expected shape \(8, 60, 3\) \(models, records, classes\).*\(8, 60\)"
    ):
        Problem.make(case.signals, case.membership, replicas=case.replicas[:, :, 0])
    bare = Signals.from_margins(case.signals.margins, case.signals.labels, 3)
    with pytest.raises(InputError, match="selena-replica: expected logits of all 3 classes"):
        score("selena-replica", Problem.make(bare, case.membership, replicas=case.replicas))
    with pytest.raises(
        TooFewReferencesError, match=r"selena-replica: expected at least 2 IN and 2 OUT .* 6 in all are then enough$"
    ):
        check_membership("selena-replica", Membership.draw(5, 60, 0))
    check_membership("selena-replica", Membership.draw(6, 60, 0))
