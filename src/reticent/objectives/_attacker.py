"""The attack network of Nasr et al. (2018): from what a model says of a record, and its label, to a membership score.

Three layers for the answer (C, 1024, 512, 64), two for the label (C, 128, 64), five for both together (128, 512, 256,
128, 64, 1), ReLU between them. Weights are drawn from N(0, 0.01 squared) and biases are 0, as released, so that it says
0.5 of everybody at first and learns slowly: few steps of training read as "private".

Papers: Nasr, Shokri and Houmansadr (2018), CCS, section 5; Tang et al. (2022), USENIX Security, train the same network
with the squared error.
"""

from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

Fit = Literal["mse", "bce"]
"""What an attack network minimises: the squared error of the member bit, or the binary cross-entropy."""

ANSWER, LABEL, BOTH = (1024, 512, 64), (128, 64), (128, 512, 256, 128, 64, 1)
DEVIATION = 0.01


class Attacker(nn.Module):
    """The network; its ``forward`` answers the log-odds that a record is a member."""

    def __init__(self, classes: int, generator: torch.Generator) -> None:
        """Draw the network's weights from a generator, on the CPU; no global generator moves."""
        super().__init__()
        self.classes = classes
        self.answer, self.label = _chain((classes, *ANSWER), generator), _chain((classes, *LABEL), generator)
        self.both = _chain(BOTH, generator)

    def forward(self, probabilities: Tensor, labels: Tensor) -> Tensor:
        """Score records.

        Args:
            probabilities: what the audited model says, ``(B, C)``; gradients flow into them.
            labels: ``int64 (B,)``.

        Returns:
            Log-odds ``(B,)``; higher means member. Their sigmoid is the paper's h.
        """
        onehot = functional.one_hot(labels, self.classes).to(probabilities.dtype)
        inner = torch.cat([_through(self.answer, probabilities), _through(self.label, onehot)], dim=1)
        *hidden, last = self.both
        out: Tensor = last(_through(hidden, inner))
        return out.squeeze(1)


def fit_loss(scores: Tensor, member: Tensor, fit: Fit) -> Tensor:
    """Compute what an attack network minimises.

    Args:
        scores: its log-odds ``(B,)``.
        member: 1.0 for members and 0.0 for others, ``(B,)``.
        fit: which loss.

    Returns:
        A scalar, the mean over records.
    """
    if fit == "mse":
        return functional.mse_loss(scores.sigmoid(), member)
    return functional.binary_cross_entropy_with_logits(scores, member)


def _chain(widths: tuple[int, ...], generator: torch.Generator) -> nn.ModuleList:
    layers = nn.ModuleList()
    for before, after in pairwise(widths):
        layer = nn.utils.skip_init(nn.Linear, before, after)  # type: ignore[no-untyped-call]
        with torch.no_grad():
            layer.weight.normal_(0.0, DEVIATION, generator=generator)
            layer.bias.zero_()
        layers.append(layer)
    return layers


def _through(layers: nn.ModuleList | list[nn.Module], x: Tensor) -> Tensor:
    for layer in layers:
        x = functional.relu(layer(x))
    return x
