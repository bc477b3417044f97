"""RMIA against plain loops and the worked numbers of the algorithms page."""

import math

import numpy as np
import pytest
from attack_cases import auc, problem, used
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import trim_mean

from reticent.attacks import Problem, score
from reticent.attacks.rmia import Rmia, dominance, ratios, slopes
from reticent.attacks.rmia.probability import read, taylor
from reticent.data.membership import Membership
from reticent.errors import InputError
from reticent.signals import matrix
from reticent.signals.matrix import Signals

SEEDS = range(5)


def logit(p):
    return np.log(p) - np.log1p(-np.asarray(p))


def mean(values, trim):
    return trim_mean(values, trim) if trim else np.mean(values)


def naive_probability(signals, spec):
    """Probability of the label ``(M, N, Q)``, by the formulas."""
    if spec.signal == "softmax" and spec.temperature == 1:
        return 1 / (1 + np.exp(-signals.margins))
    if spec.signal == "soft-margin" and spec.temperature == 1:
        return 1 / (1 + np.exp(spec.margin - signals.margins))
    u = signals.logits / spec.temperature
    shift = spec.margin if spec.signal in {"soft-margin", "sm-taylor"} else 0
    powers = range(spec.degree + 1)
    function = (
        np.exp if spec.signal in {"softmax", "soft-margin"} else lambda v: sum(v**k / math.factorial(k) for k in powers)
    )
    records = np.arange(signals.records)
    values = function(u)
    values[:, records, signals.labels] = function(u[:, records, signals.labels] - shift)
    return (values[:, records, signals.labels] / values.sum(axis=2))[:, :, None]


def naive_marginal(spec, p, members, others, record, query, kept=None):
    others = others if kept is None else [m for m in others if kept[m, record]]
    inside = [p[m, record, query] for m in others if members is not None and members[m, record]]
    outside = [p[m, record, query] for m in others if members is None or not members[m, record]]
    if spec.mode == "online":
        if members is None or spec.trim:
            outside = [p[m, record, query] for m in others]
            return mean(outside, spec.trim)
        return 0.5 * (mean(inside, spec.trim) + mean(outside, spec.trim))
    return 0.5 * ((1 + spec.a) * mean(outside, spec.trim) + 1 - spec.a)


def naive(spec, case, target):
    others = [m for m in case.references if m != target]
    uneven = spec.mode == "offline" or spec.trim  # online, twelve models mirror each other, but where cut together
    kept = used(case, target, online=False) if uneven else None
    p = naive_probability(case.signals, spec)
    held_out = case.population is not None and spec.population != "others"
    z_p = naive_probability(case.population, spec) if held_out else p
    z_members = None if held_out else case.membership.matrix
    queries = p.shape[2] if spec.queries is None else spec.queries
    shape_x, shape_z = (p.shape[1], queries), (z_p.shape[1], queries)
    members = case.membership.matrix
    ratio_x, ratio_z = np.empty(shape_x), np.empty(shape_z)
    for q in range(queries):
        for i in range(shape_x[0]):
            ratio_x[i, q] = p[target, i, q] / naive_marginal(spec, p, members, others, i, q, kept)
        for j in range(shape_z[0]):
            ratio_z[j, q] = z_p[target, j, q] / naive_marginal(
                spec, z_p, z_members, others, j, q, None if held_out else kept
            )
    scores = np.zeros(shape_x[0])
    for i in range(shape_x[0]):
        compared = 0
        for j in range(shape_z[0]):
            if held_out or i != j:
                votes = sum(ratio_x[i, q] / ratio_z[j, q] > spec.gamma for q in range(queries))
                scores[i] += votes > queries / 2
                compared += 1
        scores[i] /= compared
    return scores


