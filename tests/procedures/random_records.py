"""Records whose labels have nothing to do with them: whoever gets them right has seen them."""

import numpy as np

from reticent.data.records import Records


def noise(n=40, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    return Records.make(rng.normal(size=(n, 6)).astype(np.float32), np.arange(n) % classes)


def images(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return Records.make(rng.integers(0, 256, (n, 8, 8, 3), dtype=np.uint8), np.arange(n) % 2)
