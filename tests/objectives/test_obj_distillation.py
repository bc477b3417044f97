"""Distillation to soft targets."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from objective_runs import PICTURES, SMALL, blobs, materials, started
from objective_twins import batches, compare, context, softmax
from torch.nn import functional

from reticent.objectives import Batch, Examples
from reticent.objectives.distillation import Distillation
from reticent.procedures.base import fresh
from reticent.training.loop import fit
from reticent.training.streams import Streams


def begun(table):
    """A distillation to a table, with nothing else to be known."""
    table = torch.as_tensor(np.asarray(table))
    objective = Distillation(table)
    none = Examples(torch.zeros(len(table), 1), torch.zeros(len(table), dtype=torch.int64))
    objective.begin(replace(context(table.shape[1]), members=none))
    return objective


def twin(table):
    def of(logits, targets):
        del targets
        total, gradient = 0.0, np.zeros_like(logits)
        for i, row in enumerate(logits):
            p, t = softmax(row), table[i]
            total -= sum(t[j] * math.log(p[j]) for j in range(len(t)))
            total += sum(v * math.log(v) for v in t if v > 0)
            gradient[i] = p - t
        return total / len(logits), gradient / len(logits)

    return of


def test_loss_and_gradient_are_those_of_a_slow_twin():
    rng = np.random.default_rng(2)
    for drawn in batches():
        table = rng.dirichlet(np.full(drawn.classes, 0.5), drawn.size).astype(np.float32).astype(np.float64)
        table /= table.sum(axis=1, keepdims=True)
        compare(begun(table), twin(table), drawn)


def test_one_hot_targets_are_cross_entropy_and_met_targets_cost_nothing():
    y = torch.tensor([2, 0, 1])
    logits = torch.tensor([[1.0, 2.0, 0.5], [0.1, 0.0, 3.0], [0.0, 0.0, -1.0]])
    known = Batch(torch.arange(3), 0)
    objective = begun(functional.one_hot(y, 3).float())
    assert objective(logits, y, known).item() == pytest.approx(functional.cross_entropy(logits, y).item(), rel=1e-6)
    assert begun(logits.softmax(dim=1))(logits, y, known).item() == pytest.approx(0, abs=1e-6)


def test_targets_are_looked_up_by_the_record():
    table = torch.eye(4)[[3, 1, 0, 2]]
    objective = begun(table)
    logits = 50 * table[[2, 0, 3]]
    y = torch.zeros(3, dtype=torch.int64)
    assert objective(logits, y, Batch(torch.tensor([2, 0, 3]), 0)).item() < 1e-6
    assert objective(logits, y, Batch(torch.tensor([0, 2, 3]), 0)).item() > 10


def test_a_teacher_is_asked_without_gradient_about_the_view_that_the_model_sees():
    asked = []

    def teacher(x, ids):
        asked.append((x, ids, torch.is_grad_enabled()))
        return torch.full((len(x), 2), 0.5)

    run = started(Distillation(teacher), PICTURES)
    given = []
    real = run._logits
    run._logits = lambda x: given.append(x) or real(x)
    run.epoch(0, run.steps)
    assert len(asked) == len(given) == run.steps
    assert all(a[0] is b and not a[2] for a, b in zip(asked, given, strict=True))
    assert sorted(torch.cat([ids for _, ids, _ in asked]).tolist()) == list(range(60))
    stored = run.materials.prepare(run.materials.members.x)
    assert not all(torch.equal(x, stored[ids]) for x, ids, _ in asked)


def test_answers_of_zero_give_a_finite_loss():
    objective = begun([[0.5, 0.5]])
    logits = torch.tensor([[1e4, -1e4]], requires_grad=True)
    loss = objective(logits, torch.tensor([0]), Batch(torch.tensor([0]), 0))
    loss.backward()
    assert loss.item() == pytest.approx(50 - math.log(2))
    assert torch.isfinite(logits.grad).all()


def test_a_model_learns_what_the_teacher_says_and_not_the_labels():
    given = materials(blobs())
    rng = np.random.default_rng(0)
    wanted = torch.tensor(rng.dirichlet(np.ones(3), 60), dtype=torch.float32)
    recipe = SMALL.replace(epochs=120, learning_rate=0.02)
    model = fresh(recipe, given, Streams(0, 0))
    history = fit(model, recipe, given, Distillation(wanted), Streams(0, 0))
    assert history.loss[-1] < 0.3 * history.loss[0]
    with torch.no_grad():
        right = (model(given.members.x).argmax(1) == wanted.argmax(1)).double().mean()
    assert right > 0.8