SETTINGS = {
    "held-out": {"gamma": 2.0},
    "others": {"gamma": 2.0, "population": "others"},
    "gamma-1": {"gamma": 1.0, "population": "others"},
    "offline": {"mode": "offline", "a": 0.3},
    "offline-others": {"mode": "offline", "a": 0.7, "population": "others"},
    "trimmed": {"trim": 0.2, "gamma": 1.2},
    "trimmed-offline": {"trim": 0.25, "mode": "offline", "a": 0.3, "population": "others"},
    "soft-margin": {"signal": "soft-margin", "gamma": 1.3},
    "tempered": {"temperature": 2.0, "gamma": 1.3, "queries": 1},
    "tempered-soft-margin": {"temperature": 2.0, "signal": "soft-margin", "gamma": 1.3, "queries": 1},
    "taylor": {"signal": "taylor", "gamma": 1.3, "queries": 1},
    "released": {"signal": "sm-taylor", "degree": 3, "temperature": 2.0, "trim": 0.2, "gamma": 2.0, "queries": 1},
    "released-offline": {
        "signal": "sm-taylor",
        "degree": 3,
        "temperature": 1.0,
        "trim": 0.2,
        "mode": "offline",
        "a": 0.3,
        "queries": 1,
    },
    "taylor-3": {
        "signal": "taylor",
        "degree": 3,
        "temperature": 0.5,
        "gamma": 1.3,
        "population": "others",
        "queries": 1,
    },
    "sm-taylor": {"signal": "sm-taylor", "temperature": 2.0, "gamma": 1.3, "queries": 1},
}


@pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("queries", [1, 2, 3])
def test_equals_the_plain_loops(options, queries):
    spec = Rmia(**{"temperature": 1.0, **options})
    for seed in SEEDS:
        case = problem(seed, records=18, population=12, queries=queries)
        np.testing.assert_array_equal(score(spec, case)[seed + 2], naive(spec, case, seed + 2))


def test_the_temperature_is_two_where_the_logits_are_known_and_else_one():
    one, several = problem(0, records=18), problem(0, records=18, queries=3)
    np.testing.assert_array_equal(score(Rmia(), one), score(Rmia(temperature=2.0), one))
    np.testing.assert_array_equal(score(Rmia(), several), score(Rmia(temperature=1.0), several))
    np.testing.assert_array_equal(score(Rmia(queries=1), several), score(Rmia(temperature=2.0, queries=1), several))
    margins = Problem.make(Signals.from_margins(one.signals.margins, one.signals.labels), one.membership)
    np.testing.assert_array_equal(score(Rmia(), margins), score(Rmia(temperature=1.0), margins))
    assert not np.array_equal(score(Rmia(), one), score(Rmia(temperature=1.0), one))


def worked(x_out=(0.4, 0.2), x_in=()):
    """The worked example: record 0 is x; two more records give every reference a member; the others have no part."""
    outside, inside = len(x_out), len(x_in)
    models = 1 + inside + outside
    known = np.zeros((models, 300), dtype=bool)
    known[0, 0] = True
    known[1 : 1 + inside] = True
    known[1:, 1] = np.arange(models - 1) % 2 == 0
    known[1:, 2] = ~known[1:, 1]
    p = np.full((models, 300), 0.5)
    p[:, 0] = [0.8, *x_in, *x_out]
    z = np.array([[0.6, 0.2, 0.9]] + [[0.5, 0.6, 0.2]] * (models - 1))
    labels = np.arange(300) % 2
    population = Signals.from_margins(logit(z), labels[:3])
    return Problem.make(Signals.from_margins(logit(p), labels), known, targets=[0], population=population)


def test_worked_example_offline():
    case = worked()
    for gamma, expected in (
        (1.0, 2 / 3),
        (1.6513, 2 / 3),
        (1.6514, 1 / 3),
        (2.0, 1 / 3),
        (5.4311, 1 / 3),
        (5.4312, 0.0),
    ):
        assert score(Rmia(mode="offline", a=0.3, gamma=gamma, temperature=1.0), case)[0, 0] == pytest.approx(
            expected, abs=1e-15
        )


def test_worked_example_online():
    # ratio(x) = 0.8 / 0.55 = 1.454545; ratios of z are 1.2, 1/3 and 4.5.
    case = worked(x_in=(0.9, 0.7))
    for gamma, expected in ((1.0, 2 / 3), (1.2121, 2 / 3), (1.2122, 1 / 3), (4.3636, 1 / 3), (4.3637, 0.0)):
        assert score(Rmia(gamma=gamma, temperature=1.0), case)[0, 0] == pytest.approx(expected, abs=1e-15)


