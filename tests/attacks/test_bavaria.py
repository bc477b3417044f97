"""BaVarIA: the worked example, scipy's densities as a slow twin, and its limits."""

import numpy as np
import pytest
from attack_cases import problem, used
from newest_cases import worked
from scipy import stats

from reticent.attacks import Problem, bavaria, parse, score
from reticent.signals.matrix import Signals


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 1.912903),
        ({"mode": "offline"}, 1.738569),
        ({"law": "normal"}, 0.75),
        ({"law": "normal", "mode": "offline"}, 0.987591),
    ],
)
def test_worked_example(options, expected):
    assert worked({"method": "bavaria", **options}) == pytest.approx(expected, abs=1e-6)


def density(phi, values, prior, law):
    """Log-density of one margin under a posterior from `values`, as the paper's code has it."""
    n, kappa0, alpha0 = len(values), 1.0, 2.0 if law == "t" else 1.0
    mean = values.mean() if n else prior.mean()
    start = prior.var() * (alpha0 - 1 if alpha0 > 1 else 1)
    kappa, alpha = kappa0 + n, alpha0 + n / 2
    beta = start + ((values - mean) ** 2).sum() / 2 + kappa0 * n * (mean - prior.mean()) ** 2 / (2 * kappa)
    if law == "normal":
        return stats.norm.logpdf(phi, mean, np.sqrt(beta / (alpha - 1) if alpha > 1 else beta))
    centre, scale = (kappa0 * prior.mean() + n * mean) / kappa, np.sqrt(beta * (kappa + 1) / (alpha * kappa))
    return stats.t.logpdf(phi, 2 * alpha, centre, scale)


def twin(case, law, mode):
    """Score record by record."""
    known, scores = case.membership.matrix, np.zeros(case.shape)
    for row, target in enumerate(case.targets):
        kept = used(case, target, online=mode == "online")
        others = case.references[case.references != target]
        for query in range(case.signals.queries):
            margins = case.signals.margins[:, :, query]
            priors = [margins[others][known[others] == member] for member in (True, False)]
            for i, phi in enumerate(margins[target]):
                sides = [margins[kept[:, i] & (known[:, i] == member), i] for member in (True, False)]
                inside = sides[0] if mode == "online" else np.empty(0)
                found = [density(phi, side, prior, law) for side, prior in zip((inside, sides[1]), priors, strict=True)]
                scores[row, i] += (found[0] - found[1]) / case.signals.queries
    return scores


@pytest.mark.parametrize("law", ["t", "normal"])
@pytest.mark.parametrize("mode", ["online", "offline"])
@pytest.mark.parametrize("given", [{"models": 8}, {"references": range(9)}], ids=["half", "some"])
def test_equals_the_plain_loops(law, mode, given):
    case = problem(3, records=20, queries=2, targets=[1, 5], population=0, **given)
    found = score(parse({"method": "bavaria", "law": law, "mode": mode}), case)
    np.testing.assert_allclose(found, twin(case, law, mode), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("law", ["t", "normal"])
def test_with_many_references_it_is_base4(law):
    """LiRA with variances of each record."""
    rng = np.random.default_rng(0)
    half = rng.permuted(np.tile(np.arange(6000) < 3000, (4, 1)), axis=1).T
    known = np.vstack([np.arange(5) < 2, np.hstack([half, ~half[:, :1]])])
    margins = rng.normal(rng.normal(size=5) + known, np.exp(rng.normal(0, 0.3, 5)))
    signals = Signals(np.arange(5) % 3, margins[:, :, None], 3)
    case = Problem.make(signals, known, targets=[0], references=range(1, 6001))
    found = score(parse({"method": "bavaria", "law": law}), case)[0]
    sides = [np.where(known[1:] == member, margins[1:], np.nan) for member in (True, False)]
    logs = [stats.norm.logpdf(margins[0], np.nanmean(side, axis=0), np.nanstd(side, axis=0)) for side in sides]
    np.testing.assert_allclose(found, logs[0] - logs[1], atol=0.01)


def test_under_a_firm_prior_no_record_has_a_law_of_its_own(monkeypatch):
    monkeypatch.setattr(bavaria, "KAPPA", 1e9)
    monkeypatch.setitem(bavaria.ALPHA, "t", 1e9)
    case = problem(4, models=8, population=0, targets=[2])
    margins, known = case.signals.margins[:, :, 0], case.membership.matrix
    others = np.arange(8) != 2
    sides = [margins[others][known[others] == member] for member in (True, False)]
    logs = [stats.norm.logpdf(margins[2], side.mean(), side.std()) for side in sides]
    np.testing.assert_allclose(score("bavaria", case)[0], logs[0] - logs[1], atol=1e-5)


def test_t_is_bounded_in_slope_and_normal_is_not():
    far = {}
    for law in ("t", "normal"):
        case = problem(5, models=8, records=30, population=0, targets=[0], references=range(1, 8))
        case.signals.margins[0] += 1e4
        far[law] = np.abs(score(parse({"method": "bavaria", "law": law}), case)).max()
    assert far["t"] < 200
    assert far["normal"] > 1e4


def test_references_that_agree_give_finite_scores():
    case = problem(6, models=8, population=0)
    case.signals.margins[:] = 1.0
    for law in ("t", "normal"):
        assert not score(parse({"method": "bavaria", "law": law}), case).any()
