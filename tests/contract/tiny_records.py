"""Records that are small and easy to learn, and recipes for them, for the contract tests of whatever trains a model."""

import numpy as np
import torch

from reticent.data.records import Records
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.models.user import Factory
from reticent.training.data import Preparation
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe

SMALL = Recipe(architecture=MLP(widths=(16,)), epochs=4, batch_size=16, learning_rate=0.01)
IMAGES = SMALL.replace(architecture=CNN(widths=(4,)), augmentation="flip-crop", padding=2)
BINARY = SMALL.replace(architecture=Factory(factory="objective_networks:one_logit"))
TOKENS = SMALL.replace(architecture=Factory(factory="objective_networks:embedded"))


def blobs(classes=3, n=140):
    rng = np.random.default_rng(0)
    y = np.arange(n) % classes
    x = rng.normal(size=(n, 8)).astype(np.float32)
    x[:, :classes] += 2.5 * np.eye(classes, dtype=np.float32)[y]
    return Records.make(x, y)


def images(n=140):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 128, (n, 8, 8, 3), dtype=np.uint8)
    x[::2, :4] += 127
    return Records.make(x, (np.arange(n) + 1) % 2)


def tokens(n=140):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return Records.make(rng.integers(0, 4, (n, 6)) + 4 * y[:, None], y)


def materials(records, members=64):
    """Members first, then 30 reference non-members and 30 records for validation."""
    prepare = Preparation(records, torch.device("cpu"))
    take = lambda start, stop: prepare.examples(records, np.arange(start, stop))  # noqa: E731
    return Materials(take(0, members), take(110, 140), take(80, 110), prepare, records.classes)