def test_equal_marginals_give_the_empirical_distribution():
    rng = np.random.default_rng(0)
    known = np.arange(3)[:, None] % 2 == np.arange(50) % 2
    p, z = (np.full((3, n), 0.5) for n in (50, 80))
    p[0], z[0] = rng.random(50), rng.random(80)
    z[0, :10] = p[0, :10]  # ties do not count
    labels = np.arange(80) % 2
    population = Signals.from_margins(logit(z), labels)
    case = Problem.make(Signals.from_margins(logit(p), labels[:50]), known, targets=[0], population=population)
    expected = [np.mean(logit(z[0]) < value) for value in logit(p[0])]
    np.testing.assert_array_equal(score(Rmia(gamma=1.0), case)[0], expected)


def test_scaling_probabilities_of_the_target_changes_nothing():
    rng = np.random.default_rng(1)
    log_x, log_z = rng.normal(size=(40, 1)), rng.normal(size=(70, 1))
    expected = dominance.dominated(log_x, log_z, 0.5)
    np.testing.assert_array_equal(dominance.dominated(log_x - 2, log_z - 2, 0.5), expected)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([0.0, 1.0]))
def test_counts_equal_the_dense_comparison_with_ties(seed, queries, log_gamma):
    rng = np.random.default_rng(seed)
    log_x, log_z = (rng.integers(-3, 4, (n, queries)).astype(float) for n in (13, 9))
    dense = (log_x[:, None] - log_z[None] > log_gamma).sum(axis=2) > queries / 2
    np.testing.assert_array_equal(dominance.dominated(log_x, log_z, log_gamma), dense.sum(axis=1))


def test_votes_by_chunks_equal_votes_at_once(monkeypatch):
    rng = np.random.default_rng(2)
    log_x, log_z = rng.normal(size=(50, 3)), rng.normal(size=(30, 3))
    whole = dominance.dominated(log_x, log_z, 0.2)
    monkeypatch.setattr(matrix, "BLOCK_BYTES", 16 * 30 * 7)
    np.testing.assert_array_equal(dominance.dominated(log_x, log_z, 0.2), whole)


def test_equal_votes_count_for_nothing():
    x = np.array([[1.0, -1.0], [1.0, 1.0]])
    np.testing.assert_array_equal(dominance.dominated(x, np.zeros((4, 2)), 0.0), [0, 4])


def probability(logits, **options):
    spec = Rmia(**{"signal": "sm-taylor", "temperature": 1.0, **options})
    signals = Signals.from_logits(np.array(logits, dtype=float)[None, None], np.zeros(1, dtype=np.int64))
    p, rest, log_p = read(spec, signals, np.array([0]), spec.temperature, 1, slice(0, 1))
    assert rest()[0, 0, 0] == pytest.approx(1 - p[0, 0, 0], rel=1e-12)
    assert log_p[0, 0, 0] == pytest.approx(np.log(abs(p[0, 0, 0])), rel=1e-12)
    return p[0, 0, 0]


def test_signals_of_the_algorithms_page():
    assert probability([1, 0], degree=3) == pytest.approx(0.598501, abs=5e-7)
    assert probability([1, 0], degree=4) == pytest.approx(0.598673, abs=5e-7)
    assert probability([4, 0], degree=3, temperature=2.0) == pytest.approx(0.793275, abs=5e-7)
    assert probability([1, 0], signal="softmax") == pytest.approx(np.e / (np.e + 1), rel=1e-14)
    assert probability([1, 0, 0], signal="soft-margin") == pytest.approx(np.exp(0.4) / (np.exp(0.4) + 2), rel=1e-14)
    assert probability([1, 0], signal="taylor", degree=1) == pytest.approx(2 / 3, rel=1e-14)


