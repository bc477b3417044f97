import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from objective_twins import answers, batches, built, compare, evaluate, softmax

from reticent.errors import SpecError
from reticent.objectives.cross_entropy import CrossEntropy
from reticent.objectives.ppb import Ppb

PLAIN = built(CrossEntropy())
KL = built(Ppb(weight=1.0), 3)


def divergence(logits, targets, objective=KL):
    return evaluate(objective, logits, targets)[0] - evaluate(PLAIN, logits, targets)[0]


def twin(weight):
    """Posterior balancing pair by pair, with gradients by hand."""

    def of(logits, targets):
        size, classes = logits.shape
        p = [softmax(row) for row in logits]
        total = -sum(math.log(p[i][y]) for i, y in enumerate(targets)) / size
        gradient = np.array([p[i] - np.eye(classes)[y] for i, y in enumerate(targets)]) / size
        half = size // 2
        for first in range(half):
            second = first + half
            a, b = (sorted(range(classes), key=lambda j, i=i: -p[i][j]) for i in (first, second))
            kl = sum(p[second][b[k]] * math.log(p[second][b[k]] / p[first][a[k]]) for k in range(classes))
            total += weight * kl / half
            for k in range(classes):
                pa, pb = p[first][a[k]], p[second][b[k]]
                gradient[first][a[k]] += weight / half * (pa - pb)
                gradient[second][b[k]] += weight / half * pb * (math.log(pb / pa) - kl)
        return total, gradient

    return of


@pytest.mark.parametrize("weight", [1.0, 4.0])
def test_loss_and_gradient_are_those_of_a_slow_twin(weight):
    sizes = set()
    for batch in batches():
        compare(built(Ppb(weight=weight), batch.classes), twin(weight), batch)
        sizes.add(batch.size)
    assert {1, 2, 3} <= sizes


def test_closed_forms_and_the_direction():
    a, b = [0.7, 0.2, 0.1], [0.1, 0.5, 0.4]
    assert divergence(answers(a, b), [0, 0]) == pytest.approx(0.109023, abs=1e-6)
    assert divergence(answers(b, a), [0, 0]) == pytest.approx(0.096901, abs=1e-6)
    assert divergence(answers(a, b), [0, 0], built(Ppb(), 3)) == pytest.approx(4 * 0.109023, abs=1e-5)


@given(st.permutations(range(5)), st.permutations(range(5)))
def test_classes_are_forgotten(one, other):
    p = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    assert divergence(answers(p[one], p[other]), [0, 1]) == pytest.approx(0, abs=1e-12)


def test_both_halves_receive_gradient():
    logits = answers([0.7, 0.2, 0.1], [0.1, 0.5, 0.4])
    gradient = evaluate(KL, logits, [0, 1])[1] - evaluate(PLAIN, logits, [0, 1])[1]
    assert abs(gradient).max(axis=1).min() > 0.05


def test_an_odd_batch_leaves_its_last_record_out_of_the_divergence_only():
    rows = [[0.7, 0.2, 0.1], [0.6, 0.2, 0.2], [0.1, 0.5, 0.4], [0.2, 0.2, 0.6], [0.98, 0.01, 0.01]]
    five, four = answers(*rows), answers(*rows[:4])
    assert divergence(five, [0] * 5) == pytest.approx(divergence(four, [0] * 4))
    pairs = [divergence(answers(rows[i], rows[i + 2]), [0, 0]) for i in (0, 1)]
    assert divergence(four, [0] * 4) == pytest.approx(sum(pairs) / 2)
    _, gradient = evaluate(KL, five, [0] * 5)
    np.testing.assert_allclose(gradient[4], (np.array(rows[4]) - [1, 0, 0]) / 5, atol=1e-12)


def test_a_batch_of_one_is_cross_entropy():
    logits = answers([0.7, 0.2, 0.1])
    loss, gradient = evaluate(KL, logits, [2])
    plain, slope = evaluate(PLAIN, logits, [2])
    assert loss == plain
    assert (gradient == slope).all()


def test_pairs_are_by_position_so_the_order_of_a_batch_matters():
    rows = [[0.7, 0.2, 0.1], [0.6, 0.2, 0.2], [0.1, 0.5, 0.4], [0.4, 0.3, 0.3]]
    there = divergence(answers(*rows), [0] * 4)
    swapped = divergence(answers(rows[0], rows[2], rows[1], rows[3]), [0] * 4)
    assert abs(there - swapped) > 0.004


def test_a_weight_of_zero_and_the_epochs_before_are_cross_entropy_to_the_bit():
    late = built(Ppb(after=0.5), 5, epochs=9)
    for batch in batches(10):
        plain, slope = evaluate(PLAIN, batch.logits, batch.targets)
        for objective, epoch in ((built(Ppb(weight=0.0)), 7), (late, 0), (late, 4), (built(Ppb(after=0.99)), 9)):
            loss, gradient = evaluate(objective, batch.logits, batch.targets, epoch)
            assert loss == plain
            assert (gradient == slope).all()
        assert batch.size == 1 or evaluate(late, batch.logits, batch.targets, 5)[0] > plain
        assert evaluate(built(Ppb()), batch.logits, batch.targets, 0)[0] >= plain


def test_equal_and_extreme_answers_stay_finite():
    for rows in (np.zeros((2, 3)), np.array([[1000.0, 0, -1000], [0, 0, 0]])):
        loss, gradient = evaluate(KL, rows, [0, 1])
        assert np.isfinite(loss)
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("options", [{"weight": -1.0}, {"after": 1.0}, {"after": -0.1}])
def test_options_out_of_range_are_refused_by_name(options):
    with pytest.raises(SpecError, match=f"ppb: {next(iter(options))}: expected"):
        Ppb(**options)
