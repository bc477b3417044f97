"""Shared by the tests of objectives: random batches, and an objective's loss and gradient as plain arrays."""

from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn

from reticent.objectives import OBJECTIVES, Batch, Context, Examples


def refused(*_):
    raise AssertionError("a loss of logits and labels asked for more")


def context(classes=5, epochs=10):
    """A context in which nothing may be asked, updated or drawn."""
    none = Examples(torch.zeros(0, 1), torch.zeros(0, dtype=torch.int64))
    facts = {"model": nn.Identity(), "classes": classes, "epochs": epochs, "batch_size": 8, "members": none}
    facts |= {"reference": none, "device": torch.device("cpu")}
    return Context(**({field.name: refused for field in fields(Context)} | facts))


def built(spec, classes=5, epochs=10):
    objective = OBJECTIVES[spec.method].build(spec)
    objective.begin(context(classes, epochs))
    return objective


def evaluate(objective, logits, targets, epoch=0):
    """Return the loss and its gradient in the logits, computed in float64."""
    z = torch.tensor(np.asarray(logits), dtype=torch.float64, requires_grad=True)
    y = torch.as_tensor(np.asarray(targets))
    loss = objective(z, y, Batch(torch.arange(len(y)), epoch))
    assert loss.shape == ()
    loss.backward()
    return loss.item(), z.grad.numpy()


def batches(count=100, seed=0):
    """Random batches of all sizes from 1, numbers of classes from 2, and degrees of sureness."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size, classes = int(rng.integers(1, 9)), int(rng.integers(2, 7))
        logits = rng.normal(size=(size, classes)) * rng.choice([0.3, 2.0, 6.0])
        yield SimpleNamespace(logits=logits, targets=rng.integers(0, classes, size), classes=classes, size=size)


def softmax(row):
    shifted = np.exp(row - np.max(row))
    return shifted / shifted.sum()


def answers(*rows):
    """Logits of which the softmax is the given probabilities."""
    return np.log(np.asarray(rows, dtype=np.float64))


def compare(objective, twin, batch, epoch=0):
    """Hold an objective to its slow twin on a batch: loss and gradient to 1e-6."""
    loss, gradient = evaluate(objective, batch.logits, batch.targets, epoch)
    expected, slope = twin(batch.logits, batch.targets)
    np.testing.assert_allclose(loss, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-6)