def test_odd_taylor_polynomials_turn_negative_and_are_kept():
    assert taylor(np.array(-2.0), 3) == pytest.approx(-1 / 3, rel=1e-14)
    assert abs(taylor(np.array(-1.596072), 3)) < 1e-6
    assert taylor(np.linspace(-50, 50, 1001), 4).min() > 0
    assert probability([-2, 0], signal="taylor", degree=3) == pytest.approx((-1 / 3) / (2 / 3), rel=1e-14)
    assert probability([5, -6], degree=3, margin=0.0) == pytest.approx((236 / 6) / (236 / 6 - 23), rel=1e-12)
    assert probability([-1, -1], signal="taylor", degree=1) == 1e-30  # nothing over nothing


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("mode", ["online", "offline"])
def test_negative_ratios_are_compared_as_the_released_code_does(held_out, mode):
    """Its lines, on logits at which nearly all of its values are negative."""
    rng = np.random.default_rng(2)
    case = problem(2, models=8, records=40, population=30 if held_out else 0, targets=[0], references=range(1, 8))
    logits = -6.0 + 2 * rng.normal(size=case.signals.logits.shape)
    options = {"signal": "sm-taylor", "degree": 3, "temperature": 1.0, "gamma": 1.1, "mode": mode, "a": 0.3}
    spec = Rmia(**options)
    others = None
    if held_out:
        others = Signals.from_logits(-6.0 + 2 * rng.normal(size=case.population.logits.shape), case.population.labels)
    case = Problem.make(
        Signals.from_logits(logits, case.signals.labels), case.membership, [0], range(1, 8), population=others
    )
    p = naive_probability(case.signals, spec)
    assert np.mean(logits < -1.6) > 0.95
    np.testing.assert_array_equal(score(spec, case)[0], naive(spec, case, 0))
    assert len(np.unique(score(spec, case))) > 10
    assert np.isfinite(p).all()


def test_cutting_both_kinds_together_gives_no_row_away():
    """IN references say 0.9, OUT ones 0.5, and the target the same of all: nothing tells its members apart."""
    case = problem(6, models=8, records=2000, population=0)
    inside = case.membership.matrix
    margins = logit(np.where(inside, 0.9, 0.5)) + 0.01 * np.random.default_rng(0).normal(size=inside.shape)
    for target in range(3):
        margins[target] = 1.0
        signals = Signals.from_margins(margins, case.signals.labels, 3)
        one = Problem.make(signals, case.membership, targets=[target])
        assert auc(score(Rmia(trim=0.2), one)[0], inside[target]) == pytest.approx(0.5, abs=0.05)
        margins[target] = logit(np.where(inside[target], 0.9, 0.5))


def test_softmax_does_not_saturate_and_is_floored():
    signals = Signals.from_margins(np.array([[40.0, -800.0]] * 2), np.array([0, 1]))
    p, rest, log_p = read(Rmia(), signals, np.array([1]), 1.0, 1, slice(None))
    assert rest()[0, 0, 0] == pytest.approx(np.exp(-40), rel=1e-12)
    assert log_p[0, 0, 0] == pytest.approx(-np.exp(-40), rel=1e-12)
    assert (p[0, 1, 0], log_p[0, 1, 0]) == (1e-30, np.log(1e-30))


@pytest.mark.parametrize("options", [{}, {"trim": 0.2}, {"mode": "offline", "a": 0.3}, {"mode": "offline", "a": 1.0}])
def test_probabilities_that_round_to_1_are_told_apart(options):
    """Where all models are sure, too, a record is held against its references: by what probabilities lack to 1."""
    margins = np.random.default_rng(5).normal(55, 10, (8, 30))
    case = Problem.make(Signals.from_margins(margins, np.arange(30) % 2), problem(5, models=8, records=30).membership)
    found = score(Rmia(temperature=1.0, score="log-ratio", **options), case)
    lacks, inside = 1 / (1 + np.exp(margins)), case.membership.matrix
    for target in range(8):
        every = np.broadcast_to(np.arange(8)[:, None] != target, inside.shape)
        kept = used(case, target, online=False) if options else every
        for record in range(30):
            out, known = kept[:, record] & ~inside[:, record], kept[:, record]
            if "a" in options:
                marginal = 0.5 * (1 + options["a"]) * lacks[out, record].mean()
            elif "trim" in options:
                marginal = trim_mean(lacks[known, record], 0.2)
            else:
                marginal = 0.5 * (lacks[out, record].mean() + lacks[known & inside[:, record], record].mean())
            expected = marginal - lacks[target, record]  # ln(1 - u) is -u of so small a u.
            assert found[target, record] == pytest.approx(expected, rel=1e-9, abs=0)


def test_what_is_nearly_1_is_read_alike_whoever_else_is_in_its_block(monkeypatch):
    known = Membership.draw(9, 200, 1)
    margins = np.random.default_rng(0).normal(13.5, 0.05, (9, 200))
    margins[:, -1] = 40
    case = Problem.make(Signals.from_margins(margins, np.arange(200) % 2), known)
    spec = Rmia(mode="offline", temperature=1.0)
    whole = ratios.audited(spec, case, 1).of(0, 0.0).size
    monkeypatch.setattr(matrix, "BLOCK_BYTES", 1)
    assert ratios.audited(spec, case, 1).of(0, 0.0).size.tobytes() == whole.tobytes()


