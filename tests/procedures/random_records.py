"""Records whose labels have nothing to do with them: whoever gets them right has seen them."""

import numpy as np
import torch

from reticent.data.records import Records
from reticent.training.data import Preparation
from reticent.training.materials import Materials


def noise(n=40, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    return Records.make(rng.normal(size=(n, 6)).astype(np.float32), np.arange(n) % classes)


def images(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return Records.make(rng.integers(0, 256, (n, 8, 8, 3), dtype=np.uint8), np.arange(n) % 2)


def materials(records, members=30):
    """Take the first records as members, and the others in turn for validation and as reference."""
    prepare = Preparation(records, torch.device("cpu"))
    take = lambda ids: prepare.examples(records, np.asarray(ids, dtype=np.int64))  # noqa: E731
    others = np.arange(members, len(records.y))
    return Materials(take(range(members)), take(others[::2]), take(others[1::2]), prepare, records.classes)
