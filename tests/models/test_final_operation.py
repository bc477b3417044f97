"""Which operation a network ends with, as autograd saw it."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from reticent.models.final_operation import LOGITS, UNKNOWN, ending

X = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))


class Net(nn.Module):
    """A linear layer, an inner softmax as of attention, and any end."""

    def __init__(self, end, outputs=3):
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            self.gate, self.linear, self.attention = nn.Linear(4, 4), nn.Linear(4, outputs), nn.Softmax(dim=1)
        self.last, self.end = nn.Sequential(nn.Dropout(), nn.Sigmoid()), end

    def forward(self, x):
        return self.end(self, self.linear(x * self.attention(self.gate(x))))


@pytest.mark.parametrize(
    ("end", "found"),
    [
        (lambda net, z: z, LOGITS),
        (lambda net, z: z.mul_(2)[:, :2].contiguous(), LOGITS),
        (lambda net, z: z.log_softmax(dim=1), UNKNOWN),
        (lambda net, z: functional.relu(z), UNKNOWN),
        (lambda net, z: z.detach(), UNKNOWN),
        (lambda net, z: {"logits": z}, UNKNOWN),
        (lambda net, z: z.no_such_thing, UNKNOWN),
        (lambda net, z: net.last(z), "its layer 'last.1' (Sigmoid)"),
        (lambda net, z: 100 * net.last(z).squeeze(), "its layer 'last.1' (Sigmoid)"),
        (lambda net, z: torch.sigmoid(z), "the sigmoid at the end of its forward"),
        (lambda net, z: z.softmax(dim=1).half(), "the softmax at the end of its forward"),
        (lambda net, z: torch.cat([1 - z.sigmoid(), z.sigmoid()], dim=1), "the sigmoid at the end of its forward"),
    ],
)
def test_what_a_network_ends_with(end, found):
    net = Net(end)
    before = X.clone()
    assert ending(net, X)[0] == found
    assert net.training
    assert torch.equal(X, before)
    assert not any(module._forward_hooks for module in net.modules())


def test_a_network_that_changes_its_input_and_one_of_64_bits():
    class Changing(nn.Linear):
        def forward(self, x):
            return super().forward(x.add_(1)).sigmoid()

    with torch.random.fork_rng(devices=[]):
        net = Changing(4, 2)
    before = X.clone()
    assert ending(net.double(), X)[0] == "the sigmoid at the end of its forward"
    assert torch.equal(X, before)
