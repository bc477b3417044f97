"""Shared by the tests of objectives that ask the model or need a reference: a tiny run of the loop, and its parts."""

from dataclasses import replace

import numpy as np
import torch

from reticent.data.records import Records
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.objectives import OBJECTIVES, Batch, Examples
from reticent.procedures.base import fresh
from reticent.training.data import Preparation
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.run import Run
from reticent.training.streams import Streams

SMALL = Recipe(architecture=MLP(widths=(12,)), epochs=6, batch_size=16, learning_rate=0.01)
PICTURES = SMALL.replace(architecture=CNN(widths=(4,)), augmentation="flip-crop", padding=2)
DROPPED = SMALL.replace(architecture=MLP(widths=(12,), dropout=0.3))


def blobs(n=120, classes=3):
    rng = np.random.default_rng(0)
    y = np.arange(n) % classes
    x = rng.normal(size=(n, 8)).astype(np.float32)
    x[:, :classes] += np.eye(classes, dtype=np.float32)[y]
    return Records.make(x, y)


def pictures(n=120):
    rng = np.random.default_rng(0)
    return Records.make(rng.integers(0, 256, (n, 8, 8, 3), dtype=np.uint8), np.arange(n) % 2)


def tokens(n=120):
    rng = np.random.default_rng(0)
    return Records.make(rng.integers(0, 9, (n, 5)), np.arange(n) % 3)


def materials(records, members=60, reference=30):
    """Members first, the reference after them."""
    prepare = Preparation(records, torch.device("cpu"))
    take = lambda start, stop: prepare.examples(records, np.arange(start, stop))  # noqa: E731
    return Materials(take(0, members), take(0, 0), take(members, members + reference), prepare, records.classes)


def started(objective, recipe=SMALL, given=None):
    """Begin a run with an objective, given as such or as its spec; nothing is trained yet."""
    given = given or materials(pictures() if recipe is PICTURES else blobs())
    made = OBJECTIVES[objective.method].build(objective) if hasattr(objective, "method") else objective
    return Run(fresh(recipe, given, Streams(0, 0)), recipe, given, made, Streams(0, 0))


def batch(run, rows, epoch=0):
    """Some members as a step sees them, not augmented: model input, labels, and what else is known."""
    ids = torch.as_tensor(rows)
    members = run.materials.members.take(ids)
    return run.materials.prepare(members.x), members.y, Batch(ids, epoch)


def loss_of(run, rows, epoch=0):
    """The loss of some members, as the loop computes it."""
    x, y, known = batch(run, rows, epoch)
    return run.objective(run._logits(run.objective.inputs(x, y, known)), y, known)


def state(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def spied(run, **changes):
    """Begin again with some of what the objective may call replaced."""
    run.objective.begin(replace(run._context(), **changes))
    return run


def without_reference(given):
    return replace(given, reference=Examples(given.members.x[:0], given.members.y[:0]))
