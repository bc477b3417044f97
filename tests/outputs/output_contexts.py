"""What tests of output defenses share: a context around a model that is a function of each record alone."""

import numpy as np
import torch

from reticent.data.records import Records
from reticent.outputs import Context
from reticent.training.data import Preparation


class Asked:
    """A linear model that keeps what it was asked about."""

    def __init__(self, prepare, classes, width):
        self.prepare, self.inputs = prepare, []
        self.weights = torch.randn(classes, width, generator=torch.Generator().manual_seed(3), dtype=torch.float64)

    def __call__(self, x):
        self.inputs.append(x)
        return (self.prepare(x).double().flatten(1)[:, None, :] * self.weights).sum(dim=2)


def context(x, classes=4, *, members=None, reference=None, seed=0):
    """The first half of the records are members, the others reference non-members, if not said otherwise."""
    data = Records.make(x, np.arange(len(x)) % classes)
    prepare, half = Preparation(data, torch.device("cpu")), len(x) // 2
    ids = [np.arange(half) if members is None else members, np.arange(half, len(x)) if reference is None else reference]
    owned, others = (prepare.examples(data, np.asarray(some, dtype=np.int64)) for some in ids)
    model = Asked(prepare, classes, int(np.prod(data.x.shape[1:])))

    def stream(name):
        return torch.Generator().manual_seed(1000 * seed + sum(map(ord, name)))

    return Context(model, classes, prepare, owned, others, stream)
