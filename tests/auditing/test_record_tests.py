"""What may be said of one record: p-values of its own, names with few false ones, epsilon of one record."""

import numpy as np
import pytest
from scipy import stats

from reticent.auditing.comparison.multiple import benjamini_hochberg
from reticent.auditing.draws import Draws
from reticent.auditing.exposure import exposure
from reticent.auditing.moments import share_interval
from reticent.auditing.named_records import named_records
from reticent.auditing.record_epsilon import bound, record_epsilon
from reticent.auditing.record_pvalues import RecordPValues, own_rates, record_pvalues, record_rates
from reticent.auditing.record_residuals import residuals
from reticent.data.membership import Membership
from reticent.findings.attack import TargetAccuracy, TargetAudit
from reticent.findings.numbers import Area
from reticent.say.record_tests import game
from reticent.signals.matrix import Signals


def made(seed=0, models=16, records=400, leak=0.0, share=1 / 3, law="normal", population=0, shift=0.0):
    """Margins of records that differ in level and scale; some leak by `leak` standard deviations."""
    rng = np.random.default_rng(seed)
    membership = Membership.draw(models, records, seed).matrix

    def noise(count):
        values = rng.normal(size=(models, count)) if law == "normal" else (rng.gamma(4, size=(models, count)) - 4) / 2
        return 2 * rng.normal(size=count), np.exp(0.5 * rng.normal(size=count)), values + moved

    moved = shift * rng.normal(size=(models, 1))
    level, scale, values = noise(records)
    margins = level + scale * (values + leak * (rng.random(records) < share) * membership)
    level, scale, values = noise(population)
    others = Signals.from_margins(level + scale * values, np.zeros(population, int), 2) if population else None
    return Signals.from_margins(margins, np.zeros(records, int), 2), others, membership


def draws_of(membership):
    return Draws.make(Membership(membership))


def p_values(signals, membership, seed=0, **options):
    rows = np.arange(len(membership))
    return record_pvalues(signals, draws_of(membership), rows, rows, np.random.default_rng(seed), **options)


def test_residuals_are_those_of_a_loop_and_members_have_as_many_models_as_non_members():
    rng = np.random.default_rng(0)
    membership = Membership.draw(8, 60, 0).matrix
    margins = rng.normal(size=(8, 60))
    got = residuals(margins, ~membership, np.full(60, 3), np.arange(8), rng.random((8, 60)))
    for t in range(8):
        for i in range(60):
            out = [r for r in range(8) if not membership[r, i] and r != t]
            sets = [out] if len(out) == 3 else [[r for r in out if r != left] for left in out]
            scores = [
                (margins[t, i] - margins[one, i].mean()) / margins[one, i].std(ddof=1) / np.sqrt(4 / 3) for one in sets
            ]
            assert min(abs(got[t, i] - one) for one in scores) < 1e-9
    few = residuals(margins, ~membership, np.full(60, 1), np.arange(8), rng.random((8, 60)))
    assert np.isnan(few).all()
    assert (residuals(np.ones((8, 60)), ~membership, np.full(60, 3), np.arange(8), rng.random((8, 60))) == 0).all()


def test_p_values_are_students_tail():
    signals, _, membership = made(records=4000)
    tests = p_values(signals, membership)
    assert tests.method == "student"
    assert set(tests.references.tolist()) == {7}
    margins = np.asarray(signals.margins)[:, :, 0]
    drawn = np.random.default_rng(0).random(margins.shape)
    z = residuals(margins, ~membership, tests.references, np.arange(16), drawn)
    assert tests.p == pytest.approx(stats.t.sf(z, 6))


def test_p_values_without_a_trace_are_uniform_for_members_and_non_members():
    signals, _, membership = made(records=4000)
    p = p_values(signals, membership).p
    for kind in (membership, ~membership):
        for level in (0.01, 0.1, 0.5):
            assert (p[kind] <= level).mean() == pytest.approx(level, abs=4 * np.sqrt(level / 16000))


