import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from objective_twins import answers, batches, built, compare, evaluate, softmax

from reticent.errors import SpecError
from reticent.objectives.cross_entropy import CrossEntropy
from reticent.objectives.hamp import Hamp, soft_label

PLAIN = built(CrossEntropy())


def entropy(p):
    return -sum(value * math.log(value) for value in p if value > 0)


def label(share, classes):
    return np.array([share, *[(1 - share) / (classes - 1)] * (classes - 1)])


def twin(gamma, alpha, scale):
    """HAMP record by record: the grid walked down, the divergence and the entropy added up, gradients by hand."""

    def of(logits, targets):
        size, classes = logits.shape
        grid = [1.0, *(round(0.99 - 0.01 * k, 2) for k in range(99))]
        enough = [p for p in grid if p > 1 / classes and entropy(label(p, classes)) >= gamma * math.log(classes)]
        share = enough[0] if enough else 1 / classes
        total, gradient = 0.0, np.zeros_like(logits)
        divisor = size * (classes if scale == "element" else 1)
        for i, y in enumerate(targets):
            p = softmax(logits[i])
            t = np.roll(label(share, classes), y)
            total += sum(t[j] * math.log(t[j] / p[j]) for j in range(classes) if t[j] > 0) / divisor
            total -= alpha * entropy(p) / size
            gradient[i] = (p - t) / divisor + alpha * p * (np.log(p) + entropy(p)) / size
        return total, gradient

    return of


@pytest.mark.parametrize("scale", ["batch", "element"])
@pytest.mark.parametrize(("gamma", "alpha"), [(0.5, 0.03), (0.2, 1.0), (0.0, 0.5), (0.95, 0.0)])
def test_loss_and_gradient_are_those_of_a_slow_twin(scale, gamma, alpha):
    objective = built(Hamp(gamma=gamma, alpha=alpha, kl_scale=scale))
    for batch in batches():
        compare(objective, twin(gamma, alpha, scale), batch)


@pytest.mark.parametrize(
    ("classes", "gamma", "share", "reached", "threshold"),
    [
        (10, 0.95, 0.26, 2.199003, 2.187456),
        (100, 0.5, 0.64, 2.307661, 2.302585),
        (30, 0.5, 0.68, 1.704404, 1.700599),
        (100, 0.8, 0.33, 3.712909, 3.684136),
        (100, 0.6, 0.54, 2.803699, 2.763102),
    ],
)
def test_soft_labels_are_the_published_ones(classes, gamma, share, reached, threshold):
    assert soft_label(gamma, classes) == share
    assert entropy(label(share, classes)) == pytest.approx(reached, abs=1e-6)
    assert gamma * math.log(classes) == pytest.approx(threshold, abs=1e-6)
    assert entropy(label(share + 0.01, classes)) < threshold


@given(st.floats(0, 1), st.integers(2, 500))
def test_soft_labels_are_the_first_of_the_grid_with_enough_entropy(gamma, classes):
    share = soft_label(gamma, classes)
    assert 1 / classes <= share <= 1
    assert share == 1 / classes or share * 100 == pytest.approx(round(share * 100))
    assert entropy(label(share, classes)) >= gamma * math.log(classes) - 1e-9
    before = round(share + 0.01, 2)
    if 1 / classes < share < 1:
        assert entropy(label(before, classes)) < gamma * math.log(classes)


@pytest.mark.parametrize("classes", [2, 3, 10, 30, 100, 101, 1000])
def test_the_grid_ends_where_rounding_would_let_it_run_on(classes):
    assert soft_label(1.0, classes) == 1 / classes
    assert soft_label(0.0, classes) == 1
    assert soft_label(1e-9, classes) == 0.99


def test_the_divergence_is_nothing_where_the_answer_is_the_label():
    soft = np.roll(label(0.68, 30), 4)
    loss, gradient = evaluate(built(Hamp(alpha=0.0), 30), answers(soft), [4])
    assert loss == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(gradient, 0, atol=1e-12)
    rewarded, _ = evaluate(built(Hamp(alpha=0.5), 30), answers(soft), [4])
    assert rewarded == pytest.approx(-0.5 * 1.704404, abs=1e-6)


def test_the_released_reduction_is_the_mean_one_with_alpha_and_learning_rate_converted():
    for batch in batches(20):
        c = batch.classes
        released = evaluate(built(Hamp(alpha=0.001, kl_scale="element")), batch.logits, batch.targets)
        converted = evaluate(built(Hamp(alpha=0.001 * c)), batch.logits, batch.targets)
        np.testing.assert_allclose(converted[1], c * released[1], atol=1e-12)
        assert converted[0] == pytest.approx(c * released[0])


def test_the_default_is_what_was_released_for_location30():
    assert Hamp().alpha == pytest.approx(0.001 * 30)
    assert soft_label(Hamp().gamma, 30) == 0.68


def test_both_coefficients_at_zero_are_cross_entropy_to_the_bit():
    for batch in batches(10):
        plain, slope = evaluate(PLAIN, batch.logits, batch.targets)
        loss, gradient = evaluate(built(Hamp(gamma=0.0, alpha=0.0)), batch.logits, batch.targets)
        assert loss == plain
        assert (gradient == slope).all()


def test_very_sure_answers_give_finite_losses_and_gradients():
    for row in ([1000.0, 0, -1000], [-1000, 0, 1000.0]):
        loss, gradient = evaluate(built(Hamp(), 3), np.array([row]), [0])
        assert np.isfinite(loss)
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("options", [{"gamma": 1.1}, {"gamma": -0.1}, {"alpha": -1.0}, {"kl_scale": "sum"}])
def test_options_out_of_range_are_refused_by_name(options):
    with pytest.raises(SpecError, match=f"hamp: {next(iter(options))}: expected"):
        Hamp(**options)
