"""LiRA against plain loops, closed forms, and the released formulas."""

import numpy as np
import pytest
from attack_cases import auc, problem, used
from scipy.stats import norm, rankdata

from reticent.attacks import Problem, lira_released, score
from reticent.attacks.lira import FLOOR, Lira
from reticent.attacks.lira_released import LiraReleased
from reticent.data.membership import Membership
from reticent.errors import SpecError, TooFewReferencesError
from reticent.signals.matrix import Signals, margin

SEEDS = range(5)
CENTRES = {"mean": np.mean, "median": np.median}


def split(case, target, record, query, kept=None):
    """The margins of the other references that saw the record, and of those that did not; by default of all."""
    sides = {True: [], False: []}
    for model in case.references:
        if model != target and (kept is None or kept[model, record]):
            sides[bool(case.membership.matrix[model, record])].append(case.signals.margins[model, record, query])
    return np.array(sides[True]), np.array(sides[False])


def pooled(case, target, query, side):
    squares = freedom = 0.0
    for record in range(case.signals.records):
        values = split(case, target, record, query)[side]
        squares += ((values - values.mean()) ** 2).sum()
        freedom += len(values) - 1
    return squares / freedom


def centre_variance(centre, k):
    if centre == "mean":
        return 1 / k
    return np.pi / (2 * k + (np.pi - 2 if k % 2 else 2 * np.pi - 4))


def naive(spec, case, target):
    queries = spec.queries or case.signals.queries
    scores, kept = np.zeros(case.signals.records), used(case, target, online=spec.mode == "online")
    for query in range(queries):
        shared = [pooled(case, target, query, side) for side in (0, 1)]
        for record in range(case.signals.records):
            value = case.signals.margins[target, record, query]
            logs = []
            for side, values in enumerate(split(case, target, record, query, kept)):
                variance = shared[side] if spec.variance == "pooled" else values.var(ddof=1)
                widened = (
                    np.sqrt(1 + centre_variance(spec.centre, len(values))) if spec.uncertainty == "centre" else 1.0
                )
                logs.append(((value - CENTRES[spec.centre](values)) / widened, np.sqrt(variance)))
            if spec.mode == "offline":
                scores[record] += logs[1][0] / logs[1][1] / queries
            else:
                (from_in, std_in), (from_out, std_out) = logs
                scores[record] += (norm.logpdf(from_in, 0, std_in) - norm.logpdf(from_out, 0, std_out)) / queries
    return scores


def naive_shared(case, target):
    """A shift that all records share, as far as they do, beside each record's own references."""
    scores, kept = np.zeros(case.signals.records), used(case, target, online=True)
    for query in range(case.signals.queries):
        inner, outer = (pooled(case, target, query, side) for side in (0, 1))
        shifts, noise = [], []
        for record in range(case.signals.records):
            inside, outside = split(case, target, record, query)
            shifts.append(inside.mean() - outside.mean())
            noise.append(inner / len(inside) + outer / len(outside))
        shift, apart = np.mean(shifts), max(0.0, np.var(shifts, ddof=1) - np.mean(noise))
        for record in range(case.signals.records):
            value = case.signals.margins[target, record, query]
            inside, outside = split(case, target, record, query, kept)
            for own, other, v, w, sign in ((inside, outside, inner, outer, 1), (outside, inside, outer, inner, -1)):
                known, guessed = v / len(own), w / len(other) + apart
                centre = (own.mean() * guessed + (other.mean() + sign * shift) * known) / (known + guessed)
                widened = np.sqrt(1 + known * guessed / (known + guessed) / v)
                scores[record] += sign * norm.logpdf((value - centre) / widened, 0, np.sqrt(v)) / case.signals.queries
    return scores


def uneven():
    """Who was trained on what, where some records have three IN models and some seven."""
    rng = np.random.default_rng(8)
    return rng.permuted(np.arange(10)[:, None] < rng.integers(3, 8, 60), axis=0)