def test_skewed_margins_are_held_against_residuals_of_other_models():
    signals, _, membership = made(records=3000, law="skewed")
    tests = p_values(signals, membership)
    assert tests.method == "residual"
    assert (tests.p[~membership] <= 0.01).mean() == pytest.approx(0.01, abs=0.002)
    margins = np.asarray(signals.margins)[:, :, 0]
    drawn = np.random.default_rng(0).random(margins.shape)
    z = residuals(margins, ~membership, tests.references, np.arange(16), drawn)
    pool = np.concatenate([z[r][~membership[r]] for r in range(1, 16)])
    assert tests.p[0, 0] == pytest.approx((1 + (pool >= z[0, 0]).sum()) / (1 + len(pool)))


def test_ranks_serve_where_there_are_enough_models():
    signals, _, membership = made(models=200, records=240, law="skewed")
    tests = p_values(signals, membership)
    assert (tests.method, tests.references.min()) == ("rank", 99)
    assert tests.p.min() == pytest.approx(1 / 100)
    target = int(np.flatnonzero(~membership[:, 0])[0])
    margins = np.asarray(signals.margins)[:, 0, 0]
    above = (margins[~membership[:, 0]] >= margins[target]).sum()
    assert tests.p[target, 0] == pytest.approx(above / 100)
    assert (tests.p[~membership] <= 0.1).mean() == pytest.approx(0.1)
    assert p_values(signals, membership, fpr=0.001).method != "rank"
    margins = np.asarray(signals.margins)[:, :, 0].copy()
    margins[:, 0] = 1.0  # equal margins count against membership, the one that is left out like the others
    tests = p_values(Signals.from_margins(margins, np.zeros(240, int), 2), membership)
    assert (tests.p[:, 0] == 1).all()


def test_models_that_agree_to_the_last_digit_give_no_certainty():
    signals, _, membership = made(records=4000)
    margins = np.asarray(signals.margins)[:, :, 0].copy()
    margins[:, 0] = np.where(membership[:, 0], 2.0, 1.0)
    tests = p_values(Signals.from_margins(margins, np.zeros(4000, int), 2), membership)
    assert tests.method == "student"
    assert tests.p[membership[:, 0], 0] == pytest.approx(1 / 8)
    assert tests.p[~membership[:, 0], 0] == pytest.approx(0.5)


def test_too_few_models_have_no_p_values():
    signals, _, membership = made(models=4)
    assert p_values(signals, membership) is None


def test_rates_of_records_and_their_calibration():
    signals, _, membership = made(records=2000, leak=3.0)
    tests = p_values(signals, membership)
    assert tests.method == "student"  # whatever is found of members: non-members decide
    exposed = exposure(signals, membership)
    found = record_rates(tests, membership, exposed, 0.95, 0.01)
    hits = (tests.p <= 0.01) & membership
    assert found.found.mean == pytest.approx((hits.sum(axis=1) / membership.sum(axis=1)).mean())
    assert found.found.interval[0] < found.found.mean < found.found.interval[1]
    assert found.false_alarms.interval[0] < 0.01 < found.false_alarms.interval[1]
    assert len(found.tenths) == 20
    first = np.argsort(exposed.exposure.data, kind="stable")[:200]
    outside = ~membership[:, first]
    alarms = (((tests.p[:, first] <= 0.01) & outside).sum(axis=1) / outside.sum(axis=1)).mean()
    assert found.tenths[0].rate.mean == pytest.approx(alarms)
    assert not any(one.off for one in found.tenths)
    own = own_rates(tests, membership, np.arange(len(membership)), 0.95, 0.01)
    assert own.found[5] == pytest.approx(hits[:, 5].sum() / 8)
    assert own.high[0] == pytest.approx(stats.beta.ppf(0.975, hits[:, 0].sum() + 1, 8 - hits[:, 0].sum()))


