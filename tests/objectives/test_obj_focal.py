"""The focal loss of Lin et al. (2017)."""

import math

import numpy as np
import pytest
from objective_twins import answers, batches, built, compare, evaluate, softmax

from reticent.errors import SpecError
from reticent.objectives.ccl import Ccl
from reticent.objectives.cross_entropy import CrossEntropy
from reticent.objectives.focal import Focal


def twin(gamma):
    """The loss record by record, with its derivative by hand."""

    def of(logits, targets):
        total, gradient = 0.0, np.zeros_like(logits)
        for i, y in enumerate(targets):
            p = softmax(logits[i])
            q = p[y]
            total -= (1 - q) ** gamma * math.log(q)
            # The paper's appendix: dL/dx = y (1 - q)^gamma (gamma q ln q + q - 1), here for any number of classes.
            steepness = (1 - q) ** (gamma - 1) * (gamma * q * math.log(q) + q - 1)
            gradient[i] = steepness * (np.eye(len(p))[y] - p)
        return total / len(targets), gradient / len(targets)

    return of


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0, 5.0])
def test_loss_and_gradient_are_those_of_a_slow_twin(gamma):
    for batch in batches():
        compare(built(Focal(gamma=gamma)), twin(gamma), batch)


def test_by_hand():
    loss, _ = evaluate(built(Focal(gamma=2.0)), answers([0.75, 0.25], [0.25, 0.75]), [0, 0])
    assert loss == pytest.approx((0.0625 * -math.log(0.75) + 0.5625 * -math.log(0.25)) / 2)


def test_gamma_of_zero_is_cross_entropy_to_the_bit():
    for batch in batches(10):
        plain, slope = evaluate(built(CrossEntropy()), batch.logits, batch.targets)
        loss, gradient = evaluate(built(Focal(gamma=0.0)), batch.logits, batch.targets)
        assert loss == plain
        assert (gradient == slope).all()


def test_it_is_the_convex_part_of_the_convex_concave_loss():
    for batch in batches(10):
        loss, slope = evaluate(built(Focal(gamma=3.0)), batch.logits, batch.targets)
        other, gradient = evaluate(built(Ccl(alpha=1.0, beta=1.0, focal=3.0)), batch.logits, batch.targets)
        assert loss == pytest.approx(other, rel=1e-12)
        np.testing.assert_allclose(slope, gradient, rtol=1e-12, atol=1e-15)


def test_very_sure_answers_give_finite_losses_and_gradients():
    for row, expected in (([1000.0, 0, -1000], 0.0), ([-1000.0, 0, 1000], 2000.0)):
        loss, gradient = evaluate(built(Focal(), 3), np.array([row]), [0])
        assert loss == pytest.approx(expected)
        assert np.isfinite(gradient).all()


def test_options_out_of_range_are_refused_by_name():
    with pytest.raises(SpecError, match="focal: gamma: expected"):
        Focal(gamma=-0.1)