@pytest.mark.parametrize("given", [{"models": 6}, {"models": 8}, {"membership": uneven()}], ids=["6", "8", "uneven"])
def test_a_shared_shift_equals_the_plain_loops(given):
    case = problem(3, population=0, **given)
    found = score(Lira(shift="shared"), case)
    for row, target in enumerate(case.targets):
        np.testing.assert_allclose(found[row], naive_shared(case, target), rtol=1e-8, atol=1e-10)


def test_targets_with_and_without_variances_of_their_own_share_a_shift_each_as_alone():
    rng = np.random.default_rng(5)
    membership = np.concatenate([Membership.draw(65, 80, 0).matrix, rng.random((1, 80)) < 0.5])
    case = problem(3, membership=membership, records=80, population=0)
    shared, own, pooled = (score(Lira(**o), case) for o in ({"shift": "shared"}, {}, {"variance": "pooled"}))
    as_own = [np.array_equal(one, other) for one, other in zip(shared, own, strict=True)]
    assert 0 < sum(as_own) < 66
    assert not np.array_equal(own, pooled)


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_without_any_pair_nothing_is_shared_whatever_the_unit(scale):
    rng = np.random.default_rng(2)
    membership = np.array([rng.random(200) < 0.5, np.arange(200) % 2 == 0, np.arange(200) % 2 == 1])
    margins = scale * (rng.normal(size=(3, 200)) + membership)
    case = Problem.make(Signals.from_margins(margins, np.arange(200) % 5), membership, [0], [1, 2])
    ranks = [rankdata(score(Lira(shift=shift), case)[0]) for shift in ("shared", "own")]
    np.testing.assert_array_equal(*ranks)


def few_models(spread, seed, models=6, records=2000):
    """Margins of records whose IN lies above their OUT by 0.7, more or less by ``spread``."""
    rng = np.random.default_rng(seed)
    shift = 0.7 + spread * rng.normal(size=records)
    membership = Membership.draw(models, records, seed)
    margins = rng.normal(size=(models, records)) + 3 * rng.normal(size=records) + shift * membership.matrix
    return Problem.make(Signals.from_margins(margins, np.arange(records) % 5), membership)


def test_a_shared_shift_finds_more_where_models_are_few_and_as_much_where_records_differ():
    def found(spread, **options):
        cases = [few_models(spread, seed) for seed in range(4)]
        return np.mean([
            auc(*pair)
            for case in cases
            for pair in zip(score(Lira(variance="pooled", **options), case), case.membership.matrix, strict=True)
        ])

    assert found(0.0, shift="shared") > found(0.0) + 0.03
    assert found(5.0, shift="shared") > found(5.0) - 0.002


def test_a_shared_shift_is_the_records_own_where_every_record_has_32_references_of_a_kind():
    case = few_models(0.5, 0, models=66, records=80)
    np.testing.assert_array_equal(score(Lira(shift="shared"), case), score(Lira(), case))


@pytest.mark.parametrize(
    "other", [{"mode": "offline"}, {"variance": "per-record"}, {"centre": "median"}, {"uncertainty": "none"}]
)
def test_a_shared_shift_goes_with_means_and_a_pooled_variance_alone(other):
    ((key, value),) = other.items()
    with pytest.raises(SpecError, match=f"shift = shared does not go with {key} = {value}"):
        score(Lira(shift="shared", **other), problem(9, models=12, population=0))


@pytest.mark.parametrize("mode", ["online", "offline"])
@pytest.mark.parametrize("variance", ["per-record", "pooled"])
@pytest.mark.parametrize("centre", ["mean", "median"])
@pytest.mark.parametrize("queries", [1, 3])
def test_equals_the_plain_loops(mode, variance, centre, queries):
    spec = Lira(mode=mode, variance=variance, centre=centre)
    for seed in SEEDS:
        case = problem(seed, records=16, queries=queries, population=0)
        target = 3 + seed
        np.testing.assert_allclose(score(spec, case)[target], naive(spec, case, target), rtol=1e-9, atol=1e-12)


