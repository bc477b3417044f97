"""Networks of a user's own: some that can be stacked, and some that cannot."""

import numpy as np
import torch
from torch import nn


class Adding(nn.Module):
    def __init__(self, draw):
        super().__init__()
        self.draw = draw

    def forward(self, x):
        return x + self.draw(x)


def _network(width, classes, part):
    return nn.Sequential(nn.Linear(width, 12), part, nn.ReLU(), nn.Linear(12, classes))


def normed(input_shape, classes):
    return _network(input_shape[0], classes, nn.BatchNorm1d(12))


def normed_by_the_batch(input_shape, classes):
    return _network(input_shape[0], classes, nn.BatchNorm1d(12, track_running_stats=False))


def torch_noise(input_shape, classes):
    return _network(input_shape[0], classes, Adding(torch.randn_like))


def numpy_noise(input_shape, classes):
    return _network(input_shape[0], classes, Adding(lambda x: float(np.random.normal())))  # noqa: NPY002


def branching(input_shape, classes):
    return _network(input_shape[0], classes, Adding(lambda x: 1.0 if x.sum() > 0 else 0.0))


def hooked(input_shape, classes):
    network = _network(input_shape[0], classes, nn.Identity())
    network[0].register_forward_hook(lambda layer, given, answer: 0.1 * answer)
    return network


def masked(input_shape, classes):
    network = _network(input_shape[0], classes, nn.Identity())
    network[0].weight.register_hook(torch.zeros_like)
    return network


class Noting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(12))

    def forward(self, x):
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(dim=0)
        return x - self.mean


def noting(input_shape, classes):
    return _network(input_shape[0], classes, Noting())


class Raising(nn.Module):
    left = 0

    def forward(self, x):
        type(self).left -= 1
        if self.left == 0:
            raise RuntimeError("no more")
        return x


def raising(input_shape, classes):
    return _network(input_shape[0], classes, Raising())
