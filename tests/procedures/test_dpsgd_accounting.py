"""The accountant's epsilon: an upper bound by closed forms, the target met, and what is said where there is none."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import optimize, special

from reticent.data.records import Records
from reticent.errors import ModelError, SpecError
from reticent.models.mlp import MLP
from reticent.procedures import PROCEDURES
from reticent.procedures.cwrf import CWRF
from reticent.procedures.dpsgd import DPSGD, WITHOUT_NOISE, accounting, train
from reticent.procedures.dpsgd.accounting import Spent, Steps, noise_for, of_group, spent
from reticent.procedures.pptp import PPTP
from reticent.training.data import Preparation
from reticent.training.materials import Materials
from reticent.training.recipe import Plain, Recipe
from reticent.training.streams import Streams

SPECIFICATION = Path("/work/shared/algorithms.md")
SMALL = Recipe(architecture=MLP(widths=(4,)), epochs=2, batch_size=16)


def materials(members=50):
    rng = np.random.default_rng(0)
    records = Records.make(rng.normal(size=(members + 20, 5)).astype(np.float32), np.arange(members + 20) % 3)
    prepare = Preparation(records, torch.device("cpu"))
    take = lambda start, stop: prepare.examples(records, np.arange(start, stop))  # noqa: E731
    return Materials(take(0, members), take(members, members + 20), take(0, 0), prepare, records.classes)


def facts(members=50, recipe=SMALL, **options):
    return train(recipe.replace(procedure=DPSGD(**options)), materials(members), Streams(0, 0)).facts


def gaussian(noise, steps):
    """Epsilon of the Gaussian mechanism, exactly: every record is in every step."""
    mu = math.sqrt(steps.count) / noise
    return solved(lambda e: special.ndtr(mu / 2 - e / mu) - math.exp(e) * special.ndtr(-mu / 2 - e / mu), steps.delta)


def one_step(noise, steps):
    """Epsilon of a single step on a Poisson sample, exactly: the larger of removing and of adding a record."""

    def removed(epsilon):
        # The density ratio 1 - q + q exp((2 x - 1) / (2 s^2)) exceeds e^epsilon from this x on.
        x = noise**2 * math.log((math.exp(epsilon) - 1 + q) / q) + 0.5
        inside, outside = special.ndtr(-(x - 1) / noise), special.ndtr(-x / noise)
        return q * inside + (1 - q) * outside - math.exp(epsilon) * outside

    def added(epsilon):
        if math.exp(-epsilon) <= 1 - q:
            return 0.0
        x = noise**2 * math.log((math.exp(-epsilon) - 1 + q) / q) + 0.5
        inside, outside = special.ndtr((x - 1) / noise), special.ndtr(x / noise)
        return outside - math.exp(epsilon) * (q * inside + (1 - q) * outside)

    q = steps.rate
    return max(solved(removed, steps.delta), solved(added, steps.delta))


def solved(delta_at, delta):
    if delta_at(1e-9) <= delta:
        return 0.0
    return optimize.brentq(lambda e: delta_at(e) - delta, 1e-9, 500)


def zcdp(noise, steps):
    rho = steps.count / (2 * noise**2)
    return rho + 2 * math.sqrt(rho * math.log(1 / steps.delta))


def test_the_closed_form_of_the_specification_bounds_both_accountants():
    steps = Steps(1.0, 4, 1e-5)
    assert zcdp(2.0, steps) == pytest.approx(5.298526, abs=1e-6)
    exact = gaussian(2.0, steps)
    for accountant in ("prv", "rdp"):
        found = spent(2.0, steps, accountant)
        assert found.source == accountant
        assert exact <= found.epsilon <= zcdp(2.0, steps)


@pytest.mark.skipif(not SPECIFICATION.exists(), reason="the specification lies outside of the package")
def test_the_specification_has_that_number():
    assert "5.298526" in SPECIFICATION.read_text(encoding="utf-8")


@pytest.mark.parametrize("noise", [0.5, 1.0, 3.0, 30.0])
@pytest.mark.parametrize("count", [1, 7, 100])
def test_no_accountant_says_less_than_the_gaussian_mechanism_loses(noise, count):
    for delta in (1e-3, 1e-6):
        steps = Steps(1.0, count, delta)
        exact = gaussian(noise, steps)
        tight, loose = (spent(noise, steps, accountant).epsilon for accountant in ("prv", "rdp"))
        assert exact <= tight <= 1.02 * exact + 0.003
        assert exact <= loose <= 1.05 * zcdp(noise, steps)


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("noise", [0.5, 1.0, 4.0])
def test_no_accountant_says_less_than_one_step_loses_whether_a_record_is_added_or_removed(rate, noise):
    steps = Steps(rate, 1, 1e-5)
    exact = one_step(noise, steps)
    for accountant in ("prv", "rdp"):
        assert spent(noise, steps, accountant).epsilon >= exact
    assert spent(noise, steps, "prv").epsilon <= 1.02 * exact + 0.003


def composed(noise, steps, added):
    """A lower bound of epsilon by a naive twin: losses rounded down onto a grid, and convolved one step at a time."""
    width, reach = 2e-3, 12.0
    edges = np.linspace(-reach, 1 + reach, 400_001) * max(1.0, noise)
    base = np.diff(special.ndtr(edges / noise))
    mixed = (1 - steps.rate) * base + steps.rate * np.diff(special.ndtr((edges - 1) / noise))
    up, down = (base, mixed) if added else (mixed, base)
    kept = (up > 0) & (down > 0)
    cells = np.floor(np.log(up[kept] / down[kept]) / width).astype(int)
    one = np.bincount(cells - cells.min(), weights=up[kept])
    total, low = np.ones(1), 0
    for _ in range(steps.count):
        total, low = np.convolve(total, one), low + cells.min()
    losses = width * (low + np.arange(len(total)))
    delta_at = lambda e: float((total * np.maximum(0, 1 - np.exp(e - losses))).sum())  # noqa: E731
    return solved(delta_at, steps.delta)


@pytest.mark.parametrize(("records", "rate", "noise"), [(2, 0.1, 1.0), (5, 0.1, 4.0), (5, 0.6, 4.0)])
def test_a_group_of_records_loses_no_more_than_is_said_whether_it_is_added_or_removed(records, rate, noise):
    """One step: how many of the group are in it is binomial, and its gradients agree."""
    at = np.arange(-30 * noise, 30 * noise + records, noise / 2000)
    drawn = [math.comb(records, k) * rate**k * (1 - rate) ** (records - k) for k in range(records + 1)]
    bells = np.exp(-(((at[:, None] - np.arange(records + 1)) / noise) ** 2) / 2) / (noise * math.sqrt(2 * math.pi))
    with_them, without = bells @ drawn, bells[:, 0]
    said = of_group(records, noise, Steps(rate, 1, 1e-5)).epsilon
    for one, other in ((with_them, without), (without, with_them)):
        assert np.maximum(one - math.exp(said) * other, 0).sum() * noise / 2000 <= 1e-5
    assert np.maximum(with_them - math.exp(said / records) * without, 0).sum() * noise / 2000 > 1e-5


def test_what_is_said_of_a_group_of_one_is_the_rdp_accountants():
    steps = Steps(0.05, 400, 1e-5)
    assert of_group(1, 1.3, steps).epsilon == pytest.approx(spent(1.3, steps, "rdp").epsilon, rel=1e-9)
    assert of_group(600, 1.3, steps) is None


@pytest.mark.parametrize(("rate", "noise", "count"), [(0.1, 1.0, 6), (0.3, 2.0, 10), (0.5, 0.8, 4)])
def test_prv_bounds_what_a_naive_composition_finds_and_is_tight(rate, noise, count):
    steps = Steps(rate, count, 1e-5)
    removed, added = composed(noise, steps, added=False), composed(noise, steps, added=True)
    assert removed >= added > 0
    assert removed <= spent(noise, steps, "prv").epsilon <= 1.02 * removed + 0.05
    assert removed <= spent(noise, steps, "rdp").epsilon


def test_our_orders_say_what_opacus_accountants_say():
    from opacus.accountants import PRVAccountant, RDPAccountant

    for noise, steps in ((1.0, Steps(0.05, 200, 1e-5)), (3.0, Steps(0.2, 50, 1e-6))):
        for accountant, kind in (("prv", PRVAccountant), ("rdp", RDPAccountant)):
            theirs = kind()
            theirs.history = [(noise, steps.rate, steps.count)]
            assert spent(noise, steps, accountant).epsilon == pytest.approx(theirs.get_epsilon(steps.delta), rel=0.02)


@pytest.mark.slow
def test_epsilon_falls_with_noise_and_grows_with_steps_and_rate():
    noises = [spent(noise, Steps(0.1, 100, 1e-5), "prv").epsilon for noise in (0.3, 0.6, 1.2, 2.4, 40.0)]
    counts = [spent(1.0, Steps(0.1, count, 1e-5), "prv").epsilon for count in (1, 10, 100, 1000)]
    rates = [spent(1.0, Steps(rate, 100, 1e-5), "prv").epsilon for rate in (0.001, 0.01, 0.1, 1.0)]
    assert noises == sorted(noises, reverse=True)
    assert counts == sorted(counts)
    assert rates == sorted(rates)


@pytest.mark.parametrize("accountant", ["prv", "rdp"])
@pytest.mark.parametrize(
    ("epsilon", "steps"),
    [
        pytest.param(8.0, Steps(0.07, 140, 1e-5), marks=pytest.mark.slow),
        pytest.param(2.0, Steps(0.07, 560, 1e-5), marks=pytest.mark.calibration),
        pytest.param(0.05, Steps(0.07, 560, 1e-5), marks=pytest.mark.calibration),
        pytest.param(100.0, Steps(0.07, 560, 1e-5), marks=pytest.mark.calibration),
        pytest.param(8.0, Steps(1.0, 1, 1e-5), marks=pytest.mark.calibration),
        pytest.param(1.0, Steps(0.001, 10_000, 1e-7), marks=pytest.mark.slow),
    ],
)
def test_the_target_is_met_and_hardly_missed(epsilon, steps, accountant):
    noise, found = noise_for(epsilon, steps, accountant)
    assert 0.98 * epsilon <= found.epsilon <= epsilon
    assert found.source == accountant
    assert spent(noise, steps, accountant) == found
    assert spent(0.93 * noise, steps, accountant).epsilon > epsilon


def test_the_search_takes_few_questions(monkeypatch):
    asked = []
    monkeypatch.setattr(accounting, "spent", lambda *given: asked.append(given) or spent(*given))
    noise_for.cache_clear()
    for epsilon in (2.0, 8.0):
        for rate in (0.064, 0.0655):
            noise_for(epsilon, Steps(rate, 300, 1e-5), "prv")
    assert len(asked) <= 4 * 4
    noise_for(8.0, Steps(0.064, 300, 1e-5), "prv")
    assert len(asked) <= 4 * 4


def test_a_target_that_no_noise_keeps_is_refused():
    with pytest.raises(SpecError, match=r"no noise was found that keeps 1e-08 in 560 steps.*expected a larger epsilon"):
        noise_for(1e-8, Steps(0.07, 560, 1e-5), "prv")


def test_where_prv_would_need_too_much_memory_rdp_answers():
    steps = Steps(0.07, 560, 1e-5)
    found = spent(0.1, steps, "prv")
    assert found == spent(0.1, steps, "rdp")
    assert found.source == "rdp"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), RuntimeError("no"), OverflowError("no"), ValueError])
@pytest.mark.parametrize(("broken", "other"), [("_prv", "rdp"), ("_rdp", "prv")])
def test_either_accountant_stands_in_for_the_other(monkeypatch, broken, other, value):
    def fails(*_):
        if isinstance(value, float):
            return value
        raise value

    monkeypatch.setattr(accounting, "_prv" if other == "rdp" else "_rdp", fails)
    monkeypatch.setattr(accounting, "_rdp" if other == "rdp" else "_prv", lambda *_: 1.5)
    assert spent(1.0, Steps(0.1, 10, 1e-5), "prv" if other == "rdp" else "rdp") == Spent(1.5, other)


def test_where_neither_answers_there_is_an_error(monkeypatch):
    monkeypatch.setattr(accounting, "_tried", lambda *_: None)
    with pytest.raises(
        ModelError, match=r"neither accountant can bound epsilon for noise 1, sampling rate 0.1, 10 steps"
    ):
        spent(1.0, Steps(0.1, 10, 1e-5), "prv")


# What training says.


def test_the_facts_are_those_of_the_steps_and_plain_values():
    said = facts(noise=1.5, max_norm=2.0).accountant
    assert said.to_json() == {
        "epsilon": spent(1.5, Steps(0.32, 6, 1e-5), "prv").epsilon,
        "delta": 1e-5,
        "source": "prv",
        "noise": 1.5,
        "max_norm": 2.0,
        "sample_rate": 0.32,
        "steps": 6,
        "neighbours": "add or remove one record",
    }


@pytest.mark.parametrize(("options", "target"), [({}, 8.0), ({"epsilon": 2.0}, 2.0), ({"epsilon": 1}, 1.0)])
def test_a_target_is_kept_and_eight_where_none_is_given(options, target):
    said = facts(**options)
    assert 0.98 * target <= said.accountant.epsilon <= target
    assert said.notices == ()


@pytest.mark.slow
def test_training_that_is_to_stop_earlier_counts_its_steps_and_needs_less_noise():
    stopped = SMALL.replace(epochs=4, stop_after=1.34)
    assert facts(recipe=stopped, noise=1.0).accountant.steps == 4
    assert facts(recipe=SMALL.replace(epochs=4), noise=1.0).accountant.steps == 12
    noises = [facts(recipe=r, epsilon=4.0).accountant.noise for r in (stopped, SMALL.replace(epochs=4))]
    assert noises[0] < noises[1]


def test_early_stopping_is_counted_as_if_it_had_not_stopped():
    recipe = SMALL.replace(epochs=30, patience=1, learning_rate=0.5)
    made = train(recipe.replace(procedure=DPSGD(noise=5.0)), materials(), Streams(0, 0))
    assert len(made.history.loss) < 30
    assert made.facts.accountant.steps == 90


def test_without_noise_there_is_no_epsilon_and_a_notice():
    said = facts(noise=0.0)
    assert said.to_json() == {"notices": [WITHOUT_NOISE]}
    assert "no guarantee" in WITHOUT_NOISE


def test_whether_a_recipe_could_have_an_epsilon_and_has_none_is_told_by_the_recipe():
    said = {
        name: PROCEDURES[spec.method].unproved(Recipe(procedure=spec))
        for name, spec in {
            "dpsgd": DPSGD(),
            "clipping": DPSGD(noise=0.0),
            "cwrf": CWRF(),
            "cwrf+dpsgd": CWRF(inner=DPSGD()),
            "pptp": PPTP(),
            "pptp+dpsgd": PPTP(inner=DPSGD(noise=0.0)),
            "plain": Plain(),
        }.items()
    }
    assert [name for name, why in said.items() if why] == ["clipping", "cwrf+dpsgd", "pptp+dpsgd"]
    assert said["clipping"] == WITHOUT_NOISE


def test_an_accountant_that_stood_in_is_named():
    said = facts(noise=0.02, accountant="prv")
    assert said.accountant.source == "rdp"
    assert said.notices == (
        "The prv accountant could not bound epsilon here; the bound is that of the rdp accountant.",
    )


@pytest.mark.parametrize(
    ("members", "expected"), [(1, 1e-5), (50, 1e-5), (99_999, 1e-5), (100_000, 1e-6), (150_000, 1e-6), (10**6, 1e-7)]
)
def test_delta_is_below_one_over_the_members(members, expected):
    from reticent.procedures.dpsgd import _delta

    found = _delta(DPSGD(), members)
    assert found == pytest.approx(expected, rel=1e-9)
    assert found * members < 1


def test_a_delta_that_publishing_a_record_would_keep_is_refused():
    assert facts(noise=1.0, delta=1e-3).accountant.delta == 1e-3
    with pytest.raises(SpecError, match=r"delta: expected less than 1 / members = 0.02 \(50 members\)"):
        facts(noise=1.0, delta=0.02)
