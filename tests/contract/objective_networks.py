"""Architectures of a user's own, for the contract tests of objectives: one logit for two classes, and tokens."""

from torch import nn


def one_logit(input_shape):
    """A binary head with one logit."""
    return nn.Sequential(nn.Linear(input_shape[0], 16), nn.ReLU(), nn.Linear(16, 1))


def embedded(input_shape, classes, vocabulary):
    """A network that takes token numbers."""
    return nn.Sequential(nn.Embedding(vocabulary, 4), nn.Flatten(), nn.Linear(4 * input_shape[0], classes))
