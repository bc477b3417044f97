"""Networks of a user's own on which PPTP is tried."""

import torch
from torch import nn


class Fixed(nn.Module):
    """Wide random features that never learn, so that all trainings share them, and two layers on them."""

    def __init__(self, inputs, classes):
        super().__init__()
        self.early, self.late, self.out = nn.Linear(inputs, 128), nn.Linear(128, classes), nn.Linear(classes, classes)

    def forward(self, x):
        with torch.no_grad():
            x = self.early(x)
        return self.out(self.late(x.relu()))


def fixed(input_shape, classes):
    return Fixed(input_shape[0], classes)


class Tied(nn.Module):
    """A first stage of two layers that are one tensor, and statistics in a module that has no parameters."""

    def __init__(self, inputs, classes):
        super().__init__()
        self.one, self.two = nn.Linear(inputs, inputs), nn.Linear(inputs, inputs)
        self.two.weight = self.one.weight
        self.norm, self.out = nn.BatchNorm1d(inputs, affine=False), nn.Linear(inputs, classes)

    def forward(self, x):
        return self.out(self.norm(self.two(self.one(x).relu())))


def tied(input_shape, classes):
    return Tied(input_shape[0], classes)
