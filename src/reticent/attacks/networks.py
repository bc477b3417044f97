"""Networks that attacks fit (`fitting`); each says log-odds of membership ``(n,)``. Loaded only where one is fitted."""

from itertools import pairwise
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

HIDDEN = (512, 256, 128)
"""Layers of the network of Yuan and Zhang (2022); the first two are followed by dropout."""
Network = TypeVar("Network", bound=nn.Module)


def mlp(width: int) -> nn.Sequential:
    """Make the network of Yuan and Zhang (2022): width-512-256-128-2, dropout after two layers, Xavier's first weights.

    Its two outputs are said as their difference.
    """
    layers: list[nn.Module] = []
    for before, after in pairwise((width, *HIDDEN)):
        layers += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(0.2)]
    return drawn(nn.Sequential(*layers[:-1], nn.Linear(HIDDEN[-1], 2), LogOdds()))


def one_layer(width: int) -> nn.Sequential:
    """Make the network of Salem et al. (2019): one layer of 64 units."""
    return drawn(nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 2), LogOdds()))


class LogOdds(nn.Module):
    """From two outputs to the second less the first: the log-odds that their softmax gives the second class."""

    def forward(self, said: Tensor) -> Tensor:
        """Return ``(n,)`` of ``(n, 2)``."""
        return said[:, 1] - said[:, 0]


class PerClass(nn.Module):
    """The networks of Shokri et al. (2017), one for each class: one layer of 64 units; a row goes to its label's."""

    def __init__(self, classes: int) -> None:
        """Draw the weights of all classes."""
        super().__init__()
        linear = [[layer for layer in one_layer(classes) if isinstance(layer, nn.Linear)] for _ in range(classes)]
        self.first, self.last = (
            nn.Parameter(torch.stack([layers[place].weight.detach().T for layers in linear])) for place in range(2)
        )
        self.first_bias, self.last_bias = (nn.Parameter(torch.zeros(classes, width)) for width in (64, 2))
        self.log_odds = LogOdds()

    def forward(self, probabilities: Tensor, labels: Tensor) -> Tensor:
        """Return log-odds of probabilities ``(n, C)``, by the network of each row's label ``(n,)``."""
        hidden = torch.bmm(probabilities[:, None], self.first[labels])[:, 0] + self.first_bias[labels]
        said = torch.bmm(functional.relu(hidden)[:, None], self.last[labels])[:, 0] + self.last_bias[labels]
        out: Tensor = self.log_odds(said)
        return out


class SelfAttention(nn.Module):
    """SAMIA's network: a token a class, three layers of a Transformer's encoder; the place of a token is its class."""

    def __init__(self, classes: int) -> None:
        """Draw its weights."""
        super().__init__()
        self.norm = nn.BatchNorm1d(3 * classes)
        self.embed = nn.Sequential(nn.Linear(3, 64), nn.GELU())
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.2, activation="gelu", batch_first=True)
        self.encode = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.Linear(64 * classes, 64), nn.ReLU(), nn.Linear(64, 2), LogOdds())
        drawn(self)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return log-odds of tokens ``(n, C, 3)``."""
        even = self.norm(tokens.flatten(1)).view_as(tokens)
        out: Tensor = self.head(self.encode(self.embed(even)).flatten(1))
        return out


def drawn(network: Network) -> Network:
    """Draw weights by Xavier's normal rule; biases are 0."""
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)
        if isinstance(layer, nn.MultiheadAttention):
            nn.init.xavier_normal_(layer.in_proj_weight)
    return network