def test_two_classes_temper_margins_of_every_query():
    margins = np.random.default_rng(0).normal(size=(2, 5, 3))
    signals = Signals.from_margins(margins, np.arange(5) % 2)
    p, _, _ = read(Rmia(), signals, np.array([1]), 2.0, 3, slice(None))
    np.testing.assert_allclose(p, 1 / (1 + np.exp(-margins / 2)), rtol=1e-12)


def test_slope_is_chosen_on_references():
    case = problem(3, records=200, models=10)
    spec = Rmia(mode="offline")
    chosen = slopes.choose(spec, case, 1, np.random.default_rng(0))
    assert chosen.shape == (10,)
    assert set(chosen) <= set(slopes.GRID)
    got = score(spec, case)
    grid = [score(spec.replace(a=float(a)), case) for a in slopes.GRID]
    for target in range(10):
        assert any(np.array_equal(got[target], curve[target]) for curve in grid)


def test_slope_is_the_best_for_the_references_that_play_the_target():
    case = problem(4, records=150, models=8, population=0)
    spec = Rmia(mode="offline", gamma=1.0)
    rng = np.random.default_rng(5)
    pretenders = [m for m in np.random.default_rng(5).permutation(8) if m != 6][:4]
    curve = []
    for a in slopes.GRID:
        areas = []
        for pretender in pretenders:
            others = [m for m in range(8) if m not in {6, pretender}]
            alone = Problem.make(case.signals, case.membership, targets=[pretender], references=others)
            areas.append(auc(score(spec.replace(a=float(a)), alone)[0], case.membership.matrix[pretender]))
        curve.append(np.mean(areas))
    chosen = slopes.choose(spec, case, 1, rng)
    assert chosen[6] == slopes.GRID[np.argmax(np.round(curve, 12))]
    assert np.ptp(curve) > 1e-3


def test_slope_on_four_models_leaves_out_records_that_have_no_reference_out():
    case = problem(5, models=4, records=50)
    scores = score(Rmia(mode="offline"), case)
    assert scores.shape == (4, 50)
    assert np.isfinite(scores).all()


def test_slope_is_the_usual_one_where_no_reference_can_be_attacked():
    known = np.zeros((3, 6), dtype=bool)
    known[0, :2] = known[1, :3] = known[2, 3:] = True
    margins = np.random.default_rng(0).normal(size=(3, 6))
    for inside in (known, known & (np.arange(3) == 0)[:, None]):
        case = Problem.make(Signals.from_margins(margins, np.arange(6) % 2), inside, targets=[0])
        # Where one of the two references is OUT, the other is IN: nothing to tell apart.
        found = score(Rmia(mode="offline"), case)
        np.testing.assert_array_equal(found, score(Rmia(mode="offline", a=0.3), case))


def test_auc_of_counts_equals_the_general_one():
    rng = np.random.default_rng(0)
    counts, members = rng.integers(0, 12, 80), rng.random(80) < 0.4
    assert dominance.auc(counts, members, 12) == pytest.approx(auc(counts, members), rel=1e-14)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"population": "held-out"}, "population='held-out' expected records that no model was trained on, got none"),
        ({"temperature": 2.0}, r"expected logits for signal='softmax' at temperature=2.0 and 3 classes"),
        ({"signal": "taylor"}, r"expected logits for signal='taylor'"),
    ],
)
def test_what_is_missing_is_named(options, words):
    case = problem(0, population=0)
    bare = Signals.from_margins(case.signals.margins, case.signals.labels, 3)
    with pytest.raises(InputError, match=words):
        score(Rmia(**options), Problem.make(bare, case.membership))


def test_several_queries_of_a_formula_that_needs_logits_are_refused():
    case = problem(0, queries=2)
    with pytest.raises(InputError, match=r"expected one query for signal='sm-taylor' .* got 2: use queries=1"):
        score(Rmia(signal="sm-taylor"), case)
    assert score(Rmia(signal="sm-taylor", queries=1), case).shape == (12, 60)