def test_a_p_value_at_the_rate_is_found_and_each_share_has_its_confidence():
    """One target: 10 of 40 members and 3 of 60 non-members, with the unbiased variance p (1 - p) / (n - 1)."""
    members = np.arange(100) < 40
    p = np.where((np.arange(100) < 10) | (np.arange(100) >= 97), 0.01, 0.5)
    tests = RecordPValues("rank", p[None], np.full(100, 99))
    signals, _, membership = made(records=100)
    found = record_rates(tests, members[None], exposure(signals, membership), 0.95, 0.01)
    assert (found.found.mean, found.false_alarms.mean) == (0.25, 0.05)
    for one, n, confidence in ((found.found, 40, 0.95), (found.false_alarms, 60, 0.99)):
        expected = share_interval(one.mean, one.mean * (1 - one.mean) / (n - 1), n - 2, (n, n), confidence)
        assert one.interval == pytest.approx(expected, rel=1e-9)
    assert own_rates(tests, members[None], np.arange(1), 0.95, 0.01).found.compressed().tolist() == [1] * 10 + [0] * 30


def test_a_tenth_that_is_off_is_flagged():
    signals, _, membership = made(records=2000)
    tests = p_values(signals, membership)
    scale = exposure(signals, membership).std_out
    wide = np.argsort(scale.data)[-200:]
    tests.p[:, wide] /= 10
    found = record_rates(tests, membership, exposure(signals, membership), 0.95, 0.01)
    assert [one.tenth for one in found.tenths if one.off and one.by == "scale"] == [10]


@pytest.mark.parametrize("changed", [0.0, 0.001, 0.05])
def test_checkpoints_of_one_run_find_nothing_without_a_leak(changed):
    """With each other's answers in the references, 5 of 100 were found at 1 %, and 232 were named."""
    signals, others, membership = made(models=12, records=2000, population=2000)
    rng = np.random.default_rng(0)
    answers = [np.asarray(one.margins)[:, :, 0].repeat(4, axis=0) for one in (signals, others)]
    answers = [said + 0.2 * rng.normal(size=said.shape) for said in answers]
    copies = [Signals.from_margins(said, np.zeros(2000, int), 2) for said in answers]
    membership, rows = membership.repeat(4, axis=0), np.arange(48)
    membership ^= rng.random(membership.shape) < changed
    tests = p_values(copies[0], membership)
    found = record_rates(tests, membership, exposure(copies[0], membership), 0.95, 0.01)
    assert found.references == 5 if not changed else found.references >= 2
    assert found.false_alarms.mean == pytest.approx(0.01, abs=0.003)
    assert found.found.mean == pytest.approx(0.01, abs=0.003)
    told, _ = named_records(*copies, draws_of(membership), rows, rows, np.random.default_rng(0), ids=np.arange(2000))
    assert told.named <= 10
    away = np.arange(4, 48)
    assert record_pvalues(copies[0], draws_of(membership), rows[:1], rows[1:], np.random.default_rng(0)) is None
    assert record_pvalues(copies[0], draws_of(membership), rows[:1], away, np.random.default_rng(0)) is not None


def test_benjamini_and_hochbergs_adjustment():
    assert benjamini_hochberg([0.01, 0.02, 0.03, 0.5]).tolist() == pytest.approx([0.04, 0.04, 0.04, 0.5])
    assert benjamini_hochberg([0.5, 0.03, 0.01, 0.02]).tolist() == pytest.approx([0.5, 0.04, 0.04, 0.04])


def named(seed, leak, targets=2, **options):
    signals, others, membership = made(seed, leak=leak, population=400, **options)
    rows, ids = np.arange(len(membership)), np.arange(signals.records) + 100
    rng = np.random.default_rng(seed)
    return named_records(signals, others, draws_of(membership), rows[:targets], rows, rng, ids=ids)


def test_names_are_members_of_the_target_and_few_are_wrong():
    found, names = named(0, leak=6.0, models=32)
    assert (found.references, found.population, found.targets, found.named) == (15, 400, 2, len(names))
    assert found.named > 50
    assert found.wrong == sum(not one.member for one in names) < 0.2 * found.named
    assert found.longest == max([one.target for one in names].count(t) for t in (0, 1))
    assert {one.target for one in names} == {0, 1}
    assert min(one.record for one in names) >= 100
    assert all(one.p <= one.p_adjusted <= 0.1 for one in names)
    nothing, none = named(0, leak=0.0)
    assert (nothing.named, nothing.longest, none) == (0, 0, ())


