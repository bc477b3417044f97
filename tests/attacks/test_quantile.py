"""Quantile regression: heads, crossing, corrected rates, and what the audit says of them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from attack_cases import auc, problem
from scipy.special import ndtr
from scipy.stats import binom, kstest, norm
from torch import nn

import reticent
from reticent.attacks import Problem, parse, quantile, score
from reticent.attacks.base import Inputs
from reticent.attacks.fitting import Schedule, fit
from reticent.attacks.quantile import claims, normal_loss, pinball_loss
from reticent.attacks.quantile.levels import LEVELS, NORMAL, conformal, gaussian, pinball
from reticent.auditing.claimed_rates import claimed_rates
from reticent.data.membership import Membership
from reticent.data.units import Units
from reticent.errors import InputError
from reticent.signals.matrix import Signals


def test_levels_are_the_papers():
    np.testing.assert_allclose(np.sort(LEVELS), np.sort(1 - 10 ** np.linspace(-4, 0, 41)))
    assert (LEVELS[0], len(LEVELS)) == (0.0, 41)
    assert LEVELS[-1] == pytest.approx(0.9999)


def test_pinball_loss_of_the_algorithms_page():
    """rho_.9(2) = 1.8 and rho_.9(-2) = .2; of a constant, the minimiser over 0 to 4 is 2 at .5 and 4 at .9."""
    at = int(np.argmin(np.abs(LEVELS - 0.9)))
    assert LEVELS[at] == pytest.approx(0.9)
    for apart, expected in ((2.0, 1.8), (-2.0, 0.2)):
        said = torch.zeros(1, 41, dtype=torch.float64)
        before = pinball_loss(said, torch.zeros(1, dtype=torch.float64))
        said[0, at] = -apart
        assert 41 * float(pinball_loss(said, torch.zeros(1, dtype=torch.float64)) - before) == pytest.approx(expected)
    truth, grid = torch.arange(5, dtype=torch.float64), torch.linspace(0, 4, 401, dtype=torch.float64)
    losses = torch.stack([pinball_loss(one.expand(5, 41), truth) for one in grid])
    assert losses.isfinite().all()
    for level, best in ((0.5, 2.0), (0.9, 4.0)):
        u = truth[None] - grid[:, None]
        rho = torch.maximum(level * u, (level - 1) * u).mean(dim=1)
        assert float(grid[rho.argmin()]) == pytest.approx(best)


def test_normal_loss_and_threshold_of_the_algorithms_page():
    said = torch.tensor([[1.0, np.log(2)]], dtype=torch.float64)
    assert float(normal_loss(said, torch.tensor([4.0], dtype=torch.float64))) == pytest.approx(np.log(2) + 9 / 8)
    threshold = 4.919928
    assert gaussian(said.numpy(), np.array([threshold]))[0] == pytest.approx(norm.ppf(0.975), abs=5e-7)


def test_a_constant_learned_by_the_pinball_loss_is_the_sample_quantiles():
    values = np.random.default_rng(0).normal(size=2000).astype(np.float32)

    class Constant(nn.Module):
        def __init__(self):
            super().__init__()
            self.quantiles = nn.Parameter(torch.zeros(41))

        def forward(self, x):
            return self.quantiles.expand(len(x), 41)

    network, truth = Constant(), torch.from_numpy(values)
    with torch.random.fork_rng():
        fit(network, (truth[:, None],), truth, pinball_loss, Schedule("adam", 0.02, 50, steps=800))
    found = network.quantiles.detach().numpy()
    inner = (LEVELS > 0.2) & (LEVELS < 0.99)
    np.testing.assert_allclose(found[inner], np.quantile(values, LEVELS[inner]), atol=0.08)


def test_predicted_quantiles_that_cross_are_put_in_order():
    quantiles = NORMAL + 0.0
    crossed = quantiles.copy()
    crossed[[10, 20, 30]] = crossed[[30, 10, 20]]
    scores = np.linspace(-2, 3, 40)
    straight = pinball(np.tile(quantiles, (40, 1)), scores)
    np.testing.assert_array_equal(pinball(np.tile(crossed, (40, 1)), scores), straight)
    np.testing.assert_allclose(straight, scores, atol=1e-3)


def test_scores_beyond_all_quantiles_go_on_and_equal_quantiles_stay_finite():
    predicted = np.tile(NORMAL, (3, 1))
    found = pinball(predicted, np.array([5.0, 6.0, -9.0]))
    assert np.isfinite(found).all()
    assert found[1] > found[0] > NORMAL[-1]
    assert found[2] < NORMAL[0]
    same = pinball(np.zeros((3, 41)), np.array([-1.0, 0.0, 1.0]))
    assert np.isfinite(same).all()
    assert (np.diff(same) > 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_corrected_values_have_the_rates_that_they_claim(seed):
    rng = np.random.default_rng(seed)
    calibration, fresh = 3 * rng.standard_t(3, size=2000) + 1, 3 * rng.standard_t(3, size=4000) + 1
    found = conformal(calibration, fresh)
    assert np.isfinite(found).all()
    assert (np.diff(conformal(calibration, np.sort(fresh))) > 0).all()
    for rate in (0.1, 0.01):
        flagged = int((ndtr(-found) < rate).sum())
        # The threshold is drawn too: the variance is that of 4,000 and of 2,000 draws together.
        assert abs(flagged / 4000 - rate) < 3 * np.sqrt(rate * (1 - rate) * (1 / 4000 + 1 / 2000)) + 1 / 2000
    np.testing.assert_allclose(conformal(calibration, np.sort(calibration)[[-1]]), norm.ppf(2000 / 2001), rtol=1e-9)


def test_equal_values_have_the_rate_of_all_of_them():
    found = conformal(np.array([0.0, 2.0, 1.0, 2.0]), np.array([2.0, 1.0]))
    np.testing.assert_allclose(ndtr(-found), [2 / 5, 3 / 5], rtol=1e-12)
    np.testing.assert_allclose(ndtr(-conformal(np.full(9, 3.0), np.array([3.0]))), 0.9, rtol=1e-12)


def non_members(kind, seed, count):
    """Records whose scores a model that never saw them gives by what they look like; and these scores."""
    rng = np.random.default_rng(seed)
    hard = rng.random(count)
    if kind == "tabular":
        x = np.stack([hard, *rng.normal(size=(3, count))], axis=1).astype(np.float32)
    elif kind == "image":
        x = (255 * np.clip(hard[:, None, None, None] + rng.normal(0, 0.1, (count, 1, 8, 8)), 0, 1)).astype(np.uint8)
    else:
        x = np.where(rng.random((count, 10)) < hard[:, None], 1 + rng.integers(0, 3, (count, 10)), 4).astype(np.int64)
    return x, 6 * (1 - hard) - 1 + (0.3 + 2 * hard) * rng.normal(size=count)


def made(kind, members=0.0, audited=1500, population=2000, models=1):
    """One model, whose members have a higher score by so much."""
    x, scores = non_members(kind, 1, audited)
    z, others = non_members(kind, 2, population)
    known = np.random.default_rng(3).random((models, audited)) < 0.5

    def signals(values):
        labels = np.zeros(values.shape[1], dtype=np.int64)
        return Signals.from_logits(np.stack([values, np.zeros_like(values)], axis=2), labels)

    return Problem.make(
        signals(scores[None] + members * known), Membership(known), population=signals(np.tile(others, (models, 1))),
        inputs=Inputs(kind, x, z, vocabulary=5),
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["tabular", "image", "tokens"])
def test_the_realised_rate_at_one_percent_is_within_its_binomial_limits(kind):
    """On held-out non-members, of features, pictures and tokens, with the rate corrected."""
    case = made(kind, audited=1000, population=1600)
    found = score(parse({"method": "quantile", "steps": 25}), case)
    outside = ~case.membership.matrix[0]
    for rate in (0.1, 0.01):
        flagged = int((claims(case, found)[0, outside] < rate).sum())
        low, high = binom.ppf([0.0005, 0.9995], outside.sum(), rate)
        assert low <= flagged <= high, (rate, flagged)


@pytest.mark.parametrize("head", ["gaussian", "pinball"])
def test_it_learns_how_hard_a_record_is(head):
    case = made("tabular", members=1.5)
    found = score(parse({"method": "quantile", "head": head, "steps": 150}), case)[0]
    plain = np.asarray(case.signals.margins)[0, :, 0]
    assert auc(found, case.membership.matrix[0]) > auc(plain, case.membership.matrix[0]) + 0.05
    outside = found[~case.membership.matrix[0]]
    assert kstest(outside, "norm").statistic < 0.08
    hard = case.inputs.audited[~case.membership.matrix[0], 0]
    assert abs(np.corrcoef(outside, hard)[0, 1]) < 0.25


def test_without_correction_the_normal_head_claims_what_its_law_says():
    case = made("tabular")
    spec = parse({"method": "quantile", "conformal": False, "steps": 20})
    assert score(spec, case).tobytes() != score(parse({"method": "quantile", "steps": 20}), case).tobytes()


def test_without_a_population_nothing_is_claimed():
    case = problem(3, population=0, records=40, models=4)
    found = score(parse({"method": "quantile", "steps": 5}), case)
    assert np.isfinite(found).all()
    assert claims(case, found) is None


def test_duplicates_and_units_are_scored_by_what_was_learned_of_others(monkeypatch):
    """Rules are asked in turn for halves: no half has a copy, or a unit, of what its rule learned from."""
    once = np.repeat(np.arange(20), 2)
    known = Membership.draw(2, 20, 0).matrix[:, once]
    case = problem(3, population=0, records=40, membership=known, targets=[0])
    copied = case.among(once)
    units = replace(case, units=Units.of("person", once))
    for given, x in ((copied, case.inputs.audited[once]), (units, case.inputs.audited)):
        learned = []
        monkeypatch.setattr(
            quantile, "_Rule", lambda _, __, own, *rest, to=learned: to.append(own) or (lambda _, told: told)
        )
        score(parse({"method": "quantile", "steps": 2}), given)
        halves = [set(once[(x[:, None] == own[None]).all(axis=2).any(axis=1)]) for own in learned]
        assert [bool(halves[0]), bool(halves[1]), halves[0] & halves[1]] == [True, True, set()]


@pytest.mark.parametrize(("conformal", "fewest"), [(True, 3), (False, 2)])
def test_too_few_records_to_learn_from_are_refused(conformal, fewest):
    spec = parse({"method": "quantile", "conformal": conformal, "steps": 2})
    with pytest.raises(InputError, match=f"quantile: expected at least {fewest} records .* got {fewest - 1}: give"):
        score(spec, made("tabular", audited=20, population=fewest - 1))
    assert np.isfinite(score(spec, made("tabular", audited=20, population=fewest))).all()


def test_outputs_alone_are_refused_and_records_beside_them_are_enough():
    case = made("tabular", members=2.0, audited=300, models=2)
    brought = {
        "logits": np.asarray(case.signals.logits), "labels": np.arange(300) % 2, "membership": case.membership,
        "attacks": "quantile", "options": {"quantile": {"steps": 5}}, "replicates": 100,
    }  # fmt: skip
    with pytest.raises(InputError, match=r"quantile: expected the records themselves.* give records too"):
        reticent.attack(**brought)
    assert reticent.attack(**brought, records=case.inputs.audited).scores["quantile"].shape == (2, 300)


def test_claimed_rates_are_counted_on_non_members():
    members = np.array([[True, False, False, False, False], [False, False, False, False, True]])
    rates = np.array([[0.0, 0.05, 0.5, 0.1, 0.9], [0.01, 0.02, 0.03, 0.9, 0.0]])
    (one,) = claimed_rates(rates, members, [0.1])
    assert (one.realised, one.least, one.most) == (0.5, 0.25, 0.75)
    assert (one.non_members, one.within, one.targets) == (4, 1, 2)


@pytest.mark.parametrize("rate", [0.1, 0.01, 0.001])
def test_a_rate_that_equals_the_claimed_one_is_not_below_it(rate):
    """Attacks tell one minus their score, and 1 - 0.9 is below 0.1."""
    outside = np.zeros((1, 2), dtype=bool)
    for claim, realised in ((rate, 0.0), (1 - (1 - rate), 0.0), (rate - 1e-6, 0.5)):
        assert claimed_rates(np.array([[claim, 1.0]]), outside, [rate])[0].realised == realised


@pytest.mark.words
def test_the_audit_says_which_rates_are_realised(tmp_path):
    found = reticent.audit(
        dataset="digits", records=200, population=300, models=4, epochs=2, workers=1, device="cpu", replicates=100,
        attacks=["attack-p", "attack-r", "quantile"], attack={"quantile": {"steps": 20}},
        store=tmp_path / "store", out=tmp_path / "out",
    )  # fmt: skip
    for attack in found.findings.attacks:
        rate = attack.claimed[0]
        assert (rate.fpr, rate.targets) == (0.1, 4)
        assert rate.least <= rate.realised <= rate.most < 0.4
    assert "False positive rates as claimed" in (tmp_path / "out" / "report.html").read_text()
