"""MemGuard's surrogate: the attack classifier that the defender trains for itself, and its gradient in closed form."""

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from reticent.training.optim import Adam

RATE = 1e-2
"""Learning rate of the surrogate's training."""


class Surrogate:
    """A network from sorted probabilities to the log-odds of membership, in float64.

    Attributes:
        weights: of each layer, ``(inputs, outputs)``; the last one has one output.
        biases: of each layer, ``(outputs,)``.
    """

    def __init__(self, weights: list[Tensor], biases: list[Tensor]) -> None:
        self.weights, self.biases = weights, biases

    @classmethod
    def drawn(cls, sizes: list[int], generator: torch.Generator, device: torch.device) -> "Surrogate":
        """Draw a network with He's uniform initialisation and no biases."""
        weights = []
        for rows, columns in pairwise(sizes):
            bound = (6 / rows) ** 0.5
            drawn = torch.rand(rows, columns, generator=generator, dtype=torch.float64)
            weights.append(((2 * drawn - 1) * bound).to(device))
        return cls(weights, [torch.zeros(columns, dtype=torch.float64, device=device) for columns in sizes[1:]])

    def __call__(self, x: Tensor) -> Tensor:
        """Compute log-odds; gradients flow."""
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = torch.addmm(bias, x, weight).relu()
        return (x * self.weights[-1][:, 0]).sum(dim=1) + self.biases[-1]

    def with_gradient(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Compute log-odds and what they change by with the input.

        Args:
            x: probabilities in descending order ``(B, C)``.

        Returns:
            ``(B,)`` and ``(B, C)``.
        """
        layers = []
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = torch.addmm(bias, x, weight).relu_()
            layers.append(x)
        last = self.weights[-1][:, 0]
        odds = (x * last).sum(dim=1) + self.biases[-1]
        gradient = last.expand(len(x), -1)
        for weight, layer in zip(reversed(self.weights[:-1]), reversed(layers), strict=True):
            gradient = torch.ops.aten.threshold_backward(gradient, layer, 0) @ weight.T
        return odds, gradient


@torch.enable_grad()
def trained(members: Tensor, others: Tensor, widths: tuple[int, ...], steps: int, draw: torch.Generator) -> Surrogate:
    """Train the surrogate to tell a model's members from reference non-members, both kinds weighing the same.

    Cost: O(steps (n + m) parameters).
    """
    start = Surrogate.drawn([members.shape[1], *widths, 1], draw, members.device)
    weights, biases = ([nn.Parameter(tensor) for tensor in part] for part in (start.weights, start.biases))
    network = Surrogate([*weights], [*biases])
    optimizer = Adam([*weights, *biases], RATE)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = functional.softplus(-network(members)).mean() + functional.softplus(network(others)).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return Surrogate([weight.detach() for weight in weights], [bias.detach() for bias in biases])