def test_a_target_that_is_moved_as_a_whole_names_nobody():
    signals, others, membership = made(population=400)
    moved = [np.asarray(one.margins)[:, :, 0].copy() for one in (signals, others)]
    for margins in moved:
        margins[0] += 5
    moved = [Signals.from_margins(margins, np.zeros(margins.shape[1], int), 2) for margins in moved]
    rows, ids = np.arange(16), np.arange(400)
    found, _ = named_records(*moved, draws_of(membership), rows[:1], rows, np.random.default_rng(0), ids=ids)
    assert found.named == 0


def test_what_is_exactly_at_the_rate_is_named(monkeypatch):
    """70 of 100 records lie above all but 6 of 99: p is 0.07, and 0.07 * 100 / 70 is 0.1, but for rounding."""
    assert 0.07 * 100 / 70 > 0.1
    signals, others, membership = made(records=100, population=99)
    told = {100: np.repeat([93.0, 0.0], [70, 30]), 99: np.arange(99.0) + 0.5}
    monkeypatch.setattr("reticent.auditing.named_records._scores", lambda signals, *_: told[signals.records][None])
    rows, rng = np.arange(16), np.random.default_rng(0)
    found, _ = named_records(signals, others, draws_of(membership), rows[:1], rows, rng, ids=np.arange(100))
    assert found.named == 70


def test_equal_scores_name_nobody():
    alike = Signals.from_margins(np.ones((8, 50)), np.zeros(50, int), 2)
    membership, rows = Membership.draw(8, 50, 0).matrix, np.arange(8)
    rng = np.random.default_rng(0)
    assert named_records(alike, alike, draws_of(membership), rows, rows, rng, ids=np.arange(50))[1] == ()


@pytest.mark.parametrize(("models", "expected"), [(16, 1.350), (64, 2.825), (256, 4.233)])
def test_epsilon_of_one_record_without_an_error(models, expected):
    assert bound(models, models, 0, models, 0.0, 0.95) == pytest.approx(expected, abs=5e-4)


def test_six_models_of_either_kind_are_the_fewest_that_show_anything():
    assert bound(5, 5, 0, 5, 0.0, 0.95) == 0 < bound(6, 6, 0, 6, 0.0, 0.95)
    assert bound(6, 6, 0, 6, 0.6, 0.95) == 0
    assert bound(0, 0, 0, 6, 0.0, 0.95) == 0


def test_the_record_is_chosen_on_one_half_and_tested_on_the_other():
    signals, _, membership = made(models=64, records=100, leak=20.0, share=0.02)
    margins = np.asarray(signals.margins)[:, :, 0].copy()
    margins[:, 7] = np.where(membership[:, 7], 30.0, 0.0) + margins[:, 0]
    signals = Signals.from_margins(margins, np.zeros(100, int), 2)
    found = record_epsilon(signals, draws_of(membership), np.random.default_rng(0), ids=np.arange(100) + 5, delta=1e-5)
    assert found.record == 12
    assert (found.found, found.wrong) == (found.trained, 0)
    assert found.trained + found.untrained == 32
    assert found.epsilon == pytest.approx(bound(found.trained, found.trained, 0, found.untrained, 1e-5, 0.95))
    few = record_epsilon(signals, draws_of(membership[:20]), np.random.default_rng(0), ids=np.arange(100), delta=1e-5)
    assert few is None


def test_the_game_is_said():
    target = TargetAudit(
        model=0,
        members=510,
        non_members=490,
        auc=Area(value=0.5, interval=(0.4, 0.6)),
        tpr_at_fpr=(),
        balanced_accuracy=TargetAccuracy(oracle=0.5),
    )
    told = "knows all 1,000 audited records, and each of them was used for training with probability one half."
    assert told in game([target])
    assert "with probability 20 %." in game([target.with_(members=200, non_members=800)])
    seven = [
        target.with_(members=members, non_members=1000 - members) for members in (600, 580, 540, 560, 570, 570, 580)
    ]
    assert "with probability 57 %." in game(seven)
    differ = game([target], (0.0625, 0.875))
    assert "one half on average (it differs between records: 6 to 88 % of the models were trained on one)." in differ