def test_equals_the_plain_loops_on_some_references_and_queries():
    case = problem(
        6, models=14, records=20, queries=3, population=0, targets=[1, 5], references=[0, 2, 3, 5, 6, 8, 9, 13]
    )
    for mode in ("online", "offline"):
        spec = Lira(queries=2, mode=mode, variance="pooled")
        for row, target in enumerate([1, 5]):
            np.testing.assert_allclose(score(spec, case)[row], naive(spec, case, target), rtol=1e-9, atol=1e-12)


def truncated(case, target, queries):
    """Rows of the other references, cut to the smallest count, as the released code lays them out."""
    sides = [[split(case, target, i, q) for q in range(queries)] for i in range(case.signals.records)]
    kept = []
    for side in (0, 1):
        least = min(len(values[0][side]) for values in sides)
        kept.append(np.array([[query[side][:least] for query in record] for record in sides]).swapaxes(1, 2))
    return kept


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", ["online", "offline"])
@pytest.mark.parametrize("variance", ["per-record", "fixed"])
def test_released_equals_its_formulas(seed, mode, variance):
    rng = np.random.default_rng(seed)
    known = rng.random((12, 20)) < 0.5
    known[:2], known[2:4] = np.arange(20) % 2 == 0, np.arange(20) % 2 == 1
    known[4:6], known[6:8] = np.arange(20) % 2 == 0, np.arange(20) % 2 == 1
    case = problem(seed, records=20, queries=2, population=0, membership=known)
    target = seed
    kept_in, kept_out = truncated(case, target, 2)
    value = case.signals.margins[target]
    mean_in, mean_out = np.median(kept_in, axis=1), np.median(kept_out, axis=1)
    if variance == "per-record":
        std_in, std_out = kept_in.std(axis=1), kept_out.std(axis=1)
    else:
        std_in = std_out = kept_in.std() if mode == "online" else kept_out.std()
    expected = -norm.logpdf(value, mean_out, std_out + 1e-30)
    if mode == "online":
        expected = expected + norm.logpdf(value, mean_in, std_in + 1e-30)
    got = score(LiraReleased(mode=mode, variance=variance), case)[target]
    np.testing.assert_allclose(got, expected.mean(axis=1), rtol=1e-9, atol=1e-11)


def test_margins_of_the_algorithms_page():
    z = np.array([[2.0, 1.0, 0.0]] * 2)
    np.testing.assert_allclose(margin(z, np.array([0, 1])), [0.686738, -1.126928], atol=5e-7)
    np.testing.assert_allclose(margin(np.log([[0.9, 0.06, 0.04]]), np.array([0])), np.log(9), rtol=1e-14)
    np.testing.assert_allclose(margin(np.log([[0.5, 0.25, 0.25]]), np.array([0])), 0, atol=1e-15)


def gaussian(spread_in, spread_out):
    """References IN at 2 +- spread_in and OUT at 0 +- spread_out, four of each kind, for six records."""
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    known = np.zeros((9, 6), dtype=bool)
    known[1:5, :3], known[5:, 3:], known[0, 0] = True, True, True
    margins = np.empty((9, 6))
    for record in range(6):
        inside = known[1:, record]
        margins[1:, record][inside] = 2 + spread_in * signs
        margins[1:, record][~inside] = 0 + spread_out * signs
    margins[0] = 1.5
    return margins, known


@pytest.mark.parametrize("variance", ["per-record", "pooled"])
def test_known_gaussians(variance):
    # Four values at +-s have the unbiased variance 4 s^2 / 3.
    margins, known = gaussian(0.5 * np.sqrt(0.75), np.sqrt(0.75))
    case = Problem.make(Signals.from_margins(margins, np.arange(6) % 2), known, targets=[0])
    np.testing.assert_allclose(score(Lira(variance=variance, uncertainty="none"), case), 1.318147, atol=5e-7)
    np.testing.assert_allclose(
        score(Lira(variance=variance, mode="offline", uncertainty="none"), case), 1.5, rtol=1e-12
    )


