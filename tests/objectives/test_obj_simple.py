"""Cross-entropy, label smoothing and the confidence penalty."""

import math

import numpy as np
import pytest
from objective_twins import answers, batches, built, compare, evaluate, softmax

from reticent.errors import SpecError
from reticent.objectives.confidence_penalty import ConfidencePenalty
from reticent.objectives.cross_entropy import CrossEntropy
from reticent.objectives.hamp import Hamp
from reticent.objectives.label_smoothing import LabelSmoothing

PLAIN = built(CrossEntropy())


def smoothed(share):
    def of(logits, targets):
        size, classes = logits.shape
        total, gradient = 0.0, np.zeros_like(logits)
        for i, y in enumerate(targets):
            p, t = softmax(logits[i]), np.full(classes, share / classes)
            t[y] += 1 - share
            total -= sum(t[j] * math.log(p[j]) for j in range(classes))
            gradient[i] = p - t
        return total / size, gradient / size

    return of


def penalised(weight):
    def of(logits, targets):
        total, gradient = smoothed(0.0)(logits, targets)
        for i, row in enumerate(logits):
            p = softmax(row)
            entropy = -sum(value * math.log(value) for value in p)
            total -= weight * entropy / len(logits)
            gradient[i] += weight * p * (np.log(p) + entropy) / len(logits)
        return total, gradient

    return of


def test_cross_entropy_is_that_of_a_slow_twin():
    for batch in batches():
        compare(PLAIN, smoothed(0.0), batch)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_label_smoothing_is_that_of_a_slow_twin(share):
    for batch in batches():
        compare(built(LabelSmoothing(smoothing=share)), smoothed(share), batch)


@pytest.mark.parametrize("weight", [0.1, 1.0])
def test_the_confidence_penalty_is_that_of_a_slow_twin(weight):
    for batch in batches():
        compare(built(ConfidencePenalty(weight=weight)), penalised(weight), batch)


def test_smoothed_labels_give_a_share_to_every_class_the_true_one_among_them():
    p = [0.4, 0.3, 0.2, 0.1]
    _, gradient = evaluate(built(LabelSmoothing(smoothing=0.2)), answers(p), [0])
    np.testing.assert_allclose(p - gradient[0], [0.85, 0.05, 0.05, 0.05], atol=1e-12)
    loss, _ = evaluate(built(LabelSmoothing(smoothing=0.2)), answers(p), [0])
    assert loss == pytest.approx(-0.85 * math.log(0.4) - 0.05 * math.log(0.3 * 0.2 * 0.1))


def test_hamp_without_its_regulariser_is_label_smoothing_less_the_entropy_of_its_labels():
    share = (1 - 0.68) * 30 / 29
    rng = np.random.default_rng(0)
    logits, targets = rng.normal(size=(4, 30)), rng.integers(0, 30, 4)
    soft, slope = evaluate(built(LabelSmoothing(smoothing=share), 30), logits, targets)
    loss, gradient = evaluate(built(Hamp(gamma=0.5, alpha=0.0), 30), logits, targets)
    assert soft - loss == pytest.approx(1.704404, abs=1e-6)
    np.testing.assert_allclose(gradient, slope, atol=1e-12)


def test_the_penalty_takes_off_the_weighted_entropy():
    p = [0.5, 0.25, 0.25]
    loss, _ = evaluate(built(ConfidencePenalty(weight=0.5)), answers(p), [0])
    assert loss == pytest.approx(math.log(2) - 0.5 * 1.5 * math.log(2))
    assert evaluate(built(ConfidencePenalty()), answers(p), [0])[0] == pytest.approx(0.85 * math.log(2))


@pytest.mark.parametrize(("weight", "best"), [(0.1, 0.9995932), (0.3, 0.8491757), (1.0, 0.4759631), (2.0, 0.3328807)])
def test_the_penalty_says_how_sure_a_record_is_to_be(weight, best):
    objective = built(ConfidencePenalty(weight=weight), 10)

    def at(p):
        return evaluate(objective, answers([p, *[(1 - p) / 9] * 9]), [0])

    loss, gradient = at(best)
    assert abs(gradient).max() < 1e-6
    assert loss < min(at(best - 1e-4)[0], at(best + 1e-4)[0])


@pytest.mark.parametrize("spec", [LabelSmoothing(smoothing=0.0), ConfidencePenalty(weight=0.0)])
def test_a_coefficient_of_zero_is_cross_entropy_to_the_bit(spec):
    for batch in batches(10):
        plain, slope = evaluate(PLAIN, batch.logits, batch.targets)
        loss, gradient = evaluate(built(spec), batch.logits, batch.targets)
        assert loss == plain
        assert (gradient == slope).all()


@pytest.mark.parametrize("spec", [CrossEntropy(), LabelSmoothing(), ConfidencePenalty()])
def test_very_sure_answers_give_finite_losses_and_gradients(spec):
    for row in ([1000.0, 0, -1000], [-1000.0, 0, 1000]):
        loss, gradient = evaluate(built(spec), np.array([row]), [0])
        assert np.isfinite(loss)
        assert np.isfinite(gradient).all()


def test_options_out_of_range_are_refused_by_name():
    with pytest.raises(SpecError, match="label-smoothing: smoothing: expected"):
        LabelSmoothing(smoothing=1.0)
    with pytest.raises(SpecError, match="confidence-penalty: weight: expected"):
        ConfidencePenalty(weight=-0.1)
