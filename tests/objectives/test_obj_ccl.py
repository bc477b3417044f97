import math

import numpy as np
import pytest
import torch
from objective_twins import answers, batches, built, compare, evaluate, softmax
from scipy.special import lambertw

from reticent.data.records import Records
from reticent.errors import SpecError
from reticent.models.mlp import MLP
from reticent.objectives import Batch
from reticent.objectives.ccl import Ccl
from reticent.objectives.cross_entropy import CrossEntropy
from reticent.procedures.plain import train
from reticent.training.data import Preparation
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

PLAIN = built(CrossEntropy())
CONCAVE = {"exponential": lambda p: -math.exp(p), "quadratic": lambda p: -(p + p * p / 2), "linear": lambda p: -p}
SLOPES = {"exponential": lambda p: -math.exp(p), "quadratic": lambda p: -(1 + p), "linear": lambda p: -1.0}


def twin(concave, alpha, beta, focal):
    """The loss record by record as a function of p, with its derivative by hand."""

    def of(logits, targets):
        total, gradient = 0.0, np.zeros_like(logits)
        for i, y in enumerate(targets):
            p = softmax(logits[i])
            q, log = p[y], math.log(p[y])
            convex, slope = -log, -1 / q
            if focal:
                convex = -((1 - q) ** focal) * log
                slope = focal * (1 - q) ** (focal - 1) * log - (1 - q) ** focal / q
            total += beta * (alpha * convex + (1 - alpha) * CONCAVE[concave](q))
            steepness = beta * (alpha * slope + (1 - alpha) * SLOPES[concave](q))
            gradient[i] = steepness * q * (np.eye(len(p))[y] - p)
        return total / len(targets), gradient / len(targets)

    return of


def at(p, **options):
    """Loss of one record with probability p of its label, over beta, and its derivative in z_y."""
    loss, gradient = evaluate(built(Ccl(beta=1.0, **options), 2), answers([p, 1 - p]), [0])
    return loss, gradient[0, 0]


@pytest.mark.parametrize("concave", sorted(CONCAVE))
@pytest.mark.parametrize("focal", [0.0, 2.0])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_loss_and_gradient_are_those_of_a_slow_twin(concave, focal, alpha):
    beta = 0.05 if concave == "quadratic" else 1.0
    objective = built(Ccl(concave=concave, focal=focal, alpha=alpha, beta=beta))
    for batch in batches():
        compare(objective, twin(concave, alpha, beta, focal), batch)


def test_closed_forms_at_one_half():
    loss, slope = at(0.5)
    assert loss == pytest.approx(-0.477787, abs=1e-6)
    assert slope == pytest.approx(-0.456090, abs=1e-6)
    assert slope / 0.25 == pytest.approx(-1.824361, abs=1e-6)  # dz -> dp
    scaled, gradient = evaluate(built(Ccl(), 2), answers([0.5, 0.5]), [0])
    assert scaled == pytest.approx(-0.023889, abs=1e-6)
    assert gradient[0, 0] == pytest.approx(-0.022805, abs=1e-6)
    loss, slope = at(0.5, concave="quadratic")
    assert loss == pytest.approx(0.034074, abs=1e-6)
    assert slope / 0.25 == pytest.approx(-1.75)
    loss, slope = at(0.5, concave="linear")
    assert loss == pytest.approx(0.5 * math.log(2) - 0.25)
    assert slope / 0.25 == pytest.approx(-1.5)


@pytest.mark.parametrize(("alpha", "turn"), [(0.5, 0.703467), (0.1, 0.288550)])
def test_the_whole_is_concave_in_p_beyond_the_inflection_only(alpha, turn):
    assert 2 * lambertw(math.sqrt(alpha / (1 - alpha)) / 2).real == pytest.approx(turn, abs=1e-6)

    def bend(p, step=1e-4):
        left, middle, right = (at(p + shift, alpha=alpha)[0] for shift in (-step, 0, step))
        return (left - 2 * middle + right) / step**2

    assert bend(turn - 0.01) > 0.01
    assert bend(turn + 0.01) < -0.01
    assert bend(turn) == pytest.approx(0, abs=1e-3)


def test_mostly_convex_losses_never_turn():
    assert 2 * lambertw(1.5).real == pytest.approx(1.4526, abs=1e-3)
    losses = [at(p, alpha=0.9)[0] for p in np.linspace(0.02, 0.98, 49)]
    assert (np.diff(losses, 2) > 0).all()