def test_offline_is_one_sided_and_released_two_sided():
    margins, known = gaussian(1.0, 1.0)
    margins[0] = [3, -3, 30, 31, 0, 0]
    case = Problem.make(Signals.from_margins(margins, np.arange(6) % 2), known, targets=[0])
    z = score(Lira(mode="offline", uncertainty="none"), case)[0] * np.sqrt(4 / 3)
    np.testing.assert_allclose(z, margins[0], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(norm.cdf(z[:2]), [0.998650, 0.001350], atol=5e-7)
    assert z[2] < z[3]  # where the normal distribution function is 1 for both
    np.testing.assert_allclose(score(LiraReleased(mode="offline"), case)[0, :2], [5.418939, 5.418939], atol=5e-7)


def test_equal_variances_give_the_gaussian_roc():
    n, levels = 20_000, (np.arange(20_000) + 0.5) / 20_000
    known = np.zeros((9, 2 * n), dtype=bool)
    known[0, :n] = known[1:5, ::2] = known[5:, 1::2] = True
    values = np.empty((9, 2 * n))
    signs = np.array([1.0, -1.0, 1.0, -1.0])[:, None] * np.sqrt(0.75)
    values[1:5] = np.where(known[1:5], 2 + signs, signs)
    values[5:] = np.where(known[5:], 2 + signs, signs)
    values[0] = np.concatenate([norm.ppf(levels) + 2, norm.ppf(levels)])
    case = Problem.make(Signals.from_margins(values, np.arange(2 * n) % 2), known, targets=[0])
    scores = score(Lira(variance="pooled", uncertainty="none"), case)[0]
    np.testing.assert_allclose(scores, 2 * (values[0] - 1), rtol=1e-9, atol=1e-9)  # affine in the margin
    assert auc(scores, known[0]) == pytest.approx(0.921350, abs=1e-4)
    for rate, power in ((0.01, 0.372081), (0.001, 0.137805)):
        threshold = np.sort(scores[n:])[::-1][int(rate * n) - 1]
        assert np.mean(scores[:n] >= threshold) == pytest.approx(power, abs=2e-3)
    best = max(0.5 * (np.mean(scores[:n] >= t) + np.mean(scores[n:] < t)) for t in np.linspace(-1, 1, 41))
    assert best == pytest.approx(0.841345, abs=1e-3)


def test_order_of_released_fixed_scores_is_that_of_the_paper_with_one_variance():
    case = problem(
        2,
        population=0,
        targets=[0],
        references=range(1, 11),
        membership=np.arange(11)[:, None] % 2 == np.arange(60) % 2,
    )
    released = lira_released.score(LiraReleased(), case, np.random.default_rng(0))[0]  # of a design that is refused
    value = case.signals.margins[0, :, 0]
    sides = [split(case, 0, record, 0) for record in range(60)]
    mean_in, mean_out = (np.array([np.median(side[kind]) for side in sides]) for kind in (0, 1))
    any_spread = (mean_in - mean_out) * (value - 0.5 * (mean_in + mean_out))
    np.testing.assert_array_equal(np.argsort(released), np.argsort(any_spread))


def test_swapping_in_and_out_negates_online_scores():
    case = problem(7, population=0)
    swapped = Problem.make(case.signals, ~case.membership.matrix)
    for spec in (Lira(), Lira(uncertainty="none"), Lira(variance="per-record", centre="median")):
        np.testing.assert_allclose(score(spec, swapped), -score(spec, case), rtol=1e-9, atol=1e-12)


def test_auto_takes_own_variances_from_32_references_on():
    for models, variance in ((64, "pooled"), (66, "per-record")):
        case = problem(8, models=models, records=70, population=0)
        expected = score(Lira(variance=variance), case)
        assert score(Lira(), case).tobytes() == expected.tobytes()
        other = score(Lira(variance={"pooled": "per-record", "per-record": "pooled"}[variance]), case)
        assert np.abs(other - expected).max() > 0.1


def test_auto_decides_for_each_target():
    known = Membership.draw(66, 70, 1).matrix.copy()
    known[0, :5] = True  # without model 0, these records have 33 or 32 IN; with it, others lose one
    known[1:, 0] = np.arange(65) < 32
    case = problem(8, membership=known, records=70, population=0)
    scores = score(Lira(), case)
    own, shared = (score(Lira(variance=variance), case) for variance in ("per-record", "pooled"))
    np.testing.assert_array_equal(scores[0], own[0])
    np.testing.assert_array_equal(scores[1], shared[1])


def test_references_that_agree_give_finite_scores():
    margins, known = gaussian(0.0, 0.0)
    case = Problem.make(Signals.from_margins(margins, np.arange(6) % 2), known, targets=[0])
    for variance in ("per-record", "pooled"):
        np.testing.assert_allclose(
            score(Lira(variance=variance, uncertainty="none"), case), 0.5 * (1.5**2 - 0.5**2) / FLOOR, rtol=1e-6
        )
    assert np.isfinite(score(LiraReleased(variance="per-record"), case)).all()


def test_a_side_without_pairs_takes_the_other_sides_variance():
    known = np.array([[True, False, True], [True, True, False], [True, False, True], [False, True, True]])
    margins = np.array([[1.0, 2.0, 0.5], [3.0, 0.5, 0.25], [2.0, 2.5, 4.0], [1.0, 3.0, 1.0]])
    signals = Signals.from_margins(margins, np.array([0, 1, 0]))
    shared = (0.5 + 3.125 + 4.5) / 3  # within the IN pairs (3, 2), (0.5, 3) and (4, 1); each record has one OUT
    expected = 0.5 * ((1 - 1) ** 2 - (1 - 2.5) ** 2) / shared
    assert score(Lira(uncertainty="none"), Problem.make(signals, known, targets=[0]))[0, 0] == pytest.approx(
        expected, rel=1e-12
    )
    swapped = score(Lira(uncertainty="none"), Problem.make(signals, ~known, targets=[0]))[0, 0]
    assert swapped == pytest.approx(-expected, rel=1e-12)


def test_without_any_pair_variances_are_one():
    known = np.array([[True, False], [True, False], [False, True]])
    margins = np.array([[1.0, 2.0], [3.0, 0.5], [0.0, 2.5]])
    case = Problem.make(Signals.from_margins(margins, np.array([0, 1])), known, targets=[0])
    np.testing.assert_allclose(
        score(Lira(uncertainty="none"), case), [[0.5 * (1 - 4), 0.5 * (2.25 - 0.25)]], rtol=1e-14
    )


def test_own_variances_need_four_references_of_a_kind():
    case = problem(9, models=8, population=0)
    words = r"lira: expected at least 4 IN and 4 OUT .* has 4 IN and 3 OUT, so 1 OUT is missing"
    with pytest.raises(TooFewReferencesError, match=words):
        score(Lira(variance="per-record"), case)
    assert np.isfinite(score(Lira(), case)).all()


@pytest.mark.parametrize(
    "options",
    [{}, {"mode": "offline"}, {"centre": "median"}, {"shift": "shared"}],
    ids=["mean", "offline", "median", "shared"],
)
@pytest.mark.parametrize("models", [4, 6, 16])
def test_models_that_leak_nothing_give_one_half_even_where_they_are_few(models, options):
    values = []
    for seed in range(12):
        rng = np.random.default_rng(1000 + seed)
        margins = 1.5 * rng.normal(size=(models, 1000)) + 3 * rng.normal(size=1000)
        membership = Membership.draw(models, 1000, seed)
        case = Problem.make(Signals.from_margins(margins, np.arange(1000) % 5), membership)
        values += [auc(*pair) for pair in zip(score(Lira(**options), case), membership.matrix, strict=True)]
    error = np.std(values) / np.sqrt(12)  # targets of one population are not independent; populations are
    assert abs(np.mean(values) - 0.5) < 4 * error / np.sqrt(models) + 0.004


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 31, 32])
def test_the_variance_of_a_median(k):
    from reticent.attacks.lira import _median_variance

    medians = np.median(np.random.default_rng(k).normal(size=(60_000, k)), axis=1)
    assert _median_variance(np.array([float(k)]))[0] == pytest.approx(medians.var(), rel=0.04)
