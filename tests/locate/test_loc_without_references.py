"""Risk without references: quartiles of traces, leverages by their definition, and what they decide."""

import numpy as np
import pytest

from reticent.errors import InputError, ShapeError
from reticent.locate import leverage
from reticent.locate.leverage import last_layer
from reticent.locate.loss_trace import interquartile

RNG = np.random.default_rng


def test_the_quartiles_of_a_trace():
    assert interquartile(np.array([[2, 1, 0.5, 0.25, 0.125], [3] * 5]).T).tolist() == [0.75, 0]
    with pytest.raises(ShapeError, match="before training and after at least one epoch, got 1"):
        interquartile(np.ones((1, 4)))


def test_residuals_in_and_out_have_the_variances_that_leverage_gives():
    rng = RNG(1)
    x = rng.normal(size=(30, 5))
    x[0] *= 2
    h, y = x[0] @ np.linalg.solve(x.T @ x, x[0]), rng.normal(size=(60_000, 30))
    inside = y[:, 0] - y @ (x @ np.linalg.solve(x.T @ x, x[0]))
    outside = y[:, 0] - y[:, 1:] @ (x[1:] @ np.linalg.solve(x[1:].T @ x[1:], x[0]))
    assert inside.var() == pytest.approx(1 - h, rel=0.03)
    assert outside.var() == pytest.approx(1 / (1 - h), rel=0.03)


def slow(u, p, form):
    """The definition, by Kronecker products."""
    s = [np.diag(row) - np.outer(row, row) for row in p]
    total = sum(np.kron(curve, np.outer(own, own)) for own, curve in zip(u, s, strict=True))
    shrink = 1e-3 * np.trace(total) / len(total)
    inverse = np.linalg.inv(total + shrink * np.eye(len(total)))
    classes = p.shape[1]  # What a label moves sums to zero over the classes.
    parts = s if form == "curvature" else [np.eye(classes) - 1 / classes] * len(p)
    found = [np.trace(inverse @ np.kron(part, np.outer(own, own))) for own, part in zip(u, parts, strict=True)]
    return np.array(found), np.trace(total @ inverse)


@pytest.mark.parametrize("form", ["curvature", "label"])
def test_the_last_layer_is_the_definition(form):
    rng = RNG(2)
    u, p = rng.normal(size=(40, 4)), rng.dirichlet(np.ones(3), size=40)
    expected, trace = slow(u, p, form)
    found = last_layer(u, p, form)
    assert found == pytest.approx(expected, rel=1e-9)
    if form == "curvature":
        assert found.sum() == pytest.approx(trace, rel=1e-9)


def test_the_label_form_depends_neither_on_what_softmax_ignores_nor_on_the_penalty():
    rng = RNG(5)
    u, p = rng.normal(size=(200, 4)), rng.dirichlet(np.ones(3), size=200)
    found = [last_layer(u, p, "label", penalty) for penalty in (1e-9, 1e-6)]
    assert found[0] == pytest.approx(found[1], rel=1e-4)


def test_many_weights_are_taken_class_by_class(monkeypatch):
    rng = RNG(3)
    u, p = rng.normal(size=(50, 4)), rng.dirichlet(np.ones(3), size=50)
    monkeypatch.setattr(leverage, "WHOLE", 11)
    shrink = 1e-3 * sum((own @ own) * (row * (1 - row)).sum() for own, row in zip(u, p, strict=True)) / 12
    expected = np.zeros(50)
    for c in range(3):
        weights = p[:, c] * (1 - p[:, c])
        inverse = np.linalg.inv((u * weights[:, None]).T @ u + shrink * np.eye(4))
        expected += weights * np.einsum("nd,nd->n", u @ inverse, u)
    assert last_layer(u, p) == pytest.approx(expected)


def test_a_sure_model_loses_the_curvature_and_not_the_label():
    rng = RNG(4)
    u, logits = rng.normal(size=(60, 3)), 30 * np.eye(3)[rng.integers(0, 3, 60)]
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert last_layer(u, p, penalty=1.0).max() < 1
    assert last_layer(u, p, "label", penalty=1.0).max() > 1e6


def test_bad_input_is_refused():
    with pytest.raises(ShapeError, match="probabilities"):
        last_layer(np.ones((4, 2)), np.ones((5, 3)))
    with pytest.raises(InputError, match="penalty: expected a number above 0, got 0"):
        last_layer(np.ones((4, 2)), np.ones((4, 3)) / 3, penalty=0)
    with pytest.raises(InputError, match="sure of every record"):
        last_layer(np.ones((4, 2)), np.eye(4), "label")
    assert last_layer(np.ones((4, 2)), np.eye(4)).tolist() == [0] * 4