@pytest.mark.parametrize("beta", [1.0, 0.05])
def test_nothing_concave_is_beta_times_cross_entropy(beta):
    for batch in batches(10):
        plain, slope = evaluate(PLAIN, batch.logits, batch.targets)
        loss, gradient = evaluate(built(Ccl(alpha=1.0, beta=beta)), batch.logits, batch.targets)
        assert loss == beta * plain
        np.testing.assert_allclose(gradient, beta * slope, atol=1e-15)
        assert beta != 1 or (gradient == slope).all()


def test_the_focal_form_subtracts_the_concave_part():
    p = 0.8
    convex = -(0.2**2) * math.log(p)
    loss, slope = at(p, focal=2.0)
    assert loss == pytest.approx(0.5 * convex - 0.5 * math.exp(p))
    assert loss < -1
    assert slope < 0, "more probability of the label is always better"
    slopes = [at(q, focal=2.0)[1] for q in np.linspace(0.01, 0.99, 50)]
    assert max(slopes) < 0


def test_beta_is_no_more_than_a_factor_on_the_loss_and_its_gradient():
    for batch in batches(10):
        one = evaluate(built(Ccl(beta=1.0)), batch.logits, batch.targets)
        quarter = evaluate(built(Ccl(beta=0.25)), batch.logits, batch.targets)
        assert quarter[0] == one[0] / 4
        assert (quarter[1] == one[1] / 4).all()


def trained(**options):
    rng = np.random.default_rng(0)
    y = np.arange(48) % 3
    x = (rng.normal(size=(48, 6)) + 3 * np.eye(6)[y]).astype(np.float32)
    records = Records.make(x, y)
    prepare = Preparation(records, torch.device("cpu"))
    part = lambda *ids: prepare.examples(records, np.arange(*ids))  # noqa: E731
    materials = Materials(part(32), part(32, 48), part(0), prepare, 3)
    recipe = Recipe(architecture=MLP(widths=(8,)), optimizer="sgd", batch_size=16, **({"epochs": 5} | options))
    return train(recipe, materials, Streams(0, 0))


def test_beta_scales_the_learning_rate_but_not_weight_decay():
    """Pitfall: beta is not neutral."""
    for decay, equal in ((0.0, True), (0.01, False)):
        one = trained(objective=Ccl(beta=1.0), learning_rate=0.0625, weight_decay=decay).model.state_dict()
        half = trained(objective=Ccl(beta=0.5), learning_rate=0.125, weight_decay=decay).model.state_dict()
        assert all(torch.equal(one[name], half[name]) for name in one) is equal


def test_training_goes_on_below_zero():
    """Pitfall: the loss is negative near p = 1, which stops nothing, early stopping included."""
    losses = trained(objective=Ccl(beta=1.0), learning_rate=0.3, epochs=20).history.loss
    assert len(losses) == 20
    assert losses[-1] < losses[9] < -1
    stopped = trained(objective=Ccl(beta=1.0), learning_rate=0.3, epochs=20, patience=20)
    assert stopped.history.loss == losses
    assert min(stopped.history.validation_loss) > 0


def test_sure_records_have_a_negative_loss():
    assert at(0.999)[0] < -1.3
    assert at(1 - 1e-12)[0] == pytest.approx(-math.e / 2)


@pytest.mark.parametrize("concave", sorted(CONCAVE))
@pytest.mark.parametrize("focal", [0.0, 0.5, 2.0])
def test_nothing_is_lost_in_float32_near_the_ends(concave, focal):
    objective = built(Ccl(concave=concave, focal=focal, beta=1.0), 3)
    for margin in (-80.0, -20.0, -0.1, 18.0, 25.0, 40.0):
        slopes = []
        for dtype in (torch.float32, torch.float64):
            z = torch.tensor([[margin, 0.0, -1.0]], dtype=dtype, requires_grad=True)
            objective(z, torch.tensor([0]), Batch(torch.arange(1), 0)).backward()
            slopes.append(z.grad.double()[0].numpy())
        assert slopes[1][0] < 0
        np.testing.assert_allclose(slopes[0], slopes[1], rtol=3e-5)


def test_a_zero_margin_between_extremes_stays_finite():
    for row in ([1000.0, 0, 0], [-1000.0, 0, 0]):
        for focal in (0.0, 2.0):
            loss, gradient = evaluate(built(Ccl(focal=focal), 3), np.array([row]), [0])
            assert np.isfinite(loss)
            assert np.isfinite(gradient).all()


@pytest.mark.parametrize("options", [{"alpha": 1.1}, {"beta": 0.0}, {"focal": -1.0}, {"concave": "cubic"}])
def test_options_out_of_range_are_refused_by_name(options):
    with pytest.raises(SpecError, match=f"ccl: {next(iter(options))}: expected"):
        Ccl(**options)
